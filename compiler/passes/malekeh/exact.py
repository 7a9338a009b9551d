"""Exact reuse distances of Malekeh, from what the warps of a trace executed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpfile.spec.beat import distinct_sources
from warpfile.spec.trace import StaticInstruction, Trace

#: Distance of an access whose value is not read again, or only after as many instructions or more.
NEVER = 0xFFFF

_MOST_SOURCES = 16
_REGISTERS = 256


@dataclass(frozen=True)
class ReuseDistances:
    """One distance per access; the accesses of record n are ``first[n]:first[n + 1]``.

    They are the distinct sources in order of first occurrence, then the destinations, ascending. ``bit`` is the place
    of the access among the sources, or ``16 +`` its place among the destinations.
    """

    first: np.ndarray  #: int64[records + 1]
    bit: np.ndarray  #: uint8[accesses]
    distance: np.ndarray  #: uint16[accesses], at least 1; NEVER where there is no later read


def distances(trace: Trace) -> ReuseDistances:
    """Instructions of the same warp from each access to the next one that reads the register.

    A write of all lanes that have not exited ends the life of the register's value: what was accessed before, also by
    the writing instruction itself, is never read again. A write of fewer lanes ends nothing. An instruction that no
    lane executes accesses nothing (its distances are NEVER), but counts. Raises ``ValueError`` for an instruction with
    more than 16 distinct sources.
    """
    layout = _Layout.of(trace.program)
    counts = layout.count[trace.instruction]
    first = np.concatenate(([0], np.cumsum(counts)))
    record = np.repeat(np.arange(trace.records), counts)
    slot = np.arange(first[-1]) + np.repeat(layout.first[trace.instruction] - first[:-1], counts)
    warp = np.repeat(np.arange(trace.warps), np.diff(trace.warp_start))
    bit, is_source = layout.bit[slot], layout.bit[slot] < _MOST_SOURCES
    name = warp[record] * _REGISTERS + layout.register[slot]
    executed = np.flatnonzero(trace.execute[record])
    # A stable order: of one record, the source comes before the destination of the same name.
    order = executed[np.argsort(name[executed], kind="stable")]
    distance = np.full(len(slot), NEVER, dtype=np.uint16)
    distance[order] = _to_next_read(
        name=name[order],
        record=record[order],
        reads=is_source[order],
        overwrites=~is_source[order] & (trace.execute == trace.live)[record[order]],
    )
    return ReuseDistances(first, bit, distance)


def near_from_distances(found: ReuseDistances, threshold: int) -> tuple[np.ndarray, np.ndarray]:
    """Near bits of every record, uint16 each: of its sources and of its destinations, as in a ``NearHint``."""
    if not 1 <= threshold < NEVER:
        raise ValueError(f"threshold must be 1 to {NEVER - 1}, not {threshold}")
    masks = np.zeros(len(found.first) - 1, dtype=np.uint32)
    occupied = np.flatnonzero(np.diff(found.first))
    near = (found.distance <= threshold).astype(np.uint32) << found.bit
    masks[occupied] = np.add.reduceat(near, found.first[occupied])
    return (masks & 0xFFFF).astype(np.uint16), (masks >> _MOST_SOURCES).astype(np.uint16)


@dataclass(frozen=True)
class _Layout:
    """Accesses of the program's instructions, one after the other."""

    count: np.ndarray  #: accesses per instruction
    first: np.ndarray  #: first access of each instruction
    register: np.ndarray  #: per access
    bit: np.ndarray  #: per access

    @classmethod
    def of(cls, program: tuple[StaticInstruction, ...]) -> _Layout:
        counts, registers, bits = [], list[int](), list[int]()
        for instruction in program:
            sources = distinct_sources(instruction.sources)
            if len(sources) > _MOST_SOURCES:
                where = f"{instruction.opcode} at {instruction.offset:#x}"
                raise ValueError(f"{where} must have at most {_MOST_SOURCES} distinct sources, not {len(sources)}")
            counts.append(len(sources) + instruction.dest_count)
            registers += (*sources, *instruction.dests)
            bits += (*range(len(sources)), *range(_MOST_SOURCES, _MOST_SOURCES + instruction.dest_count))
        count = np.array(counts, dtype=np.int64)
        return cls(count, np.cumsum(count) - count, np.array(registers, np.int64), np.array(bits, np.uint8))


def _to_next_read(name: np.ndarray, record: np.ndarray, reads: np.ndarray, overwrites: np.ndarray) -> np.ndarray:
    """Distance of accesses that are sorted by ``name`` (warp and register), then in the order of execution."""
    count = len(name)
    places = np.where(reads | overwrites, np.arange(count), count)
    nearest = np.minimum.accumulate(places[::-1])[::-1]
    following = np.append(nearest[1:], count)[:count]
    known = following < count
    target = np.where(known, following, 0)
    known &= (name[target] == name) & reads[target]
    return np.where(known, np.minimum(record[target] - record, NEVER), NEVER).astype(np.uint16)
