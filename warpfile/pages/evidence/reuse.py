"""How far apart a warp's accesses to one register are, from the trace alone: what any window could serve at best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from warpfile.spec.beat import distinct_sources
from warpfile.spec.trace import Kind, Trace

_REGISTERS = 256


@dataclass(frozen=True)
class Reuse:
    """Reads of a trace that come soon after an access to the same register by the same warp.

    A read is a distinct source register of an instruction that some lane executes.
    """

    trace: Trace

    def near(self, window: int, *, with_registers: bool = False, flushed: bool = False) -> float:
        """Share of the reads that are fewer than ``window`` instructions behind the last access.

        ``with_registers``: only instructions that name a register count. ``flushed``: nothing is near across a taken
        branch, as if each forgot what a window holds.
        """
        record, name, reads = self._accesses
        order = np.argsort(name, kind="stable")
        step = np.cumsum(self._named) if with_registers else np.arange(self.trace.records)
        apart = np.diff(step[record[order]], prepend=0)
        same = np.diff(name[order], prepend=-1) == 0
        if flushed:
            same &= np.diff(self._passage[record[order]], prepend=-1) == 0
        return float((reads[order] & same & (apart < window)).sum() / max(1, reads.sum()))

    def wide(self, sources: int) -> float:
        """Share of the executed instructions that have so many distinct sources or more."""
        counts = np.array([len(distinct_sources(one.sources)) for one in self.trace.program])
        executed = self.trace.instruction[self.trace.execute != 0]
        return float((counts[executed] >= sources).mean())

    def top(self, count: int) -> float:
        """Share of all accesses that are to so many registers, those that all warps together access most."""
        _, name, _ = self._accesses
        times = np.bincount(name % _REGISTERS)
        return float(np.sort(times)[::-1][:count].sum() / max(1, len(name)))

    @cached_property
    def _accesses(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Record, register with its warp, and whether it is read, of every access; sources before destinations."""
        trace = self.trace
        rows = [(distinct_sources(one.sources), one.dests) for one in trace.program]
        counts = np.array([len(sources) + len(dests) for sources, dests in rows])
        register = np.array([name for row in rows for names in row for name in names], dtype=np.int64)
        reads = np.array([kind == 0 for row in rows for kind, names in enumerate(row) for _ in names], dtype=bool)
        executed = np.flatnonzero(trace.execute)
        static = trace.instruction[executed]
        count = counts[static]
        record = np.repeat(executed, count)
        place = np.arange(len(record)) + np.repeat(
            (np.cumsum(counts) - counts)[static] - np.cumsum(count) + count, count
        )
        warp = np.searchsorted(trace.warp_start, record, side="right")
        return record, warp * _REGISTERS + register[place], reads[place]

    @cached_property
    def _named(self) -> np.ndarray:
        """Of every record, whether its instruction names a register."""
        return np.array([bool(one.sources or one.dest_count) for one in self.trace.program])[self.trace.instruction]

    @cached_property
    def _passage(self) -> np.ndarray:
        """Of every record, how many branches were taken before it, in all warps together."""
        at = self.trace.instruction
        branch = np.array([one.kind == Kind.BRANCH for one in self.trace.program])[at]
        taken = branch & (np.append(at[1:], 0) != at + 1)
        return np.cumsum(taken) - taken
