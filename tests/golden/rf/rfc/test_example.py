"""The worked example: seven instructions of one warp on a cache of two lines.

R1 = imm, R2 = R1 + imm, R3 = R1 + R2 (both dead), R4 = R3 + imm, R5 = R4 + R9, R6 = LDG [R5 (dead)], and behind the
suspension R7 = R6 + R4.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.rf.rfc.scenario import hint, hinted, lines, rfc_config, run_rfc
from tests.golden.scenario import Run, hand_trace, op
from warpfile.spec.trace import Access, Port, Space

LOAD = op((5,), 6, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4)
PROGRAM = [op((), 1), op((1,), 2), op((1, 2), 3), op((3,), 4), op((4, 9), 5), LOAD, op((6, 4), 7)]
HINTS = [hint(), hint(), hint(dead=0b11), hint(), hint(), hint(dead=0b1), hint(suspend=True), hint()]


def example(**changes: Any) -> Run:
    return run_rfc(CFG.replace(**changes), hinted(hand_trace(PROGRAM), HINTS))  # type: ignore[arg-type]


CFG = rfc_config(active_warps=1, cache_entries=2)


def test_reads() -> None:
    result = example()
    counters = result.model.counters
    assert (counters["cache_hits"], counters["cache_misses"], counters["bank_reads"]) == (6, 3, 3)
    assert [hits.bit_count() for _, hits in result.events("hit")] == [1, 2, 1, 1, 1]
    assert [misses.bit_count() for _, misses in result.events("miss")] == [1, 2]


def test_writes() -> None:
    result = example()
    counters = result.model.counters
    assert (counters["evictions"], counters["flushes"], counters["long_results"]) == (1, 1, 1)
    assert counters["bank_writes"] == 3
    assert (counters["evictions_dead"], counters["flushes_dead"]) == (2, 1)
    # The EXIT drops R7.
    assert (counters["cache_writes"], counters["cache_write_hits"], counters["drops"]) == (6, 0, 1)


def test_lines_and_head() -> None:
    result = example()
    seen = []
    for f in result.fields:
        state = (lines(CFG, f), f["head"])
        if not seen or seen[-1] != state:
            seen.append(state)
    assert seen == [
        ({}, 0),
        ({0: 1}, 0),
        ({0: 1, 1: 2}, 0),
        ({0: 3, 1: 2}, 1),
        ({0: 3, 1: 4}, 0),
        ({0: 5, 1: 4}, 1),
        ({}, 1),  # R5 is dropped and R4 sent in the same cycle
        ({}, 0),
        ({0: 7}, 0),
    ]


def test_dead_bits_that_are_ignored() -> None:
    counters = example(dead_bits="ignored").model.counters
    assert (counters["evictions"], counters["flushes"], counters["bank_writes"]) == (3, 2, 6)
    assert (counters["evictions_dead"], counters["flushes_dead"], counters["cache_hits"]) == (0, 0, 6)


@pytest.mark.parametrize("suspend", ["pending", "always"])
def test_the_load_is_waited_for_without_a_place(suspend: str) -> None:
    result = example(suspend=suspend)
    assert result.model.counters["suspends_long"] == 1
    sent = result.when("flush")[0]
    assert result.when("flush_dead") == [sent]
    assert result.events("released") == [(sent + 1, 1)]
    # 400 cycles behind its dispatch the load's result goes to its queue, and the warp is ready in the next.
    assert result.when("long") == [result.when("dispatch")[5] + 400]
    assert result.when("activate")[1] == result.when("long")[0] + 1
