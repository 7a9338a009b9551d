"""What an access gets of what was found for it (docs/schemes/larf.md, section 8, state D)."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.hdl.rf.shared.counts import SOURCES
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.shared import SharedConfig

CHOSEN = 3  #: entries that S chooses: the perfect one, the nearest ones ahead and behind


def found_layout(cfg: SharedConfig) -> data.StructLayout:
    """Found or not; number of an entry; how many lanes it is away."""
    bits = index_bits(cfg.lanes)
    return data.StructLayout({"found": 1, "index": index_bits(cfg.table_entries), "distance": bits})


def named_layout(cfg: SharedConfig) -> data.StructLayout:
    """Number of an entry, its row, its lanes."""
    return data.StructLayout({"index": index_bits(cfg.table_entries), "place": location_layout(cfg), "mask": cfg.lanes})


class Decide(wiring.Component):
    """Puts the entry of the load ahead in its place among those that were chosen, and finds the class. Combinational.

    Members
    -------
    mask : In(lanes)             Lanes of the access.
    found : In(ArrayLayout), places : In(ArrayLayout), masks : In(ArrayLayout)   The perfect entry, the nearest one
                                 ahead, the nearest one behind; their rows; their lanes (of the first it does not
                                 matter).
    inserted : In(1), last : In(named_layout(cfg))   A load ahead was compared, and has inserted this entry.
    perfect_ahead, ahead, behind : In(1), distance : In   It matched, and how; how many lanes it is away.
    perfect, lower, upper, both : Out(1)   The class: the entry with the same vector; the one that is ahead has all
                                 lanes; the one that is behind; these two together; a miss if it is none of them.
    used : Out(2)                The entry that is used first is that of the load ahead; the one that is behind is.
    indices, rows : Out(ArrayLayout)   Of the entry that is used first (the perfect one, or that ahead), and of the one
                                 that is behind: number, row.
    covers, distances : Out(ArrayLayout)   What those give of a merge, the second only what the first lacks; the
                                 distance modulo ``lanes``.
    takes : Out(1)               The entry of the load ahead takes some place.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        lanes, bits = cfg.lanes, index_bits(cfg.lanes)
        inputs = ("inserted", "perfect_ahead", "ahead", "behind")
        super().__init__(
            {
                "mask": In(lanes),
                "found": In(data.ArrayLayout(found_layout(cfg), CHOSEN)),
                "places": In(places_layout(cfg, CHOSEN)),
                "masks": In(data.ArrayLayout(lanes, CHOSEN)),
                **{name: In(1) for name in inputs},
                "last": In(named_layout(cfg)),
                "distance": In(bits),
                **{name: Out(1) for name in ("perfect", "lower", "upper", "both", "takes")},
                "used": Out(SOURCES),
                "indices": Out(data.ArrayLayout(index_bits(cfg.table_entries), SOURCES)),
                "rows": Out(places_layout(cfg, SOURCES)),
                "covers": Out(data.ArrayLayout(lanes, SOURCES)),
                "distances": Out(data.ArrayLayout(bits, SOURCES)),
            }
        )

    def elaborate(self, platform) -> Module:
        """The three rules of section 8."""
        m = Module()
        left = [named(m, f"left{at}", self._left(entry)) for at, entry in enumerate(self.found)]
        takes = [named(m, "takes0", self.inserted & self.perfect_ahead)]
        for at, matched in ((1, self.ahead), (2, self.behind)):
            nearer = self.distance <= self.found[at].distance
            takes.append(named(m, f"takes{at}", self.inserted & matched & (~left[at] | nearer)))
        same, ahead, behind = (self._source(m, at, take) for at, take in enumerate(takes))
        perfect = named(m, "is_perfect", left[0] | takes[0])
        m.d.comb += [
            self.takes.eq(Cat(takes).any()),
            self.used.eq(Cat(Mux(perfect, takes[0], takes[1]), takes[2])),
            self.indices.eq(Cat(Mux(perfect, same.index, ahead.index), behind.index)),
            self.rows.eq(Cat(Mux(perfect, same.place.as_value(), ahead.place.as_value()), behind.place)),
        ]
        # One bit more than lanes: Verilator 5 shifts a concatenation of 32 reductions as a signed number.
        moved = Cat(ahead.mask, Const(0, 1)) >> ahead.distance, Cat(behind.mask, Const(0, 1)) << behind.distance
        there = left[1] | takes[1], left[2] | takes[2]
        self._class(m, perfect, [self._cover(m, *pair) for pair in zip(moved, there, strict=True)])
        m.d.comb += self.distances.eq(Cat(ahead.distance, (-behind.distance)[: len(behind.distance)]))
        return m

    def _left(self, entry: data.View) -> Value:
        """Found, and not taken by the insertion since."""
        return entry.found & ~(self.inserted & (entry.index == self.last.index))

    def _source(self, m: Module, at: int, takes: Value) -> data.View:
        """Number, row, lanes and distance of an entry that is chosen."""
        found, entry = self.found[at], named_layout(self._cfg)
        layout = data.StructLayout({**entry.members, "distance": len(self.distance)})
        other = Cat(found.index, self.places[at], self.masks[at], found.distance)
        return data.View(layout, named(m, f"source{at}", Mux(takes, Cat(self.last, self.distance), other)))

    def _cover(self, m: Module, moved: Value, there: Value) -> Value:
        """Lanes of the access that an entry gives."""
        return named(m, "cover", moved[: len(self.mask)] & self.mask & there.replicate(len(self.mask)))

    def _class(self, m: Module, perfect: Value, covers: list[Value]) -> None:
        lower, upper = (
            named(m, name, cover == self.mask) for name, cover in zip(("all1", "all2"), covers, strict=True)
        )
        together = (covers[0] | covers[1]) == self.mask
        m.d.comb += [
            self.perfect.eq(perfect),
            self.lower.eq(~perfect & lower),
            self.upper.eq(~perfect & upper & ~lower),
            self.both.eq(~perfect & together & ~lower & ~upper),
            self.covers.eq(Cat(covers[0], covers[1] & ~covers[0])),
        ]
