"""Probes and counters of the cache and its transfers (docs/schemes/ltrf.md, section 9)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import ones
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.ltrf import LtrfConfig

COUNTERS = (
    "bank_writes",
    "prefetches",
    "refetches",
    "prefetch_fills",
    "refetch_fills",
    "dead_fills",
    "kept_registers",
    "prefetch_backs",
    "unsaved_steps",
    "release_backs",
    "unsaved_releases",
    "moving_cycles",
    "empty_cycles",
    "main_reads",
    "main_writes",
    "parked_results",
    "cache_reads",
    "cache_writes",
    "set_reads",
    "set_writes",
    "transfer_waits",
    "crossbar_beats_used",
    "look_ups",
    "error_cycles",
)
FIRST: Final = "place_state"  #: of the file's probes
_OFTEN: Final = "step_out"  #: from here on there are events only; those before it are rare


class Probes:
    """Events of a cycle, as probes and in the file's ``counters``.

    ``error`` is set; ``fails``: it is from the next cycle on.
    """

    def __init__(self, cfg: LtrfConfig, layout: ProbeLayout) -> None:
        self.counters = dict.fromkeys(COUNTERS, 0)
        # The file's probes lie side by side: a word by itself, which goes into the long one at once. So are the events
        # of most cycles, because what is long costs.
        self.first = layout.offset[FIRST]
        self._at = {probe.name: layout.offset[probe.name] - self.first for probe in layout}
        self._register = cfg.register_bits
        self._bank = cfg.cache_bank_bits
        self._often = self._at[_OFTEN]
        self._at_moves, self._at_register, self._at_look_up = (
            self._at[name] - self._often for name in ("step_moves", "step_register", "look_up_banks")
        )
        self._word = self._rare = 0
        self.error = self.fails = False

    def at(self, probe: str) -> int:
        """Lowest bit of a probe, counted from the first one of the file."""
        return self._at[probe]

    def show(self, probe: str, value: int, counter: str = "") -> None:
        """A probe, none of whose set bits was shown before, and a counter that has one more for each of them."""
        at = self._at[probe] - self._often
        if at < 0:
            self._rare |= value << at + self._often
        else:
            self._word |= value << at
        if counter:
            self.counters[counter] += ones(value)

    def count(self, counter: str, number: int = 1) -> None:
        """One more of something, or several."""
        self.counters[counter] += number

    def step(self, probe: str, part: int, register: int, moves: bool) -> None:
        """A register takes a bank, or leaves its own; ``part`` counts the parts of all places."""
        word = 1 << self._at[probe] - self._often + part | moves << self._at_moves + part
        self._word |= word | register << self._at_register + part * self._register

    def looked_up(self, slot: int, bank: int) -> None:
        """Bank of a source."""
        self._word |= bank << self._at_look_up + slot * self._bank

    def edge(self) -> int:
        """End the cycle; returns its events."""
        if self.error:
            self.show("error", 1, "error_cycles")
        word = self._word << self._often | self._rare
        self._word = self._rare = 0
        self.error |= self.fails
        return word
