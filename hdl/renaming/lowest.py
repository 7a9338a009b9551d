"""The lowest of many rows, with a note of it."""

from amaranth import Cat, Const, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits


class LowestRow(wiring.Component):
    """Finds the lowest set bit in logarithmic depth: of two neighbours, then of two neighbouring pairs, and so on.

    Members
    -------
    rows : In(count)             Where to look.
    notes : In(ArrayLayout)      Notes of every row, bit by bit: bit k of all rows together; only with ``notes``.
    found : Out(1)               Some bit is set.
    row : Out, note : Out(notes)   Its number and its notes; zero for none.
    """

    def __init__(self, count: int, notes: int = 0) -> None:
        self._count, self._notes = count, notes
        members: dict[str, wiring.Member] = {"rows": In(count), "found": Out(1), "row": Out(index_bits(count))}
        if notes:
            members |= {"notes": In(data.ArrayLayout(count, notes)), "note": Out(notes)}
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """A tree of pairs. What is said of a row, or of none, is zero where no bit is set."""
        m = Module()
        some: Value = self.rows
        notes = [named(m, "marked", column & some) for column in (self.notes if self._notes else ())]
        number: list[Value] = []
        level = 0
        while len(some) > 1:
            level += 1
            low, high = _halves(some)
            number, notes = (
                [named(m, f"level{level}_{name}{bit}", _said(word, low)) for bit, word in enumerate(words)]
                for name, words in (("row", number), ("note", notes))
            )
            number.append(named(m, f"level{level}_row{level - 1}", high & ~low))
            some = named(m, f"level{level}_some", low | high)
        m.d.comb += [self.found.eq(some), self.row.eq(Cat(number))]
        if self._notes:
            m.d.comb += self.note.eq(Cat(notes))
        return m


def _halves(bits: Value) -> tuple[Value, Value]:
    """The lower and the higher one of all pairs; what is missing at the end is zero."""
    return bits[::2], Cat(bits[1::2], Const(0, len(bits) % 2))


def _said(bits: Value, low: Value) -> Value:
    """One bit of what is said: that of the lower half, unless no row is set there."""
    first, second = _halves(bits)
    return first | (second & ~low)
