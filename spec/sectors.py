"""Sectors that global and local accesses cover (docs/machine.md, section 9, "Memory")."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from warpfile.spec.config import LINE_BYTES, Config
from warpfile.spec.trace import LANES, Space, StaticInstruction, Trace

WORD = 4  #: bytes that lanes of one line of local memory have of it


class Sectors:
    """Of the accesses of one trace, as a configuration cuts memory into sectors.

    ``warps`` are those that the domain runs, in launch order: others have no local memory here.
    """

    def __init__(self, cfg: Config, trace: Trace, warps: Sequence[int]) -> None:
        self._bytes, self._trace = cfg.sector_bytes, trace
        self._place = {warp: place for place, warp in enumerate(warps)}

    def of(self, static: StaticInstruction, warp: int, row: int, execute: int) -> tuple[int, ...]:
        """Numbers of the sectors of one access, ascending; ``row`` is that of its addresses.

        All but the lowest bits of a number are those of its line. ``warp`` is its number in the whole launch.
        """
        if not execute or (static.space == Space.LOCAL and warp not in self._place):
            return ()
        lanes = np.flatnonzero(execute >> np.arange(LANES) & 1)
        places = self._trace.addresses[row][lanes]
        if static.space == Space.LOCAL:
            places = self._interleaved(places, lanes, warp, static.bytes)
        tag = int(static.space) << 58
        return tuple(int(sector) | tag for sector in np.unique(places // np.uint64(self._bytes)))

    def transfers(self, sectors: tuple[int, ...]) -> int:
        """Transfers of the LSU for an access to so many sectors; at least one."""
        return max(1, -(-len(sectors) * self._bytes // LINE_BYTES))

    def _interleaved(self, offsets: np.ndarray, lanes: np.ndarray, warp: int, size: int) -> np.ndarray:
        """Where the words at these offsets of the lanes' own memories are: a line has one word of every lane."""
        first, count = self._local_words
        words = (offsets // np.uint64(WORD))[:, None] + np.arange(max(1, size // WORD), dtype=np.uint64)
        lines = words - np.uint64(first) + np.uint64(self._place[warp] * count)
        return lines * np.uint64(LINE_BYTES) + lanes[:, None].astype(np.uint64) * np.uint64(WORD)

    @cached_property
    def _local_words(self) -> tuple[int, int]:
        """The lowest word of local memory that the warps use, and how many they have from there to the highest."""
        trace = self._trace
        ours = np.repeat([warp in self._place for warp in range(trace.warps)], np.diff(trace.warp_start))
        local = np.array([static.space == Space.LOCAL for static in trace.program], dtype=bool)
        sizes = np.array([static.bytes for static in trace.program], dtype=np.uint64)
        here = ours & local[trace.instruction] & (trace.address_row >= 0) & (trace.execute != 0)
        executing = (trace.execute[here, None] >> np.arange(LANES, dtype=np.uint32) & 1).astype(bool)
        offsets = trace.addresses[trace.address_row[here]]
        ends = offsets + np.maximum(sizes[trace.instruction[here]], 1)[:, None] - np.uint64(1)
        first, last = int(offsets[executing].min()) // WORD, int(ends[executing].max()) // WORD
        return first, last - first + 1
