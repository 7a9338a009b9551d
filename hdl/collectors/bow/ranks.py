"""Order in which the entries of an operand window were taken."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.spec.schemes.bow import BowConfig


class EntryRanks(wiring.Component):
    """Who of two entries was taken before the other: a bit per pair, so that nothing is counted or compared.

    In one cycle first a result takes an entry, then the sources of a beat take theirs, a lower entry before a higher
    one, because every source takes the lowest that is left.

    Members
    -------
    had : In(window_entries), accepted : In(1)   Entry that a result would take, one-hot or zero; it takes it.
    taken : In(window_entries)         Entries that sources take.
    older : Out(window_entries ** 2)   Bit ``window_entries * a + b``: a was taken before b.
    older_then : Out(window_entries ** 2)   The same after the result, if it is accepted.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._entries = cfg.window_entries
        pairs = cfg.window_entries**2
        super().__init__(
            {
                "had": In(cfg.window_entries),
                "accepted": In(1),
                "taken": In(cfg.window_entries),
                "older": Out(pairs),
                "older_then": Out(pairs),
            }
        )

    def elaborate(self, platform) -> Module:
        """A register per pair; at first a lower entry counts as older."""
        m = Module()
        size = self._entries
        for low in range(size):
            for high in range(low + 1, size):
                older = Signal(name=f"older{low}_{high}", init=1)
                then = named(m, f"then{low}_{high}", ~self.had[low] & (older | self.had[high]))
                m.d.comb += [
                    Cat(self.older[low * size + high], self.older[high * size + low]).eq(Cat(older, ~older)),
                    Cat(self.older_then[low * size + high], self.older_then[high * size + low]).eq(Cat(then, ~then)),
                ]
                m.d.sync += older.eq(self.taken[high] | (~self.taken[low] & Mux(self.accepted, then, older)))
        return m
