"""Hints of the register file cache with a two-level scheduler, from what the warps of a trace executed.

For traces without a listing. Paths not taken cost nothing here, but divergent code does: a write of some lanes ends no
value here, although those may be the only lanes that read on. There a listing may know more.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpfile.compiler.passes.long_latency import always_suspends, is_fence, is_long
from warpfile.spec.beat import distinct_sources
from warpfile.spec.trace import TOKENS, Kind, StaticInstruction, Trace

_REGISTERS = 256
_NAMES = _REGISTERS + TOKENS
_MOST_SOURCES = 16
_READ, _WRITE, _TOKEN = range(3)


@dataclass(frozen=True)
class RecordHints:
    """Hints of every executed instruction.

    Bit i of a mask belongs to its i-th distinct source register in order of first occurrence.
    """

    suspend: np.ndarray  #: uint8[n], 1 where the warp leaves the active set before it
    dead: np.ndarray  #: uint16[n], mask of sources whose value no lane reads again
    evict_first: np.ndarray  #: uint16[n], mask of sources that are not read again before the next flush
    no_allocate: np.ndarray  #: uint8[n], 1 where that holds for all destinations


def exact_hints(trace: Trace) -> RecordHints:
    """Hints from the future of each warp.

    A warp suspends before the first record that touches a result of an executed long-latency operation, unless that is
    a barrier or a fence came before, and before each fence and NANOSLEEP. The value of a source is dead if the register
    is not read again, or only after a write of all lanes that have not exited; a write of fewer lanes ends nothing, and
    neither does the write of the record itself. The flush comes before a record that suspends and behind a barrier.
    An instruction that no lane executes reads and writes nothing, but its touch, its barrier or its suspension counts.
    Raises ``ValueError`` for an instruction with more than 16 distinct sources.
    """
    accesses = _accesses(trace)
    suspends = _suspensions(trace, accesses)
    target = _next_read(trace, accesses)
    is_read = target < trace.records
    strand = _strands(trace, suspends)
    is_near = is_read & (strand[np.where(is_read, target, 0)] == strand[accesses.record])
    executed = trace.execute[accesses.record] != 0
    sources = executed & (accesses.role == _READ)
    dests = executed & (accesses.role == _WRITE)
    kept = np.bincount(accesses.record[dests & is_near], minlength=trace.records)
    written = np.bincount(accesses.record[dests], minlength=trace.records)
    return RecordHints(
        suspend=suspends.astype(np.uint8),
        dead=_masks(trace, accesses, sources & ~is_read),
        evict_first=_masks(trace, accesses, sources & ~is_near),
        no_allocate=((written > 0) & (kept == 0)).astype(np.uint8),
    )


def random_hints(hints: RecordHints, seed: int) -> RecordHints:
    """Other hints, chosen at random, under which every value is what it must be.

    A dead bit may be dropped, never added. All others are about time and traffic and become anything, also at sources
    that the instruction does not have.
    """
    rng = np.random.default_rng(seed)
    count = len(hints.dead)
    return RecordHints(
        suspend=hints.suspend ^ (rng.random(count) < 0.25).astype(np.uint8),
        dead=hints.dead & rng.integers(0, 1 << _MOST_SOURCES, count, dtype=np.uint16),
        evict_first=rng.integers(0, 1 << _MOST_SOURCES, count, dtype=np.uint16),
        no_allocate=rng.integers(0, 2, count, dtype=np.uint8),
    )


@dataclass(frozen=True)
class _Accesses:
    """Accesses of all records, sorted by warp and name of a register or token, then in the order of execution.

    ``bit`` is the place of a source among the distinct ones. ``has_result``: a result of a long-latency operation.
    """

    name: np.ndarray
    record: np.ndarray
    role: np.ndarray
    bit: np.ndarray
    has_result: np.ndarray

    def same_name(self, following: np.ndarray) -> np.ndarray:
        """Whether the accesses at the places ``following`` exist and are of the same warp and name."""
        count = len(self.name)
        return np.asarray((following < count) & (self.name[np.minimum(following, count - 1)] == self.name))


def _accesses(trace: Trace) -> _Accesses:
    rows: list[tuple[int, int, int, bool]] = []
    counts, tokens = [], _result_tokens(trace)
    for static in trace.program:
        found = _rows(static, tokens)
        rows += found
        counts.append(len(found))
    table = np.array(rows, dtype=np.int64).reshape(-1, 4)
    count = np.array(counts, dtype=np.int64)
    lengths = count[trace.instruction]
    starts = (np.cumsum(count) - count)[trace.instruction]
    record = np.repeat(np.arange(trace.records), lengths)
    row = np.arange(len(record)) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    warp = np.repeat(np.arange(trace.warps), np.diff(trace.warp_start))
    name = warp[record] * _NAMES + table[row, 0]
    # A stable order: of one record, the source comes before the destination of the same name.
    order = np.argsort(name, kind="stable")
    row = row[order]
    return _Accesses(name[order], record[order], table[row, 1], table[row, 2], table[row, 3] != 0)


def _result_tokens(trace: Trace) -> list[int]:
    """Tokens that some long-latency operation writes."""
    written = [static.token_writes for static in trace.program if is_long(static)]
    return [token for token in range(TOKENS) if any(mask >> token & 1 for mask in written)]


def _rows(static: StaticInstruction, tokens: list[int]) -> list[tuple[int, int, int, bool]]:
    """Name, role, bit and ``has_result`` of every access of an instruction to registers and to these tokens."""
    sources, has_result = distinct_sources(static.sources), is_long(static)
    if len(sources) > _MOST_SOURCES:
        where = f"{static.opcode} at {static.offset:#x}"
        raise ValueError(f"{where} must have at most {_MOST_SOURCES} distinct sources, not {len(sources)}")
    rows = [(register, _READ, bit, False) for bit, register in enumerate(sources)]
    rows += [(register, _WRITE, 0, has_result) for register in static.dests]
    for token in tokens:
        if (static.token_reads | static.token_writes) >> token & 1:
            rows.append((_REGISTERS + token, _TOKEN, 0, has_result and bool(static.token_writes >> token & 1)))
    return rows


def _of_records(trace: Trace, of_program: list[bool]) -> np.ndarray:
    """A property of instructions as one of records."""
    return np.asarray(np.array(of_program, dtype=bool)[trace.instruction])


def _suspensions(trace: Trace, accesses: _Accesses) -> np.ndarray:
    count = trace.records
    following = np.arange(1, len(accesses.name) + 1)
    is_loaded = accesses.has_result & (trace.execute[accesses.record] != 0)
    loaded = np.flatnonzero(is_loaded & accesses.same_name(following))
    first_touch = np.full(count, count)
    np.minimum.at(first_touch, accesses.record[loaded], accesses.record[loaded + 1])
    # What another warp's fence ends has been touched before, if at all.
    next_fence = _next_place(_of_records(trace, [is_fence(static) for static in trace.program]))
    touching = first_touch[(first_touch < count) & (first_touch < next_fence)]
    suspends = np.zeros(count, dtype=bool)
    suspends[touching] = True
    suspends |= _of_records(trace, [always_suspends(static) for static in trace.program])
    return suspends & ~_of_records(trace, [static.kind is Kind.BARRIER for static in trace.program])


def _strands(trace: Trace, suspends: np.ndarray) -> np.ndarray:
    """Number of the strand in which a record reads.

    The next one begins at a record that suspends, as it reads behind the flush, and behind a barrier.
    """
    barriers = np.cumsum(_of_records(trace, [static.kind is Kind.BARRIER for static in trace.program]))
    return np.asarray(np.cumsum(suspends) + np.append(0, barriers)[: len(barriers)])


def _next_read(trace: Trace, accesses: _Accesses) -> np.ndarray:
    """Per access the later record that reads the value its register has then, or the number of records."""
    count = len(accesses.name)
    executed = trace.execute[accesses.record] != 0
    is_full = (trace.execute == trace.live)[accesses.record]
    reads = executed & (accesses.role == _READ)
    nearest = _next_place(reads | (executed & is_full & (accesses.role == _WRITE)))
    last = np.arange(count)
    # A source whose own record writes the register: what follows that write counts.
    own = np.minimum(last + 1, count - 1)
    last += accesses.same_name(last + 1) & (accesses.record[own] == accesses.record)
    following = nearest[last]
    found = accesses.same_name(following) & reads[np.minimum(following, count - 1)]
    return np.where(found, accesses.record[np.minimum(following, count - 1)], trace.records)


def _next_place(marks: np.ndarray) -> np.ndarray:
    """Per place the next later one that is marked, or the number of places."""
    count = len(marks)
    places = np.where(marks, np.arange(count), count)
    return np.append(np.minimum.accumulate(places[::-1])[::-1][1:], count)[:count]


def _masks(trace: Trace, accesses: _Accesses, chosen: np.ndarray) -> np.ndarray:
    """Bits of the chosen sources, gathered by record."""
    weights = (1 << accesses.bit[chosen]).astype(np.float64)
    return np.bincount(accesses.record[chosen], weights, trace.records).astype(np.uint16)
