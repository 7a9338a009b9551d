"""The random machines meet every corner case of the caching units."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.golden.collectors.malekeh.corners import CORNERS, count_corners
from tests.golden.collectors.malekeh.cycles import cycles_of
from tests.golden.collectors.malekeh.scenario import NEAR, hinted, malekeh_config, malekeh_layout
from tests.golden.collectors.malekeh.test_random import meeting_case, random_case
from tests.golden.machines import Malekeh
from tests.golden.scenario import hand_trace, op
from warpfile.spec.environment import Environment
from warpfile.spec.trace import Port
from warpfile.spec.workload import prepare


def corners(cfg, trace) -> Counter[str]:  # type: ignore[no-untyped-def]
    layout = malekeh_layout(cfg)
    return count_corners(cycles_of(Malekeh(cfg, layout), Environment(cfg, prepare(cfg, trace), layout), layout))


@pytest.mark.check
def test_every_corner_case_is_met() -> None:
    total: Counter[str] = Counter()
    for seed in range(60):
        total += corners(*random_case(seed)) if seed < 30 else Counter()
        total += corners(*meeting_case(seed))
    for name in CORNERS:
        print(f"{total[name]:6} {name}")
    assert not [name for name in CORNERS if not total[name]]


def test_corner_cases_that_a_run_does_not_have_are_not_counted() -> None:
    # One warp, one unit, nothing near, never two results at once.
    cfg = malekeh_config(collectors=1, wait_control="fixed", interval=1000)
    found = corners(cfg, hinted(hand_trace([op((2,), 4), op((4,), 6)]), [0, 0, 0]))
    # The result of the second beat comes three cycles after its dispatch, and the EXIT waits for it.
    assert {name: count for name, count in found.items() if count} == {"an EXIT waits for a result": 3}


def test_a_warp_that_lost_near_registers_is_counted() -> None:
    cfg = malekeh_config(collectors=1, wait_control="fixed", sfu_latency=60)
    trace = hand_trace([op((2,), 8, port=Port.SFU), op((8, 2), 9)], [op((2,), 8)], ctas=[0, 1])
    found = corners(cfg, hinted(trace, [NEAR, 0, 0, 0, 0]))
    assert found["near registers are taken away with threshold 0"] == 1
    assert found["an offer waits with threshold 0"] == 1
    assert found["a result comes after its warp lost its unit"] == 1
    assert found["a warp gets a unit again and misses what it had"] == 1
