"""Parts on the command line: names, options, what stands beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.warpfile.conftest import Invoke
from warpfile.results.designs import designs
from warpfile.schemes import SCHEMES


def schemes(invoke: Invoke, *arguments: object) -> dict[str, Any]:
    """Facts by scheme of a command that must succeed."""
    result = invoke(*arguments, "--json", "facts.json")
    assert (result.exit_code, result.stderr) == (0, ""), result.stderr
    found: dict[str, Any] = json.loads(Path("facts.json").read_text())["schemes"]
    return found


def test_a_name_and_the_options_mean_the_same(invoke: Invoke, kernel: Path) -> None:
    named = schemes(invoke, "run", "bow_wr+two_level", kernel)
    asked = schemes(invoke, "run", "bow_wr", kernel, "--scheduler", "two_level")
    for found in (named, asked):
        assert list(found) == ["bow_wr+two_level"]
        found["bow_wr+two_level"].pop("seconds")
    assert named == asked
    assert "activations" in named["bow_wr+two_level"]["counters"]


def test_options_go_for_every_scheme(invoke: Invoke, kernel: Path) -> None:
    names = [name for name in SCHEMES if name != "modern"]
    found = schemes(invoke, "run", *names, kernel, "--scheduler", "two_level")
    assert list(found) == [f"{name}+two_level" for name in names]


def test_a_trace_holds_the_hints_of_a_combination(invoke: Invoke, kernel: Path) -> None:
    result = invoke("trace", kernel, "--scheme", "bow_wr+two_level", "-o", "t.npz")
    assert result.exit_code == 0, result.stderr
    assert schemes(invoke, "run", "bow_wr+two_level", "t.npz")


def test_the_baseline_beside_a_combination_has_its_scheduler() -> None:
    (design,) = designs(["bow"], None, (), ("two_level",))
    assert (design.baseline.scheme.name, design.baseline.preset) == ("baseline+two_level", "pascal")
    (design,) = designs(["baseline+rfc"], None, ())
    assert design.baseline.scheme.name == "baseline"
    (design,) = designs(["larf+las"], None, ())  # las asks the register file, which the baseline's does not answer
    assert design.baseline.scheme.name == "baseline"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ("bow+rfc",),
            "bow+rfc: parts must fit: bow wants places in the cycle of the offer or registers that are where a renaming"
            " table says, which rfc does not offer",
        ),
        (("bow", "--rf", "rfc"), "bow wants places in the cycle of the offer"),
        (
            ("bow", "--rf", "two_level"),
            "--rf must be one of banked, rfc, pilot, regmutex, ltrf, packed, ported, shared, shrf, owf, scalar, not"
            " 'two_level'",
        ),
        (
            ("modern+banked",),
            "read_window wants banks whose reads are planned ahead, which cggty and banked do not offer",
        ),
        (("baseline+ported",), "ported wants collectors that plan every read ahead, which units does not offer"),
        (("rfc+cggty",), "rfc wants a scheduler with places, which cggty and units do not offer"),
        (
            ("malekeh+cggty",),
            "malekeh wants a scheduler that takes preferred warps in the order of their age or of their places, which"
            " cggty and banked do not offer",
        ),
        (("modern", "--scheduler", "two_level"), "scheduler must be one without places, not two_level: there is no"),
        (("bow+gto", "--scheduler", "lrr"), "bow: scheduler must be one part, not gto and lrr"),
        (("bow+none",), "a part must be one of"),
        (("none+bow",), "SCHEME must be one of"),
    ],
)
def test_what_does_not_fit_is_one_line(invoke: Invoke, kernel: Path, arguments: tuple[str, ...], why: str) -> None:
    names = arguments[:1]
    result = invoke("run", *names, kernel, *arguments[1:], "--json", "facts.json")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert why in result.stderr and not Path("facts.json").exists()
