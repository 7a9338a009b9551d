"""Which vectors of words are in which rows (docs/schemes/larf.md, sections 6 and 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import encode, lowest_one
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.hdl.renaming.rows import decode_row
from warpfile.hdl.rf.contract import location_layout, places_layout
from warpfile.hdl.rf.shared.address_match import WORD_BITS, AddressMatch, multiple_bits, takes_multiples
from warpfile.hdl.rf.shared.counts import SOURCES
from warpfile.hdl.rf.shared.recent import MostRecent, below
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.shared import STRIDE_BITS, SharedConfig


@dataclass(frozen=True)
class _Side:
    """The nearest entry on one side: in S whether there is one; in D that, its number and its distance."""

    there: Value
    taken: Value
    index: Value
    distance: Value


class AddressTable(wiring.Component):
    """Entries in flip-flops, all compared at once, and what was found for the access, stage by stage.

    Members
    -------
    base, stride : In, mask : In(lanes)   Vector of the access, in words, held from C on.
    compare, select, decide : In(1)   It is in C, S, D.
    found : Out(1)               In S: it needs no D.
    perfect, lower, upper, both : Out(1)   From S, and for all but the first from D, on: the entry with the same vector;
                                 one that is ahead has all lanes; one that is behind; these two together.
    alive : Out(2), places : Out(ArrayLayout)   From then on: the entry that is used first (the perfect one, or that
                                 ahead) is valid, the one that is behind; their rows.
    covers : Out(ArrayLayout), distances : Out(ArrayLayout)   What they give of a merge, the second only what the first
                                 lacks; the distance modulo ``lanes``.
    insert : In(1), place : In   The vector of the access is in this row.
    end : In(1), end_place : In   The entry of this row is invalid from the next cycle on, unless it is inserted.
    ends_range : In(1), last : In   Entries with words from ``base`` to this one are.
    ends_all : In(1), restart : In(1)   All are; and the pointer is 0.
    looks : In(1), look_base, look_stride : In, look_mask : In(lanes), looks_found : Out(1)   A vector that is compared
                                 in place of that of the access, and whether what ``flagged_by`` says was found; only
                                 with ``gives.foresees``.
    pointer, used, deleted : Out, evicted, ended : Out(1)   Where the next one is inserted; valid entries; those that a
                                 store ends; the insertion takes a valid one; there is one to end.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg, self._merges = cfg, cfg.search == "merge"
        place, count = location_layout(cfg), index_bits(cfg.table_entries + 1)
        inputs = ("compare", "select", "decide", "insert", "end", "ends_range", "ends_all", "restart")
        super().__init__(
            {
                **{name: In(1) for name in inputs},
                **{name: In(WORD_BITS) for name in ("base", "last")},
                "stride": In(STRIDE_BITS),
                "mask": In(cfg.lanes),
                **{name: In(place) for name in ("place", "end_place")},
                **{name: Out(1) for name in ("found", "perfect", "lower", "upper", "both", "evicted", "ended")},
                "alive": Out(SOURCES),
                "places": Out(places_layout(cfg, SOURCES)),
                "covers": Out(data.ArrayLayout(cfg.lanes, SOURCES)),
                "distances": Out(data.ArrayLayout(index_bits(cfg.lanes), SOURCES)),
                "pointer": Out(index_bits(cfg.table_entries)),
                **{name: Out(count) for name in ("used", "deleted")},
                **(_look_members(cfg) if cfg.gives.foresees else {}),
            }
        )

    def elaborate(self, platform) -> Module:
        """The entries, C, S, D, and which entries are still valid."""
        m = Module()
        cfg, count = self._cfg, self._cfg.table_entries
        self._valid = Signal(count, name="valid")
        self._masks, self._places = (
            [Signal(width, name=f"{name}{entry}", reset_less=True) for entry in range(count)]
            for name, width in (("mask", cfg.lanes), ("place", cfg.bank_bits + cfg.row_bits))
        )
        self._mask_columns = _columns(m, "mask_column", self._masks)
        self._place_columns = _columns(m, "place_column", self._places)
        here = named(m, "at_pointer", decode_row(m, self.pointer, count))
        matches = self._matches(m, here)
        self._below = below(m, here)
        self._perfect = Signal(count, name="perfect_entries", reset_less=True)
        with m.If(self.compare):
            m.d.sync += self._perfect.eq(Cat(match.perfect for match in matches))
        self._change(m, here, matches)
        self._select(m)
        self._follow(m)
        if self._merges:
            self._merge(m, matches)
        else:
            m.d.comb += self.found.eq(1)
        return m

    def _matches(self, m: Module, here: Value) -> list[wiring.PureInterface]:
        """Every entry, as it lies to the access."""
        matches = []
        wanted_base, wanted_stride, wanted = self._wanted(m)
        multiples = self._multiples(m, wanted_stride) if takes_multiples(self._cfg) else Const(0)
        inserts = named(m, "inserts", here & self.insert.replicate(len(here)))
        for entry in range(self._cfg.table_entries):
            base, stride = (
                Signal(width, name=f"{name}{entry}", reset_less=True)
                for name, width in (("base", WORD_BITS), ("stride", STRIDE_BITS))
            )
            kept = (base, self.base), (stride, self.stride), (self._masks[entry], self.mask)
            with m.If(inserts[entry]):
                m.d.sync += [into.eq(value) for into, value in (*kept, (self._places[entry], self.place))]
            match = stamp(m, f"entry{entry}", "address_match", lambda: AddressMatch(self._cfg), clocked=False)
            own = {"valid": self._valid[entry], "base": base, "stride": stride, "mask": self._masks[entry]}
            own |= {"wanted_base": wanted_base, "wanted_stride": wanted_stride, "wanted": wanted, "last": self.last}
            m.d.comb += [getattr(match, name).eq(value) for name, value in own.items()]
            if takes_multiples(self._cfg):
                m.d.comb += match.multiples.eq(multiples)
            matches.append(match)
        if self._cfg.gives.foresees:
            m.d.comb += self.looks_found.eq(self.looks & Cat(self._flags(match) for match in matches).any())
        return matches

    def _multiples(self, m: Module, stride: Value) -> Value:
        """Of a stride, from the first one on."""
        bits = multiple_bits(self._cfg)
        times = [named(m, f"times{factor}", factor * stride) for factor in range(1, max(2, self._cfg.lanes))]
        return named(m, "multiples", Cat((value | Const(0, bits))[:bits] for value in times))

    def _wanted(self, m: Module) -> tuple[Value, Value, Value]:
        """What all entries are compared with: first word, stride, lanes."""
        if not self._cfg.gives.foresees:
            return self.base, self.stride, self.mask
        pairs = (("base", self.look_base), ("stride", self.look_stride), ("mask", self.look_mask))
        base, stride, mask = (
            named(m, f"wanted_{name}", Mux(self.looks, look, getattr(self, name))) for name, look in pairs
        )
        return base, stride, mask

    def _flags(self, match: wiring.PureInterface) -> Value:
        """Whether an entry is one that ``flagged_by`` asks for."""
        some = self._cfg.flagged_by == "any"
        return Cat(match.ahead, match.behind).any() if some else match.perfect

    def _change(self, m: Module, here: Value, matches: list) -> None:
        """What ends goes before what is inserted."""
        count = self._cfg.table_entries
        named_rows = Cat(place == self.end_place.as_value() for place in self._places)
        ended = named(m, "ended_entries", named_rows & self._valid & self.end.replicate(count))
        meets = Cat(match.meets for match in matches) & self.ends_range.replicate(count)
        deleted = named(m, "deleted_entries", meets | (self._valid & self.ends_all.replicate(count)))
        left = named(m, "left", self._valid & ~ended & ~deleted & ~self.restart.replicate(count))
        m.d.sync += self._valid.eq(left | (here & self.insert.replicate(count)))
        with m.If(self.restart):
            m.d.sync += self.pointer.eq(0)
        with m.Elif(self.insert):
            m.d.sync += self.pointer.eq(Mux(self.pointer == count - 1, 0, self.pointer + 1))
        m.d.comb += [
            self.ended.eq(ended.any()),
            self.evicted.eq(self.insert & (self._valid & ~ended & here).any()),
            self.used.eq(count_ones(list(self._valid))),
            self.deleted.eq(count_ones(list(deleted))),
        ]

    def _select(self, m: Module) -> None:
        """S: the most recent perfect entry, with its row, and whether it is valid now."""
        columns = self._place_columns
        recent = self._recent(m, "perfect", self._perfect, len(columns) + 1)
        m.d.comb += [into.eq(column) for into, column in zip(recent.notes, (*columns, self._valid), strict=True)]
        self._some = named(m, "some_perfect", self._perfect.any())
        self._first, self._first_valid = recent.note[:-1], recent.note[-1]
        with m.If(self.select):
            m.d.sync += self.perfect.eq(self._some)

    def _recent(self, m: Module, name: str, entries: Value, notes: int = 0) -> wiring.PureInterface:
        kind = f"most_recent{notes}" if notes else "most_recent"
        count = self._cfg.table_entries
        part = stamp(m, f"{name}_recent", kind, lambda: MostRecent(count, notes), clocked=False)
        m.d.comb += [part.entries.eq(entries), part.below.eq(self._below)]
        return part

    def _follow(self, m: Module) -> None:
        """Rows of the entries that are used, and whether these are valid. What ended in a cycle is looked at in the
        next one, because it is known late.
        """
        ended, row = Signal(name="ended_before"), Signal(len(self._first), name="ended_row", reset_less=True)
        m.d.sync += [ended.eq(self.end), row.eq(self.end_place)]
        self._valid_now = Signal(SOURCES, name="valid_now")
        held = Signal(SOURCES, name="valid_held", reset_less=True)
        gone = Cat(place.as_value() == row for place in self.places) & ended.replicate(SOURCES)
        m.d.comb += [self.alive.eq(held & ~gone), self._valid_now.eq(self.alive)]
        m.d.sync += held.eq(self._valid_now)
        with m.If(self.select):
            m.d.comb += self._valid_now[0].eq(self._first_valid)
            m.d.sync += self.places[0].eq(self._first)

    def _merge(self, m: Module, matches: list) -> None:
        """C: entries by distance. S: the nearest ones, of these the most recent. D: their lanes."""
        count, bits = self._cfg.table_entries, index_bits(self._cfg.lanes)
        self._distance = Signal(data.ArrayLayout(bits, count), name="distance", reset_less=True)
        with m.If(self.compare):
            m.d.sync += [into.eq(match.distance) for into, match in zip(self._distance, matches, strict=True)]
        ahead = self._nearest(m, 0, "ahead", [match.ahead for match in matches])
        behind = self._nearest(m, 1, "behind", [match.behind for match in matches])
        m.d.comb += self.found.eq(self._some | ~(ahead.there | behind.there))
        covers = [named(m, f"cover{at}", self._cover(m, at, side)) for at, side in enumerate((ahead, behind))]
        lower, upper = (named(m, f"all{at}", cover == self.mask) for at, cover in enumerate(covers))
        with m.If(self.select):
            m.d.sync += Cat(self.lower, self.upper, self.both).eq(0)
        with m.If(self.decide):
            m.d.sync += [
                self.lower.eq(lower),
                self.upper.eq(upper & ~lower),
                self.both.eq(((covers[0] | covers[1]) == self.mask) & ~lower & ~upper),
                self.covers.eq(Cat(covers[0], covers[1] & ~covers[0])),
                self.distances.eq(Cat(ahead.distance, (-behind.distance)[:bits])),
            ]

    def _nearest(self, m: Module, at: int, name: str, hits: Sequence[Value]) -> _Side:
        """The nearest entries on one side; the first distance there is ``at``."""
        bits, compare, select = index_bits(self._cfg.lanes), self.compare, self.select
        some = Signal(self._cfg.table_entries, name=f"{name}_entries", reset_less=True)
        distances = Signal(len(hits[0]), name=f"{name}_distances", reset_less=True)
        with m.If(compare):
            m.d.sync += [some.eq(Cat(bits.any() for bits in hits)), distances.eq(_any_of(hits))]
        first = Cat(Const(0, at), lowest_one(distances))
        nearest = named(m, f"{name}_nearest", encode(first, bits))
        entries = named(m, f"{name}_candidates", some & Cat(one == nearest for one in self._distance))
        recent = self._recent(m, name, entries)
        there = Signal(name=f"{name}_there", reset_less=True)
        index = Signal(len(recent.index), name=f"{name}_index", reset_less=True)
        distance = Signal(bits, name=f"{name}_distance", reset_less=True)
        with m.If(select):
            m.d.sync += [there.eq(distances.any()), index.eq(recent.index), distance.eq(nearest)]
        return _Side(distances.any(), there, index, distance)

    def _cover(self, m: Module, at: int, side: _Side) -> Value:
        """Lanes of the access that an entry gives; its row and whether it is valid are kept."""
        lanes, entry = self._cfg.lanes, decode_row(m, side.index, self._cfg.table_entries)
        columns = (*self._mask_columns, *self._place_columns, self._valid)
        word = named(m, f"entry_read{at}", Cat((column & entry).any() for column in columns))
        with m.If(self.decide):
            m.d.comb += self._valid_now[at].eq(word[-1])
            m.d.sync += self.places[at].eq(word[lanes:-1])
        # One bit more than lanes: Verilator 5 shifts a concatenation of 32 reductions as a signed number.
        given = Cat(word[:lanes], Const(0, 1))
        moved = given << side.distance if at else given >> side.distance
        return moved[:lanes] & self.mask & side.taken.replicate(lanes)


def _look_members(cfg: SharedConfig) -> dict[str, wiring.Member]:
    vector = {"look_base": In(WORD_BITS), "look_stride": In(STRIDE_BITS), "look_mask": In(cfg.lanes)}
    return {"looks": In(1), **vector, "looks_found": Out(1)}


def _any_of(rows: Sequence[Value]) -> Value:
    """OR of many rows, bit by bit."""
    return Cat(Cat(row[bit] for row in rows).any() for bit in range(len(rows[0])))


def _columns(m: Module, name: str, words: Sequence[Value]) -> list[Value]:
    """Bit by bit, what all words have there."""
    return [named(m, name, Cat(word[bit] for word in words)) for bit in range(len(words[0]))]
