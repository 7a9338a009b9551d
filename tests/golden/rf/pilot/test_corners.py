"""The random machines meet every corner case of the partitioned file; some rare ones have programs of their own."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.golden.rf.pilot.corners import CORNERS, count_corners
from tests.golden.rf.pilot.scenario import listed, pilot_config, run_pilot
from tests.golden.rf.pilot.test_example import WAITS, launched_around_the_end
from tests.golden.rf.pilot.test_random import coming_and_going, moving, random_case
from tests.golden.scenario import NOP, Step, hand_trace, op

SHORT: dict[str, Any] = {"fast_registers": 8, "register_names": 16}
#: Warps, hot list and configuration of the ``tiny`` preset for a corner case.
RARE: dict[str, tuple[list[list[Step]], tuple[int, ...], dict[str, Any]]] = {
    "the slow part limits the warps": ([[op((31,))]], (30,), {"rows": 32, "banks": 4, "warps": 8}),
    "the pilot has missed the last register alone": ([[op((0, 3), 1)], [op((5,))] * 40], (5, 0), {}),
    "the run ends in REMAP": ([[NOP], [op((3,), 3)]], (3,), SHORT | {"pilot_map": "always"}),
}


@pytest.mark.parametrize("name", RARE)
def test_a_rare_case_is_met(name: str) -> None:
    warps, hot, changes = RARE[name]
    cfg = pilot_config("tiny", **changes)
    assert count_corners(cfg, listed(cfg, hand_trace(*warps), hot))[name]


@pytest.mark.check
def test_every_other_corner_case_is_met() -> None:
    total: Counter[str] = Counter()
    for seed in range(12):
        total += count_corners(*random_case(seed))
        total += count_corners(*coming_and_going(seed))
    for seed in (*range(12), 19):  # of those below 40, one finds a read while DRAIN waits for nothing else
        total += count_corners(*moving(seed))
    for wait in WAITS:
        cfg, trace = launched_around_the_end(wait)
        total += count_corners(cfg, trace) + count_corners(cfg.replace(remap="migrate"), trace)
    for name in CORNERS:
        print(f"{total[name]:6} {name}")
    assert not [name for name in CORNERS if name not in RARE and not total[name]]


def test_corner_cases_that_a_run_does_not_have_are_not_counted() -> None:
    cfg = pilot_config(profile="none", epoch_threshold=0)
    assert count_corners(cfg, hand_trace([op((3,), 4), NOP, op((2,), 5)])) == {}


def test_the_last_register_swaps_with_the_first() -> None:
    """63 registers, of which R62 is hot; the marker takes the other places."""
    cfg = pilot_config()
    result = run_pilot(cfg, listed(cfg, hand_trace([op((62, 0), 62), op((62,), 0), op((0, 62))]), (62,)))
    assert result.model.file.homes.tables[0].pairs == [(0, 62)]  # type: ignore[attr-defined]
    assert result.model.operands_checked == 3  # unwritten registers are not checked
    counters = result.model.counters
    assert (counters["table_lookups"], counters["table_hits"]) == (7, 7)
    fast = sum(counters[f"fast_{kind}_{mode}"] for kind in ("reads", "writes") for mode in ("high", "low"))
    assert (fast, counters["slow_reads"], counters["slow_writes"]) == (4, 2, 1)
