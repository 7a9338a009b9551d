"""The lowest of many rows, with a note of it."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import encode, lowest_one, select
from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits


class LowestRow(wiring.Component):
    """Finds the lowest set bit in logarithmic depth: in groups of neighbours, then among the groups.

    Members
    -------
    rows : In(count)             Where to look.
    notes : In(ArrayLayout)      Notes of every row, bit by bit: bit k of all rows together; only with ``notes``.
    found : Out(1)               Some bit is set.
    row : Out, note : Out(notes)   Its number and its notes; zero for none.
    """

    def __init__(self, count: int, notes: int = 0) -> None:
        self._count, self._notes = count, notes
        self._group = 1 << (index_bits(count) + 1) // 2
        members: dict[str, wiring.Member] = {"rows": In(count), "found": Out(1), "row": Out(index_bits(count))}
        if notes:
            members |= {"notes": In(data.ArrayLayout(count, notes)), "note": Out(notes)}
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Number and notes are found in every group at once; the lowest group that has a row gives its own."""
        m = Module()
        starts = range(0, self._count, self._group)
        some = named(m, "some", Cat(self.rows[start : start + self._group].any() for start in starts))
        chosen = named(m, "chosen", lowest_one(some))
        answers = [named(m, f"answer{start}", self._answer(m, start)) for start in starts]
        low = self._group.bit_length() - 1
        answer = select(chosen, answers)
        number = Cat(answer[:low], encode(chosen, index_bits(len(answers))))
        m.d.comb += [self.found.eq(some.any()), self.row.eq(number)]
        if self._notes:
            m.d.comb += self.note.eq(answer[low:])
        return m

    def _answer(self, m: Module, start: int) -> Value:
        """Number within a group, and notes."""
        rows = slice(start, start + self._group)
        lowest = named(m, f"lowest{start}", lowest_one(self.rows[rows]))
        notes = [(lowest & column[rows]).any() for column in self._columns()]
        return Cat(encode(lowest, self._group.bit_length() - 1), *notes)

    def _columns(self) -> list[Value]:
        return list(self.notes) if self._notes else []
