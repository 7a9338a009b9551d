"""Widths of the values of a trace, by lane and in plain Python."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from tests.golden.rf.packed.reading import bytes_of
from tests.golden.rf.packed.scenario import get, put, valued
from tests.golden.scenario import op
from warpfile.pages.evidence.widths import Pairs, bytes_needed, pairs_of, values_of

FULL = 0xFFFFFFFF


def test_a_row_needs_what_its_widest_written_lane_needs() -> None:
    rng = random.Random(2)
    rows = [[rng.choice((1, -1)) * rng.getrandbits(rng.randrange(1, 32)) & FULL for _ in range(32)] for _ in range(400)]
    masks = [rng.choice((FULL, rng.getrandbits(32), 1 << rng.randrange(32))) for _ in rows]
    found = bytes_needed(np.array(rows, dtype=np.uint32), np.array(masks, dtype=np.uint32)).tolist()
    words = [sum(value << 32 * lane for lane, value in enumerate(row)) for row in rows]
    assert found == [bytes_of(word, mask, 32) for word, mask in zip(words, masks, strict=True)]
    assert set(found) == {1, 2, 3, 4}


def test_two_sources_are_coalescable_if_they_fit_into_a_row_when_they_are_read() -> None:
    program = [
        put(1, 5), put(2, 0x123456), get(1, 2),  # 1 + 3
        put(1, 0x1234), get(1, 2),  # 2 + 3
        put(3, 7), get(1, 2, 3),  # 2 + 1 of three
        get(3, 3), get(1, 4),  # one register; one without a write
        put(4, 9, mask=0b10), (op((4, 2)), 0, 0), get(4, 2),  # no reader; 1 + 3
    ]  # fmt: skip
    found = values_of(valued(program))
    assert (found.executed, found.wide, found.reads, found.wide_reads, found.coalescable) == (12, 5, 12, 11, 3)


def test_a_register_of_a_pair_is_allocated_with_its_first_value_and_when_it_grows() -> None:
    program = [
        put(1, 5), put(2, 7), put(3, 9), get(1, 2),  # first values: of 2 and its partner, 1 + 1
        put(1, 0x12345678), put(1, 6),  # it grows, 4 + 1; it shrinks
        put(2, 0x1234), put(2, 0x1234),  # 1 + 2
        put(2, 0x123456, mask=0b10), put(2, 1, mask=0b10),  # 1 + 3; other lanes keep the wider value
    ]  # fmt: skip
    assert pairs_of(valued(program)) == Pairs(allocations=4, fitting=3)


def test_instructions_with_floats_are_known_by_their_names() -> None:
    trace = valued([put(1, 5), get(1), get(1), get(1)])
    floats = {"FFMA.FTZ", "MUFU.RCP", "HADD2"}
    for names in (("IADD3", "FFMA.FTZ", "MUFU.RCP", "HADD2"), ("FLO.U32", "F2I", "DEPBAR", "HSETP")):
        program = tuple(
            replace(static, opcode=name) for static, name in zip(trace.program, (*names, "EXIT"), strict=True)
        )
        of = [program[index].opcode in floats for index in trace.instruction.tolist()]
        assert values_of(replace(trace, program=program)).floats == sum(of) / len(of)
