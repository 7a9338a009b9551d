"""Which line of a place's cache a new register takes (docs/schemes/rfc.md, section 3, step 1)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, lowest_one, oldest_one, prefix_or
from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.rfc import RfcConfig


def head_bits(cfg: RfcConfig) -> int:
    """Width of the number of the line where the search for a victim starts."""
    return index_bits(max(2, cfg.cache_entries))


class LineOrder(wiring.Component):
    """Order of use among the lines of one place, as a triangle of bits.

    Members
    -------
    touches : In(ArrayLayout)        Lines used in this cycle, each one-hot or zero, the first use first.
    older : Out(cache_entries ** 2)  Bit ``cache_entries * a + b``: a was used longer ago than b. Zero on the diagonal.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        lines = cfg.cache_entries
        touches = data.ArrayLayout(lines, cfg.source_slots + 1)
        super().__init__({"touches": In(touches), "older": Out(lines**2)})

    def elaborate(self, platform) -> Module:
        """One register per pair of lines; the last use decides."""
        m = Module()
        lines = self._cfg.cache_entries
        for first in range(lines):
            for second in range(first + 1, lines):
                order = Signal(name=f"first{first}_older{second}", init=1)
                after = order
                for touch in self.touches:
                    after = (after | touch[second]) & ~touch[first]
                m.d.sync += order.eq(after)
                m.d.comb += self.older[first * lines + second].eq(order)
                m.d.comb += self.older[second * lines + first].eq(~order)
        return m


class VictimChoice(wiring.Component):
    """The line that a new register takes: an empty one, or one without a read to come.

    Members
    -------
    valid, pinned, dead, evict_first : In(cache_entries)   Lines with a register, and what is known of it.
    head : In(head_bits(cfg))        Where the search starts; not for ``lru``.
    older : In(cache_entries ** 2)   Order of use; only for ``lru``.
    line : Out(cache_entries)        One-hot in the same cycle, zero if all are pinned.
    advances : Out(1)                Head moves behind it, if it is taken.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        lines = cfg.cache_entries
        members = {
            **{name: In(lines) for name in ("valid", "pinned", "dead", "evict_first")},
            "line": Out(lines),
            "advances": Out(1),
        }
        members |= {"older": In(lines**2)} if cfg.replacement == "lru" else {"head": In(head_bits(cfg))}
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """One candidate of each kind, and the kind that is first."""
        m = Module()
        empty, loose = named(m, "empty", ~self.valid), named(m, "loose", ~self.pinned)
        if self._cfg.replacement == "lru":
            m.d.comb += self.line.eq(Mux(empty.any(), lowest_one(empty), oldest_one(loose, self.older)))
            return m
        start = named(m, "start", prefix_or(decode(self.head, self._cfg.cache_entries)))
        choice, advances = self._from_head(m, "first_loose", loose, start), ~empty.any()
        if self._cfg.replacement == "evict_first":
            useless = named(m, "useless", loose & (self.dead | self.evict_first))
            choice = Mux(useless.any(), self._from_head(m, "first_useless", useless, start), choice)
            advances = advances & ~useless.any()
        m.d.comb += [self.line.eq(Mux(empty.any(), lowest_one(empty), choice)), self.advances.eq(advances)]
        return m

    def _from_head(self, m: Module, name: str, lines: Value, start: Value) -> Value:
        """The first of the lines at or after head, cyclically."""
        behind = named(m, f"{name}_behind", lines & start)
        return named(m, name, Mux(behind.any(), lowest_one(behind), lowest_one(lines)))


def following(m: Module, line: Value) -> Value:
    """One-hot of the line after a line, cyclically."""
    return named(m, "following", Cat(line[-1], line[:-1]))
