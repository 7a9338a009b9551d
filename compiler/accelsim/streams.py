"""The records of all warps in launch order, put right: pairs, barriers, ends, and which lanes are alive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warpfile.compiler.accelsim.body import Recording
from warpfile.compiler.accelsim.repairs import Repairs
from warpfile.spec.trace import LANES, NO_ROW, Kind, StaticInstruction

_ENDS = frozenset("EXIT KILL KIL".split())


@dataclass(frozen=True)
class Streams:
    """Dynamic arrays of a trace, and which record each element was. Not a record (-1) is an appended EXIT.

    ``appended`` says whether its index, the one behind the program, is in use.
    """

    warp_start: np.ndarray
    warp_cta: np.ndarray
    instruction: np.ndarray
    execute: np.ndarray
    live: np.ndarray
    address_row: np.ndarray
    record: np.ndarray
    appended: bool


def streams(
    recording: Recording, program: Sequence[StaticInstruction], codes: np.ndarray, threads: int, repairs: Repairs
) -> Streams:
    """Sort and repair the records; ``codes`` are their indices into ``program``, ``threads`` those of a CTA."""
    return _Streams(recording, program, codes, threads, repairs).result()


class _Streams:
    def __init__(
        self,
        recording: Recording,
        program: Sequence[StaticInstruction],
        codes: np.ndarray,
        threads: int,
        repairs: Repairs,
    ) -> None:
        self.recording, self.threads, self.repairs = recording, threads, repairs
        self.instruction = codes
        self.mask = np.array(recording.mask, dtype=np.uint32)
        self.address_row = np.array(recording.address_row, dtype=np.int64)
        self.end = len(program)
        names = [instruction.opcode.split(".")[0] for instruction in program]
        self.is_end = np.array([name in _ENDS for name in names] + [True], dtype=bool)
        self.is_exit = np.array([name == "EXIT" for name in names] + [True], dtype=bool)
        self.is_copy = np.array([name == "LDGSTS" for name in names] + [False], dtype=bool)
        self.is_barrier = np.array([i.kind == Kind.BARRIER for i in program] + [False], dtype=bool)

    def result(self) -> Streams:
        """All warps by CTA and number."""
        kept = self._kept()
        order = sorted(range(len(self.recording.warps)), key=self.recording.warps.__getitem__)
        pieces, lives, start = [], [], [0]
        for warp in order:
            piece, live = self._warp(warp, kept)
            pieces.append(piece)
            lives.append(live)
            start.append(start[-1] + len(piece))
        gathered = np.concatenate(pieces)
        real = gathered >= 0
        ctas = [self.recording.warps[warp][0] for warp in order]
        missing = len(set(ctas)) * -(-self.threads // LANES) - len(ctas)
        self.repairs.add("missing_warps", missing)
        live = np.concatenate(lives)
        return Streams(
            warp_start=np.array(start, dtype=np.int64),
            warp_cta=np.array(ctas, dtype=np.int32),
            instruction=np.where(real, self.instruction[gathered], np.int32(self.end)).astype(np.int32),
            execute=np.where(real, self.mask[gathered], live).astype(np.uint32),
            live=live,
            address_row=np.where(real, self.address_row[gathered], NO_ROW).astype(np.int64),
            record=gathered,
            appended=not real.all(),
        )

    def _kept(self) -> np.ndarray:
        """Which records stay: no barrier that no lane reached, of an LDGSTS pair the second, which names its source."""
        kept = ~(self.is_barrier[self.instruction] & (self.mask == 0))
        self.repairs.add("skipped_barriers", int(np.count_nonzero(~kept)))
        twin = self.is_copy[self.instruction[:-1]] & (self.instruction[:-1] == self.instruction[1:])
        twin &= self.mask[:-1] == self.mask[1:]
        starts = np.array(self.recording.start[1:-1], dtype=np.int64)
        twin[starts[(starts > 0) & (starts <= len(twin))] - 1] = False
        pairs, previous = 0, -2
        for index in np.flatnonzero(twin).tolist():
            if previous != index - 1:
                kept[index] = False
                pairs, previous = pairs + 1, index
        self.repairs.add("copy_pairs", pairs)
        return kept

    def _warp(self, warp: int, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Record numbers of a warp, -1 for an appended EXIT, and the lanes alive before each."""
        first, end = self.recording.start[warp], self.recording.start[warp + 1]
        records = first + np.flatnonzero(kept[first:end])
        lanes = min(LANES, self.threads - LANES * self.recording.warps[warp][1])
        initial = np.uint32((1 << lanes) - 1)
        masks, codes = self.mask[records], self.instruction[records]
        gone = np.zeros(len(records) + 1, dtype=np.uint32)
        np.bitwise_or.accumulate(np.where(self.is_end[codes], masks, np.uint32(0)), out=gone[1:])
        live = initial & ~gone
        self.repairs.add("revived_lanes", int(np.count_nonzero(masks & ~live[:-1])))
        live[:-1] |= masks
        if len(records) and self.is_exit[codes[-1]] and masks[-1]:
            return records, live[:-1]
        self.repairs.add("appended_exits", 1)
        live[-1] = live[-1] or initial
        return np.append(records, -1), live
