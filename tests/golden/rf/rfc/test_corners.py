"""The random machines meet every corner case of the register cache; three rare ones have programs of their own."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.golden.rf.rfc.corners import CORNERS, count_corners
from tests.golden.rf.rfc.scenario import hint, hinted, rfc_config
from tests.golden.rf.rfc.test_random import crowded_case, random_case
from tests.golden.scenario import NOP, Step, hand_trace, op
from warpfile.spec.schemes.rfc import RfcConfig
from warpfile.spec.trace import Access, Port, Space

SOME = 0x0000FFFF
LOAD = op((), 4, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4)

#: Program, hints by number of the instruction, and configuration for a corner case.
RARE: dict[str, tuple[list[Step], dict[int, int], dict[str, Any]]] = {
    "a victim waits for a read port": (
        [op((), 4), op((), 5), op((), 6), op((), 7), NOP, NOP, op((), 9), op((5, 6, 7)), *[NOP] * 6],
        {},
        {"cache_entries": 4},
    ),
    "a load comes for the line that a victim has just left": (
        [op((), 4), op((4,)), *[NOP] * 4, LOAD, op((), 5, port=Port.SFU), op((4,), 6), op((5,), 7)],
        {1: hint(dead=1)},
        {"cache_entries": 1, "hit_latency": 5},
    ),
    # R5 drives R4 out, whose queue moves on every eighth cycle only.
    "some lanes are queued behind the rest of their register": (
        [op((), 8), op((), 4), op((), 5), (op((), 4), SOME), op((4,), 6)],
        {},
        {"cache_entries": 1, "banks": 1, "bank_cycles": 8},
    ),
}


def rare_case(name: str) -> tuple[RfcConfig, Any]:
    program, hints, changes = RARE[name]
    cfg = rfc_config(warps=4, active_warps=2, alu_latency=4, sfu_latency=4, bank_skew="none").replace(**changes)
    assert isinstance(cfg, RfcConfig)
    return cfg, hinted(hand_trace(program), [hints.get(number, 0) for number in range(len(program) + 1)])


@pytest.mark.parametrize("name", RARE)
def test_a_rare_case_is_met(name: str) -> None:
    assert count_corners(*rare_case(name))[name]


@pytest.mark.check
def test_every_other_corner_case_is_met() -> None:
    total: Counter[str] = Counter()
    for seed in range(20):
        total += count_corners(*random_case(seed))
        total += count_corners(*crowded_case(seed))
    for name in CORNERS:
        print(f"{total[name]:6} {name}")
    assert not [name for name in CORNERS if name not in RARE and not total[name]]


def test_corner_cases_that_a_run_does_not_have_are_not_counted() -> None:
    trace = hinted(hand_trace([op((), 4), op((4, 2), 5), op((3,), 6)]), [hint()] * 4)
    assert count_corners(rfc_config(), trace) == {"a warp that ends drops its lines": 1}
