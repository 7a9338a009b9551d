"""Laying hints of instructions out as hints of beats, the form in which a trace carries them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from warpfile.spec.beat import source_groups
from warpfile.spec.trace import Trace


def hinted(trace: Trace, words: np.ndarray) -> Trace:
    """The trace with these hints as well, one word per beat; bits that other passes have set stay."""
    return replace(trace, hints=trace.hints | words if len(trace.hints) else words)


def beat_counts(trace: Trace, source_slots: int) -> np.ndarray:
    """int64[n]: beats of every executed instruction."""
    counts = [len(source_groups(static, source_slots)) for static in trace.program]
    return np.array(counts, dtype=np.int64)[trace.instruction]


def on_every_beat(trace: Trace, words: Sequence[Sequence[int]]) -> np.ndarray:
    """Hints of a trace from those of its program: ``words[i]`` has one hint word per beat of instruction ``i``."""
    start = np.cumsum([0, *map(len, words)], dtype=np.int64)
    flat = np.array([word for beats in words for word in beats], dtype=np.uint64)
    count = np.diff(start)[trace.instruction]
    first = np.repeat(start[:-1][trace.instruction] - (np.cumsum(count) - count), count)
    return flat[first + np.arange(len(first))]


def on_last_beat(trace: Trace, source_slots: int, words: np.ndarray) -> np.ndarray:
    """Hints of a trace from one word per executed instruction that belongs to its last beat, which has the result."""
    last = np.cumsum(beat_counts(trace, source_slots)) - 1
    hints = np.zeros(int(last[-1]) + 1 if len(last) else 0, dtype=np.uint64)
    hints[last] = words
    return hints


def on_sources(trace: Trace, source_slots: int, masks: np.ndarray) -> np.ndarray:
    """Hints of a trace from one mask per executed instruction over its distinct sources: each beat has those of its own
    sources, the lowest bit for the first slot.
    """
    count = beat_counts(trace, source_slots)
    record = np.repeat(np.arange(len(count)), count)
    beat = np.arange(len(record)) - np.repeat(np.cumsum(count) - count, count)
    shifted = masks[record].astype(np.uint64) >> (beat * source_slots).astype(np.uint64)
    return shifted & np.uint64((1 << source_slots) - 1)
