"""Where the sources of beats are: slots ask the renaming table (docs/schemes/corf.md, section 9)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.pool import CollectorUnits
from warpfile.golden.rf.contract import RenamedFile
from warpfile.golden.rf.renaming import UNMAPPED, Mapped
from warpfile.spec.config import Config


class LookUps:
    """``mapped``: where the register of every slot is, once it was looked up. ``step`` and ``first`` ask the table,
    ``edge`` lets a unit present its slots when all are looked up.

    Of the cycle, as masks of slots: ``served``, and ``refused`` those that ask in vain. ``unmapped``: whose answer is
    there in this cycle, and that the register is nowhere.
    """

    def __init__(self, cfg: Config, units: CollectorUnits, file: RenamedFile) -> None:
        self.served = self.refused = self.unmapped = 0
        self.mapped: list[Mapped] = [UNMAPPED] * (cfg.collectors * cfg.source_slots)
        self._units, self._file, self._slots = units, file, cfg.source_slots
        self._asking = [0] * cfg.collectors  # slots of each unit
        self._any = 0  # units with one of them
        self._answered: list[int] = []  # units whose last slot was served in this cycle

    def step(self) -> None:
        """All units ask, in the order of their allocation."""
        self.served = self.refused = 0
        if self._any:
            for number in self._units.order:
                if self._asking[number]:
                    self._ask(number)

    def first(self, number: int, count: int) -> None:
        """A unit takes a beat of ``count`` sources, which ask at once."""
        if count:
            self._asking[number] = (1 << count) - 1
            self._any |= 1 << number
            self._ask(number)

    def _ask(self, number: int) -> None:
        unit, base = self._units.units[number], number * self._slots
        assert unit.entry is not None, f"unit {number} looks up without a beat"
        for slot in indices(self._asking[number]):
            found = self._file.look_up(unit.warp, unit.entry.beat.sources[slot])
            if found is None:
                self.refused |= 1 << base + slot
                continue
            self.mapped[base + slot] = found
            self.served |= 1 << base + slot
            self._asking[number] ^= 1 << slot
        if not self._asking[number]:
            self._any ^= 1 << number
            self._answered.append(number)

    def edge(self) -> None:
        """Answers are there from now on."""
        self.unmapped = 0
        for index in indices(self.served):
            if not self.mapped[index].mask:
                self.unmapped |= 1 << index
        for number in self._answered:
            self._present(number)
        self._answered.clear()

    def _present(self, number: int) -> None:
        """The slots of a unit that have to be read ask their banks."""
        entry = self._units.units[number].entry
        assert entry is not None, f"unit {number} asks without a beat"
        for slot in range(len(entry.beat.sources)):
            mapped = self.mapped[number * self._slots + slot]
            if mapped.mask:
                self._units.present(number, slot, (mapped.bank, mapped.row))
