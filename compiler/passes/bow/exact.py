"""Write classes of BOW-WR from what the warps of a trace really did, one per executed instruction.

For traces without a listing, and as the bound that no compiler passes. Only the future of the warp decides: how far
apart in beats its accesses are, and which lanes still read a value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpfile.compiler.passes.bow.static import REGISTER_FILE, WINDOW
from warpfile.spec.beat import source_groups
from warpfile.spec.trace import Trace

_REGISTERS = 256
#: What may stand for each class: a value without a reader may go anywhere, and nothing may leave a needed value only in
#: the window that is not there now. Rows have one length, so that one random number picks.
_WEAKER = np.array(((0, 1, 2, 3) * 3, (1, 3) * 6, (1, 2, 3) * 4, (1, 3) * 6), dtype=np.uint8)


def exact_classes(trace: Trace, *, window: int, source_slots: int) -> np.ndarray:
    """Class of every record (uint8); 0 for one that writes nothing.

    A definition is followed from access to access until the register is written again. Reads less than ``window``
    beats after the access before find it in the window, all others need the register file. If a write leaves out lanes
    whose value is read later, the definition must be in the register file, too, because the result may come late. So
    must a definition whose guard has left out lanes. A value that no lane reads need not go anywhere.
    """
    if window < 1 or source_slots < 1:
        raise ValueError(f"window and source_slots must be at least 1, not {window} and {source_slots}")
    chains = _chains(trace, source_slots)
    classes = np.zeros(trace.records, dtype=np.uint8)
    if len(chains.start) == 0:
        return classes
    record = chains.record[chains.start]
    found = _read_bits(chains, window) | _overwritten_bits(chains, trace, window)
    execute, active, live = trace.execute[record], trace.active[record], trace.live[record]
    found |= np.where((execute != active) & (execute != live), REGISTER_FILE, 0).astype(np.uint8)
    np.bitwise_or.at(classes, record[chains.is_definition], found[chains.is_definition])
    return classes


def weakened(classes: np.ndarray, seed: int) -> np.ndarray:
    """Classes that hold wherever the given ones do, chosen at random.

    Writing the register file as well is always right, and not writing the window is where the register file is
    written. Records that write nothing have class 0, so theirs become anything.
    """
    choice = np.random.default_rng(seed).integers(0, _WEAKER.shape[1], len(classes))
    return np.asarray(_WEAKER[classes, choice])


@dataclass(frozen=True)
class _Chains:
    """Accesses of all warps, register by register and in order; a chain begins at a write, or with a register.

    Accesses: ``record``, lane ``mask``, ``position`` (beats since the start of the trace) and ``chain``. Chains:
    ``start`` (its first access), ``is_definition``, and ``continues``: the next chain is of the same warp and register.
    """

    record: np.ndarray
    mask: np.ndarray
    position: np.ndarray
    is_write: np.ndarray
    chain: np.ndarray
    start: np.ndarray
    is_definition: np.ndarray
    continues: np.ndarray

    @property
    def gap(self) -> np.ndarray:
        """Beats since the access before; nothing sensible at the start of a chain."""
        return np.diff(self.position, prepend=0)

    def long_reads(self, window: int) -> np.ndarray:
        """Per access, how many reads of its chain up to it came too late for the window."""
        late = self.gap >= window
        late[self.start] = False
        total = np.cumsum(late)
        return np.asarray(total - total[self.start][self.chain])


def _chains(trace: Trace, source_slots: int) -> _Chains:
    register, beat, is_write, first, beats = _accesses(trace, source_slots)
    length = beats[trace.instruction]
    before = np.cumsum(length) - length
    executed = np.flatnonzero(trace.execute)
    counts = np.diff(first)[trace.instruction[executed]]
    record = np.repeat(executed, counts)
    within = np.arange(len(record)) - np.repeat(np.cumsum(counts) - counts, counts)
    slot = first[trace.instruction[record]] + within
    warp = np.repeat(np.arange(trace.warps), np.diff(trace.warp_start))
    name = warp[record] * _REGISTERS + register[slot]
    # A stable order: of one instruction, the sources come before the destinations.
    order = np.argsort(name, kind="stable")
    record, slot, name = record[order], slot[order], name[order]
    is_first = np.diff(name, prepend=-1) != 0
    begins = is_first | is_write[slot]
    start = np.flatnonzero(begins)
    return _Chains(
        record=record,
        mask=trace.execute[record],
        position=before[record] + beat[slot],
        is_write=is_write[slot],
        chain=np.cumsum(begins) - 1,
        start=start,
        is_definition=is_write[slot][start],
        continues=np.append(~is_first[start[1:]], False)[: len(start)],
    )


def _accesses(trace: Trace, source_slots: int) -> tuple[np.ndarray, ...]:
    """Register, beat and direction of every access of the program; where each instruction's begin; its beats."""
    rows: list[tuple[int, int, bool]] = []
    first, beats = [0], []
    for static in trace.program:
        groups = source_groups(static, source_slots)
        rows += [(register, beat, False) for beat, group in enumerate(groups) for register in group]
        rows += [(register, len(groups) - 1, True) for register in static.dests]
        first.append(len(rows))
        beats.append(len(groups))
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return table[:, 0], table[:, 1], table[:, 2] != 0, np.array(first), np.array(beats, dtype=np.int64)


def _read_bits(chains: _Chains, window: int) -> np.ndarray:
    """What the reads of a chain's own lanes ask for: the register file, once any read has missed the window."""
    defined = chains.mask[chains.start][chains.chain]
    needs = ~chains.is_write & (chains.mask & defined != 0)
    missed = chains.long_reads(window) > 0
    late = np.bincount(chains.chain, needs & missed) > 0
    near = np.bincount(chains.chain, needs & ~missed) > 0
    return np.asarray(late * REGISTER_FILE | near * WINDOW, dtype=np.uint8)


def _overwritten_bits(chains: _Chains, trace: Trace, window: int) -> np.ndarray:
    """What a chain needs because the write that ends it leaves out lanes that are read later."""
    mask = chains.mask[chains.start]
    is_partial = mask != trace.live[chains.record[chains.start]]
    ends_partially = chains.continues & np.append(is_partial[1:], False)
    after = np.bitwise_or.reduceat(np.where(chains.is_write, 0, chains.mask), chains.start)
    remains = after.tolist()
    masks = mask.tolist()
    kept = np.zeros(len(masks), dtype=bool)
    for number in reversed(np.flatnonzero(ends_partially).tolist()):
        left_out = remains[number + 1] & ~masks[number + 1]
        remains[number] |= left_out
        kept[number] = left_out & masks[number] != 0
    last = np.append(chains.start[1:], len(chains.record)) - 1
    following = np.append(chains.position[chains.start[1:]], 0)
    is_near = (following - chains.position[last] < window) & (chains.long_reads(window)[last] == 0)
    return np.asarray(kept * REGISTER_FILE | (kept & is_near) * WINDOW, dtype=np.uint8)
