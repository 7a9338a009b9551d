"""Hints of instructions become hints of beats."""

from __future__ import annotations

import numpy as np

from warpfile.spec.annotation import beat_counts, on_every_beat, on_last_beat
from warpfile.spec.beat import source_groups
from warpfile.spec.stress import stress_trace

TRACE = stress_trace(3, profile="wide", length=40)
SLOTS = 3


def walk() -> list[tuple[int, int, int]]:
    """Record, instruction and number of every beat, one after the other."""
    found = []
    for record, index in enumerate(TRACE.instruction.tolist()):
        found += [(record, index, beat) for beat in range(len(source_groups(TRACE.program[index], SLOTS)))]
    return found


def test_beats_are_counted_per_executed_instruction() -> None:
    counts = np.bincount([record for record, _, _ in walk()])
    assert counts.max() > 1
    assert beat_counts(TRACE, SLOTS).tolist() == counts.tolist()


def test_every_beat_gets_the_word_of_its_instruction_and_number() -> None:
    words = [
        [100 * index + beat for beat in range(len(source_groups(static, SLOTS)))]
        for index, static in enumerate(TRACE.program)
    ]
    assert on_every_beat(TRACE, words).tolist() == [100 * index + beat for _, index, beat in walk()]


def test_the_last_beat_gets_the_word_of_its_record_and_the_others_none() -> None:
    expected = []
    for record, index, beat in walk():
        last = beat == len(source_groups(TRACE.program[index], SLOTS)) - 1
        expected.append(record + 1 if last else 0)
    words = np.arange(1, TRACE.instructions + 1)
    assert on_last_beat(TRACE, SLOTS, words).tolist() == expected
