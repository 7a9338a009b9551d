"""Order in which the entries of an operand window were taken."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.spec.schemes.bow import BowConfig


class EntryRanks(wiring.Component):
    """A rank per entry, 0 the one taken longest ago; always a permutation.

    In one cycle first a result takes an entry, then the sources of a beat take theirs, a lower entry before a higher
    one, because every source takes the lowest that is left.

    Members
    -------
    had : In(window_entries)           Entry that a result takes, one-hot or zero.
    taken : In(window_entries)         Entries that sources take.
    older : Out(window_entries ** 2)   Bit ``window_entries * a + b``: a was taken before b.
    older_then : Out(window_entries ** 2)   The same after the result.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._entries, self._bits = cfg.window_entries, cfg.entry_bits
        pairs = cfg.window_entries**2
        super().__init__(
            {
                "had": In(cfg.window_entries),
                "taken": In(cfg.window_entries),
                "older": Out(pairs),
                "older_then": Out(pairs),
            }
        )

    def elaborate(self, platform) -> Module:
        """Comparisons of all pairs; the new rank of an entry is the number of those that are before it."""
        m = Module()
        size = self._entries
        ranks = [Signal(self._bits, name=f"rank{entry}", init=entry) for entry in range(size)]
        before: list[list[Value]] = [[] for _ in ranks]
        for low in range(size):
            for high in range(low + 1, size):
                older = named(m, f"older{low}_{high}", ranks[low] < ranks[high])
                then = named(m, f"then{low}_{high}", ~self.had[low] & (older | self.had[high]))
                later = named(m, f"next{low}_{high}", self.taken[high] | (~self.taken[low] & then))
                m.d.comb += [
                    Cat(self.older[low * size + high], self.older[high * size + low]).eq(Cat(older, ~older)),
                    Cat(self.older_then[low * size + high], self.older_then[high * size + low]).eq(Cat(then, ~then)),
                ]
                before[high].append(later)
                before[low].append(~later)
        m.d.sync += [rank.eq(count_ones(others)) for rank, others in zip(ranks, before, strict=True)]
        return m
