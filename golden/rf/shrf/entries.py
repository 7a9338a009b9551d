"""What the entries of active warps hold, and who is about to write them (docs/schemes/shrf.md, section 4)."""

from __future__ import annotations

from warpfile.golden.copies import ALL_LANES, NEVER_WRITTEN, POISON, pack, unpack

Held = tuple[int, int]  #: a row of the trace, and the lanes that do not hold it


def _outdated(held: Held, before: int) -> int:
    """Lanes that do not hold the value ``before``; a register that was never written is right anywhere."""
    row, outdated = held
    if before == NEVER_WRITTEN:
        return 0
    return outdated if row == before else ALL_LANES


class Entries:
    """Entries of all places, numbered place * place_entries + entry.

    An entry may hold different registers in different lanes: for each register that was written to it, a row of the
    trace and the lanes that do not hold it. ``written`` is a mask of entries that beats under way will write.
    """

    def __init__(self, count: int) -> None:
        self._held: list[dict[int, Held]] = [{} for _ in range(count)]
        self.written = 0

    def expects(self, entry: int) -> None:
        """A beat that will write the entry issues."""
        self.written |= 1 << entry

    def held(self, entry: int, register: int) -> int:
        """The copy of a register that is in the entry."""
        held = self._held[entry].get(register)
        return POISON if held is None else pack(*held)

    def write(self, entry: int, register: int, before: int, row: int, lanes: int) -> None:
        """Some lanes of the entry become those of a result that changes a register from ``before`` to ``row``."""
        self._claim(entry, register, lanes)
        held = self._held[entry].get(register, (NEVER_WRITTEN, ALL_LANES))
        self._held[entry][register] = row, _outdated(held, before) & ~lanes

    def bring(self, entry: int, register: int, copy: int, lanes: int) -> None:
        """Some lanes of the entry become those of a copy of a bank's row."""
        self._claim(entry, register, lanes)
        row, lost = unpack(copy)
        held, outdated = self._held[entry].get(register, (row, ALL_LANES))
        kept = outdated if held == row else ALL_LANES
        self._held[entry][register] = row, kept & ~lanes | lost & lanes

    def _claim(self, entry: int, register: int, lanes: int) -> None:
        """The entry does not hold other registers in these lanes any more."""
        self.written &= ~(1 << entry)
        others = self._held[entry]
        if len(others) > (register in others):
            kept = {other: (row, out | lanes) for other, (row, out) in others.items() if other != register}
            kept = {other: held for other, held in kept.items() if held[1] != ALL_LANES}
            self._held[entry] = kept | {register: others[register]} if register in others else kept

    def pass_by(self, entries: range, reached: int, register: int, before: int, row: int, lanes: int) -> None:
        """A result that changes a register reaches one of these entries, or none."""
        for entry in entries:
            copies = self._held[entry]
            if entry != reached and register in copies:
                copies[register] = row, _outdated(copies[register], before) | lanes

    def forget(self, entries: range) -> None:
        """Entries whose values have no further reader."""
        for entry in entries:
            assert not self.written >> entry & 1, f"entry {entry} is lost before it is written"
            self._held[entry].clear()
