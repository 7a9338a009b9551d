"""Without entries the machine is the baseline's under the same scheduler, in every cycle."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.golden.machines import Baseline, layout_of
from tests.golden.rf.shrf.scenario import run_shrf
from tests.golden.scenario import run
from warpfile.schemes import find
from warpfile.spec.config import Config
from warpfile.spec.stress import PROFILES, stress_trace


def pair(rng: random.Random, scheduler: str) -> tuple[Config, Config]:
    """The same machine as ``shrf`` without entries, and as the baseline."""
    changes: dict[str, Any] = {
        "suspend": rng.choice(("strands", "pending")),
        "suspend_load": rng.choice(("always", "needed")),
        "active_warps": rng.choice((1, 2, 3)),
        "starved_after": rng.choice((3, 32)),
        "resume": "all",
        "bank_cycles": rng.choice((1, 2, 3)),
        "bank_ports": rng.choice(("1RW", "1R1W")),
        "collect": rng.choice(("lowest", "one", "all")),
        "retake": rng.choice(("next", "same")),
        "collectors": rng.choice((1, 2, 4)),
    }
    changes |= {"scheduler": scheduler}
    off = find("shrf").configuration("tiny", orf_entries=0, lrf="none", **changes)
    return off, find("baseline").configuration("tiny", **changes)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("seed", "scheduler"), [*enumerate(["two_level"] * 4), (0, "gto"), (1, "cggty")])
def test_off_is_the_baseline(profile: str, seed: int, scheduler: str) -> None:
    off, baseline = pair(random.Random(f"{profile} {seed}"), scheduler)
    trace = stress_trace(seed, profile=profile, length=60, registers=16)
    assert layout_of("shrf", off).offset == layout_of("baseline", baseline).offset
    ours, theirs = run_shrf(off, trace), run(baseline, trace)
    assert ours.fields == theirs.fields
    assert ours.model.counters == theirs.model.counters


def test_entries_make_a_difference() -> None:
    _, baseline = pair(random.Random(0), "two_level")
    trace = stress_trace(0, profile="mixed", length=60, registers=16)
    cfg = find("shrf").configuration("tiny")
    on = run_shrf(cfg, find("shrf").annotated(cfg, trace))
    assert on.cycles != run(baseline, trace, Baseline).cycles
