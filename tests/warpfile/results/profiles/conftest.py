"""Profiles as tests ask for them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from warpfile.output.display import silent
from warpfile.results.designs import designs
from warpfile.results.profiles import Profile, profiled
from warpfile.results.profiles.in_flight import Listener
from warpfile.workloads.inputs import obtain_trace


def profile_of(
    scheme: str, kernel: object, *changes: str, preset: str | None = "tiny", listeners: Sequence[Listener] = ()
) -> Profile:
    """Of one lane, unless a change says something else."""
    (design,) = designs([scheme], preset, ("lanes=1", *changes))
    return profiled(design, obtain_trace(str(kernel), "launch", None, silent), silent, listeners)


@pytest.fixture
def sort() -> Profile:
    """The baseline sorts."""
    return profile_of("baseline", "bitonic_sort")
