"""Text of a page from data that are made up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from warpfile.pages.evidence import rendering
from warpfile.pages.evidence.metrics import KINDS


def claim(kind: str, by_kernel: Mapping[str, float]) -> dict[str, Any]:
    """A claim of one step."""
    step = {"factor": "", "assumed": "", "mean": 0.25, "half": 0.0, "kernels": None, "moved": None}
    machines = ["one", "other"]
    return {
        **{"key": "gain", "where": "Fig. 1", "metric": "IPC", "kind": kind, "machines": machines, "paper": [0.1, 0.1]},
        **{"verdict": "undecided", "about": "", "steps": [{**step, "by_kernel": dict(by_kernel)}]},
    }


def page(*claims: Mapping[str, Any]) -> str:
    data = {"scheme": "made_up", "machine": 99, "runs": 1, "seconds": 1, "seeds": [0], "claims": claims}
    return rendering.page(data, "a paper", ())


#: Two kernels of every suite: of the first suite 1 and 4, of the others 0.
VALUES = {kernel: 0.0 for kernels in KINDS.values() for kernel in kernels[:2]} | dict(
    zip(next(iter(KINDS.values()))[:2], (1.0, 4.0), strict=True)
)


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        ("share", "250.0% | 0.0% | 0.0% | 0.0% | 25.0% | 250.0"),
        ("growth", "+250.0% | +0.0% | +0.0% | +0.0% | +25.0% | 250.0"),
        ("geometric growth", "+216.2% | +0.0% | +0.0% | +0.0% | +25.0% | 216.2"),  # the root of 2 x 5
    ],
)
def test_suites_have_the_mean_of_their_kernels(kind: str, cells: str) -> None:
    assert f"| `gain` | {cells} |" in page(claim(kind, VALUES))


def test_a_claim_without_kernels_of_some_suite_is_not_in_that_table() -> None:
    """Nor is there a table without claims."""
    one = claim("share", {kernel: 0.5 for kernels in list(KINDS.values())[1:] for kernel in kernels})
    assert "## Suite by suite" not in page(one)
    assert page(claim("share", VALUES), one).count("| `gain` | 250.0% |") == 1
