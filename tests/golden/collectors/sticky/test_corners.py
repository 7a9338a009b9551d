"""The random machines and the stress traces meet every corner case."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.golden.collectors.sticky.corners import CORNERS, CountingWatcher
from tests.golden.collectors.sticky.scenario import make
from tests.golden.collectors.sticky.test_random import random_case
from tests.golden.machines import Sticky, layout_of
from tests.golden.scenario import hand_trace, op
from tests.golden.watching import watched
from warpfile.pages.regress import STRESS
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.sticky import StickyConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

RARE = {"a result is late for one source and another one awaits", "both registers of a wide result are awaited"}
BOTH = {"forward_results": "fixed", "keep_operands": "slot"}


def corners(cfg: StickyConfig, trace: Trace) -> Counter[str]:
    """How often a run meets each corner case."""
    layout, workload = layout_of(f"sticky+{cfg.scheduler}", cfg), prepare(cfg, trace)
    watcher = CountingWatcher(cfg, workload)
    for _ in watched(Sticky(cfg, layout), Environment(cfg, workload, layout), layout, watcher, 60_000):
        pass
    return watcher.met


def test_random_machines_meet_every_corner_case() -> None:
    total: Counter[str] = Counter()
    for seed in range(60):
        total += corners(*random_case(seed, **BOTH))
    for name in CORNERS:
        print(f"{total[name]:6} {name}")
    assert not [name for name in CORNERS if not total[name]]


@pytest.mark.check
def test_stress_traces_of_the_regression_meet_all_but_the_rarest() -> None:
    """What they do not meet here is met by the random machines above."""
    cfg = make(retake="same", collect="all", ports=6, source_slots=5)
    total: Counter[str] = Counter()
    for profile in PROFILES:
        total += corners(cfg, stress_trace(0, profile=profile, **STRESS))  # type: ignore[arg-type]
    for name in CORNERS:
        print(f"{total[name]:6} {name}")
    assert {name for name in CORNERS if not total[name]} <= RARE


def test_corner_cases_that_a_run_does_not_have_are_not_counted() -> None:
    """Both sources of the second beat are those of the first, in their slots."""
    found = corners(make(collectors=1, collect="all"), hand_trace([op((2, 3), 4), op((2, 3), 6)]))
    assert {name for name, count in found.items() if count} == {
        "all sources of a beat hit",
        "nobody awaits a result that is coming",
        "a warp exits that has something kept",
    }
