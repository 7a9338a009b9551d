"""Which vectors of words are in which rows (docs/schemes/larf.md, sections 6 and 8)."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import encode, lowest_one
from warpfile.hdl.clock_gate import take
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.hdl.renaming.rows import decode_row
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.hdl.rf.shared.address_match import WORD_BITS, AddressMatch, multiple_bits, takes_multiples
from warpfile.hdl.rf.shared.counts import SOURCES
from warpfile.hdl.rf.shared.decide import Decide, found_layout, named_layout
from warpfile.hdl.rf.shared.recent import MostRecent, below
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.shared import STRIDE_BITS, SharedConfig


class AddressTable(wiring.Component):
    """Entries in flip-flops, all compared at once, and what was found for the accesses, stage by stage.

    Members
    -------
    base, stride : In, mask : In(lanes)   Vector of the access in the second stage, in words.
    compare, select, delete : In(1)   That is in C, S, K.
    ends_range : In(1), last : In   In K: entries with words from ``base`` to this one are deleted.
    ends_all : In(1)             In K: all are.
    own_base, own_stride : In, own_mask : In(lanes)   Vector of the access in the third stage.
    decide, acting, recheck : In(1)   That is in D, E, R.
    perfect, lower, upper, both : Out(1)   In E: the entry with the same vector; the one that is ahead has all lanes;
                                 the one that is behind; these two together; none of them for a miss.
    alive : Out(2), places : Out(ArrayLayout)   In E: the entry that is used first (the perfect one, or that ahead) is
                                 valid, the one that is behind; their rows.
    covers : Out(ArrayLayout), distances : Out(ArrayLayout)   In E: what they give of a merge, the second only what the
                                 first lacks; the distance modulo ``lanes``.
    acts : In(1), insert : In(1), place : In   E acts; the vector of its access is in this row.
    end : In(1), end_place : In   The entry of this row is invalid from the next cycle on, unless it is inserted.
    restart : In(1)              All are; and the pointer is 0.
    looks : In(1), look_base, look_stride : In, look_mask : In(lanes), looks_found : Out(1)   A vector that is compared
                                 instead of that of the access, and whether what ``flagged_by`` asks for was found;
                                 only with ``gives.lookahead``.
    pointer, used, deleted : Out   Where the next one is inserted; valid entries; those that K deletes.
    evicted, ended : Out(1)      The insertion takes a valid one; there is one to end.
    ahead, again : Out(1)        D chooses the entry of the load ahead; R deletes it.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg, self._finds, self._merges = cfg, cfg.search != "none", cfg.search == "merge"
        place, count = location_layout(cfg), index_bits(cfg.table_entries + 1)
        inputs = ("compare", "select", "delete", "ends_range", "ends_all", "decide", "acting", "recheck", "acts")
        inputs += ("insert", "end", "restart")
        outputs = ("perfect", "lower", "upper", "both", "evicted", "ended", "ahead", "again")
        super().__init__(
            {
                **{name: In(1) for name in inputs},
                **{name: In(WORD_BITS) for name in ("base", "last", "own_base")},
                **{name: In(STRIDE_BITS) for name in ("stride", "own_stride")},
                **{name: In(cfg.lanes) for name in ("mask", "own_mask")},
                **{name: In(place) for name in ("place", "end_place")},
                **{name: Out(1) for name in outputs},
                "alive": Out(SOURCES),
                "places": Out(places_layout(cfg, SOURCES)),
                "covers": Out(data.ArrayLayout(cfg.lanes, SOURCES)),
                "distances": Out(data.ArrayLayout(index_bits(cfg.lanes), SOURCES)),
                "pointer": Out(index_bits(cfg.table_entries)),
                **{name: Out(count) for name in ("used", "deleted")},
                **(_look_members(cfg) if cfg.gives.lookahead else {}),
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
        own = self._load_ahead(m)
        self._follow_last(m)
        self._change(m, here, matches)
        if self._finds:
            self._decide(m, self._select(m, here, matches), own)
        return m

    def _matches(self, m: Module, here: Value) -> list[wiring.PureInterface]:
        """Every entry, as it lies to the access."""
        matches = []
        cfg = self._cfg
        wanted_base, wanted_stride, wanted = self._wanted(m)
        self._multiples = _multiples(m, self._cfg, wanted_stride) if takes_multiples(self._cfg) else Const(0)
        inserts = named(m, "inserts", here & self.insert.replicate(len(here)))
        for entry in range(self._cfg.table_entries):
            base, stride = (
                Signal(width, name=f"{name}{entry}", reset_less=True)
                for name, width in (("base", WORD_BITS), ("stride", STRIDE_BITS))
            )
            kept = base, stride, self._masks[entry], self._places[entry]
            values = self.own_base, self.own_stride, self.own_mask, self.place
            take(m, cfg, f"entry{entry}", kept, (inserts[entry], values))
            own = {"valid": self._valid[entry], "base": base, "stride": stride, "mask": self._masks[entry]}
            own |= {"wanted_base": wanted_base, "wanted_stride": wanted_stride, "wanted": wanted}
            matches.append(self._match(m, f"entry{entry}", own))
        if self._cfg.gives.lookahead:
            m.d.comb += self.looks_found.eq(self.looks & Cat(self._flags(match) for match in matches).any())
        return matches

    def _match(self, m: Module, name: str, lies: dict[str, Value]) -> wiring.PureInterface:
        """How one entry, or what will be one, and the access lie to each other."""
        match = stamp(m, name, "address_match", lambda: AddressMatch(self._cfg), clocked=False)
        m.d.comb += [*(getattr(match, port).eq(value) for port, value in lies.items()), match.last.eq(self.last)]
        if takes_multiples(self._cfg):
            m.d.comb += match.multiples.eq(self._multiples)
        return match

    def _load_ahead(self, m: Module) -> wiring.PureInterface:
        """That of the third stage, which has yet to act: like an entry. Whether K meets it is kept for R."""
        there = named(m, "load_ahead", self.decide | self.acting)
        lies = {"valid": there, "base": self.own_base, "stride": self.own_stride, "mask": self.own_mask}
        lies |= {"wanted_base": self.base, "wanted_stride": self.stride, "wanted": self.mask}
        own = self._match(m, "load_ahead_match", lies)
        self._met, self._compared = (Signal(name=name, reset_less=True) for name in ("met", "compared"))
        with m.If(self.delete):
            m.d.sync += self._met.eq(there & (self.ends_all | (self.ends_range & own.meets)))
        with m.If(self.compare):
            m.d.sync += self._compared.eq(there)
        return own

    def _follow_last(self, m: Module) -> None:
        """The entry that was inserted when E acted last, if one was."""
        inserted = Signal(name="inserted")
        self._last = last = Signal(named_layout(self._cfg), name="last_entry", reset_less=True)
        with m.If(self.acts):
            m.d.sync += [
                inserted.eq(self.insert),
                last.index.eq(self.pointer),
                last.mask.eq(self.own_mask),
                last.place.eq(self.place),
            ]
        self._inserted = inserted
        self._at_last = named(m, "at_last", decode_row(m, last.index, self._cfg.table_entries))
        m.d.comb += self.again.eq(self.recheck & self._met & inserted)

    def _wanted(self, m: Module) -> tuple[Value, Value, Value]:
        """What all entries are compared with: first word, stride, lanes."""
        if not self._cfg.gives.lookahead:
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
        again = self._at_last & self.again.replicate(count)
        self._undeleted = named(m, "undeleted", self._valid & ~deleted)
        left = named(m, "left", self._undeleted & ~ended & ~again & ~self.restart.replicate(count))
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

    def _select(self, m: Module, here: Value, matches: list) -> list[data.View]:
        """C: entries that match. S: of these the most recent, and the nearest ones, by the pointer as it was in C.
        Returns what S found, as D sees it.
        """
        count = self._cfg.table_entries
        same, self._below = (Signal(count, name=name, reset_less=True) for name in ("perfect_entries", "below_pointer"))
        with m.If(self.compare):
            m.d.sync += [same.eq(Cat(match.perfect for match in matches)), self._below.eq(below(m, here))]
        chosen = [self._choice(m, "perfect", same.any(), same)]
        if self._merges:
            bits = index_bits(self._cfg.lanes)
            self._distance = Signal(data.ArrayLayout(bits, count), name="distance", reset_less=True)
            with m.If(self.compare):
                m.d.sync += [into.eq(match.distance) for into, match in zip(self._distance, matches, strict=True)]
            chosen.append(self._nearest(m, 0, "ahead", [match.ahead for match in matches]))
            chosen.append(self._nearest(m, 1, "behind", [match.behind for match in matches]))
        return chosen

    def _choice(self, m: Module, name: str, found: Value, entries: Value, distance: Value | None = None) -> data.View:
        """The most recent of some entries, if there are any."""
        count = self._cfg.table_entries
        recent = stamp(m, f"{name}_recent", "most_recent", lambda: MostRecent(count), clocked=False)
        chosen = Signal(found_layout(self._cfg), name=f"{name}_chosen", reset_less=True)
        m.d.comb += [recent.entries.eq(entries), recent.below.eq(self._below)]
        with m.If(self.select):
            m.d.sync += [chosen.found.eq(found), chosen.index.eq(recent.index)]
            if distance is not None:
                m.d.sync += chosen.distance.eq(distance)
        return chosen

    def _nearest(self, m: Module, at: int, name: str, hits: Sequence[Value]) -> data.View:
        """The nearest entries on one side; the first distance there is ``at``."""
        bits = index_bits(self._cfg.lanes)
        some = Signal(self._cfg.table_entries, name=f"{name}_entries", reset_less=True)
        distances = Signal(len(hits[0]), name=f"{name}_distances", reset_less=True)
        with m.If(self.compare):
            m.d.sync += [some.eq(Cat(bits.any() for bits in hits)), distances.eq(_any_of(hits))]
        first = Cat(Const(0, at), lowest_one(distances))
        nearest = named(m, f"{name}_nearest", encode(first, bits))
        entries = named(m, f"{name}_candidates", some & Cat(one == nearest for one in self._distance))
        return self._choice(m, name, distances.any(), entries, nearest)

    def _decide(self, m: Module, chosen: list[data.View], match: wiring.PureInterface) -> None:
        """D: what was found, or the entry of the load ahead in its place, is kept for E."""
        m.submodules.decision = decision = Decide(self._cfg)
        kept = Signal(decision.indices.shape(), name="indices_kept", reset_less=True)
        names = ("perfect", "lower", "upper", "both", "covers", "distances")
        with m.If(self.decide):
            m.d.sync += [getattr(self, name).eq(getattr(decision, name)) for name in names]
            m.d.sync += [kept.eq(decision.indices), self.places.eq(decision.rows)]
        self._keep_match(m, match, decision)
        m.d.comb += [
            decision.mask.eq(self.own_mask),
            decision.inserted.eq(self._compared & self._inserted),
            decision.last.eq(self._last),
            self.ahead.eq(self.decide & decision.takes),
        ]
        self._follow(m, decision, self._read(m, chosen, decision, kept))

    def _keep_match(self, m: Module, match: wiring.PureInterface, decision: Decide) -> None:
        """C: how the load ahead and the access lie to each other."""
        pairs: list[tuple[str, Value, Value]] = [("perfect", match.perfect, decision.perfect_ahead)]
        if self._merges:
            pairs += [("ahead", match.ahead.any(), decision.ahead), ("behind", match.behind.any(), decision.behind)]
            pairs += [("distance", match.distance, decision.distance)]
        for name, value, target in pairs:
            kept = Signal(len(value), name=f"load_ahead_{name}", reset_less=True)
            with m.If(self.compare):
                m.d.sync += kept.eq(value)
            m.d.comb += target.eq(kept)

    def _read(self, m: Module, chosen: list[data.View], decision: Decide, kept: Value) -> list[Value]:
        """D: rows and lanes of the entries that were chosen. Returns which of these are valid and stay so, as far as
        accesses go; in E the first and the last of them are those that are used.
        """
        used = {0: kept[0], 2: kept[1]}
        alive = []
        for at, found in enumerate(chosen):
            index = Mux(self.decide, found.index, used[at]) if at in used else found.index
            entry = decode_row(m, named(m, f"index_read{at}", index), self._cfg.table_entries)
            columns = (*self._place_columns, *(self._mask_columns if at else ()))
            word = named(m, f"entry_read{at}", Cat((column & entry).any() for column in columns))
            split = len(self._place_columns)
            m.d.comb += [decision.found[at].eq(found), decision.places[at].eq(word[:split])]
            m.d.comb += decision.masks[at].eq(word[split:])
            alive.append((self._undeleted & entry).any())
        return alive

    def _follow(self, m: Module, decision: Decide, alive: list[Value]) -> None:
        """Whether the entries that are used are valid. What ended with its row in a cycle is looked at in the next one,
        because it is known late.
        """
        last = named(m, "last_alive", (self._undeleted & self._at_last).any())
        ended, row = (
            Signal(name="ended_before"),
            Signal(len(self.end_place.as_value()), name="ended_row", reset_less=True),
        )
        held = Signal(SOURCES, name="valid_held", reset_less=True)
        gone = Cat(place.as_value() == row for place in self.places) & ended.replicate(SOURCES)
        same, ahead, behind = (*alive, Const(0), Const(0))[:3]
        first = Mux(decision.used[0], last, Mux(decision.perfect, same, ahead))
        m.d.sync += [
            ended.eq(self.end),
            row.eq(self.end_place),
            held[0].eq(Mux(self.decide, first, same)),
            held[1].eq(Mux(self.decide & decision.used[1], last, behind)),
        ]
        m.d.comb += self.alive.eq(held & ~gone)


def _look_members(cfg: SharedConfig) -> dict[str, wiring.Member]:
    vector = {"look_base": In(WORD_BITS), "look_stride": In(STRIDE_BITS), "look_mask": In(cfg.lanes)}
    return {"looks": In(1), **vector, "looks_found": Out(1)}


def _multiples(m: Module, cfg: SharedConfig, stride: Value) -> Value:
    """Of a stride, from the first one on."""
    bits = multiple_bits(cfg)
    times = [named(m, f"times{factor}", factor * stride) for factor in range(1, max(2, cfg.lanes))]
    return named(m, "multiples", Cat((value | Const(0, bits))[:bits] for value in times))


def _any_of(rows: Sequence[Value]) -> Value:
    """OR of many rows, bit by bit."""
    return Cat(Cat(row[bit] for row in rows).any() for bit in range(len(rows[0])))


def _columns(m: Module, name: str, words: Sequence[Value]) -> list[Value]:
    """Bit by bit, what all words have there."""
    return [named(m, name, Cat(word[bit] for word in words)) for bit in range(len(words[0]))]
