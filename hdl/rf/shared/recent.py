"""The most recent of the entries of a table that is filled in a ring."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import named_prefix_or, reverse
from warpfile.hdl.naming import named
from warpfile.hdl.renaming.lowest import LowestRow
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits


class MostRecent(wiring.Component):
    """Finds the entry that was filled last: the highest one below the pointer, or else the highest. Combinational.

    Members
    -------
    entries : In(count)          Where to look.
    below : In(count)            Entries below the pointer.
    notes : In(ArrayLayout)      Notes of every entry, bit by bit; only with ``notes``.
    index : Out, note : Out(notes)   Its number and its notes; nothing of meaning for none.
    """

    def __init__(self, count: int, notes: int = 0) -> None:
        self._count, self._notes = count, notes
        members: dict[str, wiring.Member] = {**{name: In(count) for name in ("entries", "below")}}
        members["index"] = Out(index_bits(count))
        if notes:
            members |= {"notes": In(data.ArrayLayout(count, notes)), "note": Out(notes)}
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Both searches at once, from the other end."""
        m = Module()
        young, any_ = self._search(m, "young", self.entries & self.below), self._search(m, "any", self.entries)
        m.d.comb += self.index.eq(~Mux(young.found, young.row, any_.row))
        if self._notes:
            m.d.comb += self.note.eq(Mux(young.found, young.note, any_.note))
        return m

    def _search(self, m: Module, name: str, entries: Value) -> wiring.PureInterface:
        kind = f"last_entry{self._notes}" if self._notes else "last_entry"
        count = 1 << len(self.index)
        tree = stamp(m, name, kind, lambda: LowestRow(count, self._notes), clocked=False)
        missing = Const(0, count - self._count)
        m.d.comb += tree.rows.eq(Cat(missing, reverse(entries)))
        if self._notes:
            columns = zip(tree.notes, self.notes, strict=True)
            m.d.comb += [into.eq(Cat(missing, reverse(column))) for into, column in columns]
        return tree


def below(m: Module, pointer: Value) -> Value:
    """Entries below a pointer, which is one-hot."""
    turned = named_prefix_or(m, "from_above", named(m, "turned", reverse(pointer)))
    return named(m, "below", reverse(turned) >> 1)
