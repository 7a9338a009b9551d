"""The worked example of the page, from its listing to its cycles (docs/schemes/shrf.md, section 9)."""

from __future__ import annotations

from tests.compiler.generated import graph
from tests.golden.rf.shrf.scenario import hint, one_warp, relative, shrf_config
from tests.golden.scenario import Run, op
from warpfile.compiler.passes.shrf.annotate import shown
from warpfile.spec.trace import Port

CFG = shrf_config(bank_skew="none")
LISTING = "FADD R1, R8, R9\nFADD R2, R1, R10\nFADD R3, R2, R8\nFADD R4, R3, R2"
PROGRAM = [op(sources, dest, port=Port.FMA) for sources, dest in (((8, 9), 1), ((1, 10), 2), ((2, 8), 3), ((3, 2), 4))]
HINTS = {
    0: hint(CFG, {0: 2}, bring=0b001, result=4, skipped=True, begins=True),
    1: hint(CFG, {0: 4}, result=1, skipped=True),
    2: hint(CFG, {0: 1, 1: 2}, result=4, skipped=True),
    3: hint(CFG, {0: 4, 1: 1}),
}


def example() -> Run:
    return one_warp(CFG, PROGRAM, HINTS)


def test_the_pass_finds_the_levels() -> None:
    assert shown(graph(LISTING).function, CFG) == {
        0x00: (1, (2, 0), (0,), 4, 1),
        0x10: (0, (4, 0), (), 1, 1),
        0x20: (0, (1, 2), (), 4, 1),
        0x30: (0, (4, 1), (), 0, 0),
    }


def test_cycles() -> None:
    result = example()
    issues = [cycle - result.issues()[0][0] for cycle, _ in result.issues()]
    assert issues[:4] == [0, 8, 16, 23]
    assert [cycle for cycle, _ in relative(result, "dispatch")] == [3, 11, 18, 25]
    assert [cycle for cycle, _ in relative(result, "grant")] == [1, 9]
    assert relative(result, "bring") == [(2, 1 << 1)]
    assert relative(result, "near_read") == [(9, 1), (17, 1), (24, 1)]
    assert relative(result, "lrf_read") == [(9, 0b001), (24, 0b001)]
    assert relative(result, "orf_read") == [(17, 0b011), (24, 0b010)]
    assert [cycle for cycle, _ in relative(result, "lrf_write")] == [7, 22]
    assert [cycle for cycle, _ in relative(result, "orf_write")] == [15]
    assert [cycle for cycle, _ in relative(result, "bank_write")] == [29]


def test_entries_that_beats_will_use() -> None:
    result = example()
    to_be_written = dict(relative(result, "to_be_written"))
    assert to_be_written[1] == to_be_written[2] == 1 << 1 | 1 << 3
    assert to_be_written[3] == to_be_written[7] == 1 << 3
    assert to_be_written[9] == to_be_written[15] == 1 << 0


def test_counters() -> None:
    counters = example().model.counters
    names = ("bank_reads", "bank_writes", "orf_reads", "lrf_reads", "orf_writes", "lrf_writes", "brings")
    assert [counters[name] for name in names] == [3, 1, 3, 2, 1, 2, 1]
