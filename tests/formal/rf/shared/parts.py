"""Proofs of the small blocks of the file of shared rows: merges, the most recent entry, decisions, counts, absorbed
loads.
"""

from __future__ import annotations

import contextlib
from unittest import mock

from amaranth import Array, Cat, Const, Mux, Signal, Value
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring

from tests.formal.properties import Miswired, Proof, Properties, at_most_one, constant
from tests.hdl.rf.shared.bench import config
from tests.hdl.unstamped import inside
from warpfile.hdl.rf.shared import counts, recent
from warpfile.hdl.rf.shared.absorbed import AbsorbedList
from warpfile.hdl.rf.shared.address_match import AddressMatch, multiple_bits
from warpfile.hdl.rf.shared.counts import RowCounts
from warpfile.hdl.rf.shared.decide import Decide
from warpfile.hdl.rf.shared.merge import MergeShift
from warpfile.hdl.rf.shared.recent import MostRecent
from warpfile.hdl.rf.shared.visit import Visit

LANES, ENTRIES, ROWS, LOADS, MATCH_LANES = 8, 5, 4, 2, 4


class OneTree(Properties):
    """Parts of the part are in one tree with it."""

    def elaborate(self, platform):
        """What is stamped elsewhere is elaborated here."""
        with contextlib.ExitStack() as stack:
            for module in (counts, recent):
                stack.enter_context(mock.patch.object(module, "stamp", inside))
            return super().elaborate(platform)


class ShiftProperties(Properties):
    """Any bits of all lanes, any distance of two vectors that have words in common."""

    def check(self, m, part):
        back, low = Signal(name="back"), Value.cast(part.distance)
        distance = Mux(back, low - LANES, low)
        m.d.comb += [back.eq(AnySeq(1)), Assume(~back | low.any())]
        for lane in range(LANES):
            source = [(distance == other - lane) & part.bits[other] for other in range(LANES)]
            there = (lane + distance >= 0) & (lane + distance < LANES)
            m.d.comb += Assert(~there | (part.turned[lane] == Cat(source).any()), "lane i gets that of lane i + d")
        m.d.comb += [Cover(back & (low == 1), "d is 1 - lanes"), Cover(~back & (low == LANES - 1), "d is lanes - 1")]


class MatchProperties(Properties):
    """Any entry, any access. Strides are what the machine tracks."""

    def __init__(self, part: wiring.Component, strides: str, *, helped: bool = True) -> None:
        super().__init__(part, helped=helped)
        self._strides = strides

    def check(self, m, part):
        lanes, stride = MATCH_LANES, part.wanted_stride
        suits = part.valid & (part.stride == stride)
        ahead = [part.base + d * stride == part.wanted_base for d in range(lanes)]
        behind = [part.wanted_base + d * stride == part.base for d in range(1, lanes)]
        apart = stride.any()
        if self._strides == "powers":
            m.d.comb += Assume(at_most_one(part.stride))
        else:
            bits = multiple_bits(config(lanes=lanes))
            times = (part.multiples.word_select(d - 1, bits) == d * stride for d in range(1, lanes))
            m.d.comb += Assume(Cat(times).all())
        m.d.comb += [
            Assert(part.ahead[0] == (suits & ahead[0]), "the same words are known"),
            *(Assert(part.ahead[d] == (suits & apart & ahead[d]), "words ahead are known") for d in range(1, lanes)),
            *(
                Assert(part.behind[d] == (suits & apart & behind[d]), "words behind are known")
                for d in range(lanes - 1)
            ),
            *(
                Assert(~(one & suits & apart) | (part.distance == d), "the distance is known")
                for d, one in [*enumerate(ahead), *enumerate(behind, 1)]
            ),
            Cover(part.ahead[lanes - 1] & stride[-1], "the last lane of the greatest stride, ahead"),
            Cover(part.behind[lanes - 2] & (stride == 1), "the last lane of the least stride, behind"),
            Cover(suits & ahead[0] & ~apart, "all lanes have one word"),
        ]


class RecentProperties(OneTree):
    """Any entries, any pointer."""

    def check(self, m, part):
        pointer = constant(m, "pointer", ENTRIES)
        m.d.comb += Assume(part.below == Cat(at < pointer for at in range(ENTRIES)))
        order = [Cat(Const(at, 3), part.below[at]) for at in range(ENTRIES)]
        chosen = Array(order)[part.index]
        some = part.entries.any()
        for at in range(ENTRIES):
            m.d.comb += Assert(~part.entries[at] | (order[at] <= chosen), "no entry is more recent")
        m.d.comb += [
            Assert(~some | (Cat(part.index == at for at in range(ENTRIES)) & part.entries).any(), "it is an entry"),
            Cover(part.entries.all() & (pointer == 0), "the ring begins anew"),
            Cover((part.index == ENTRIES - 1) & part.entries[0] & (pointer == 0), "the last one is the most recent"),
        ]


class DecideProperties(Properties):
    """Any entries that were chosen, any load ahead, any lanes."""

    def check(self, m, part):
        own, lanes = part.last, MATCH_LANES
        left = [entry.found & ~(part.inserted & (entry.index == own.index)) for entry in part.found]
        sides = [(1, part.ahead), (2, part.behind)]
        matched = [part.inserted & side for _, side in sides]
        nearer = [
            match & (~left[at] | (part.distance <= part.found[at].distance))
            for (at, _), match in zip(sides, matched, strict=True)
        ]
        m.d.comb += [
            Assume(part.mask.any() & ~(part.ahead & part.behind)),
            Assume(~part.behind | part.distance.any()),
            Assume(~part.found[2].found | part.found[2].distance.any()),
            Assert(part.perfect == (left[0] | (part.inserted & part.perfect_ahead)), "a perfect entry is used"),
            Assert(at_most_one(Cat(part.perfect, part.lower, part.upper, part.both)), "there is one class"),
            Assert(part.takes == ((part.inserted & part.perfect_ahead) | nearer[0] | nearer[1]), "a place is told"),
            Cover(part.perfect & nearer[0] & part.found[0].found & ~left[0], "the perfect entry was taken"),
            Cover(part.both & nearer[1] & left[2], "the load ahead is nearer, behind"),
        ]
        given = []
        for slot, ((at, _), own_one) in enumerate(zip(sides, nearer, strict=True)):
            distance = Mux(own_one, part.distance, part.found[at].distance)
            mask, there = Mux(own_one, own.mask, part.masks[at]), left[at] | own_one
            bits = [self._lane(mask, lane, distance, slot) & part.mask[lane] & there for lane in range(lanes)]
            given.append(Cat(bits))
            index = Mux(own_one, own.index, part.found[at].index)
            used = ~part.perfect | bool(slot)
            m.d.comb += Assert(~used | (part.indices[slot] == index), "the nearest one is used")
            signed = -distance if slot else distance
            m.d.comb += Assert(part.distances[slot] == signed[: len(part.distance)], "its distance is told")
        low, high = given
        whole = [(low == part.mask), (high == part.mask), ((low | high) == part.mask)]
        m.d.comb += [
            Assert((part.lower | part.perfect) == (part.perfect | whole[0]), "the one ahead gives all lanes"),
            Assert((part.upper | part.lower | part.perfect) == (part.perfect | whole[0] | whole[1]), "the other does"),
            Assert((part.both | part.upper | part.lower | part.perfect) == (part.perfect | whole[2]), "both do"),
            Assert(Cat(part.covers) == Cat(low, high & ~low), "lane i is lane i + d of the entry"),
        ]

    def _lane(self, mask: Value, lane: int, distance: Value, slot: int) -> Value:
        """Whether the entry has lane + d."""
        sources = ((other, lane - other if slot else other - lane) for other in range(MATCH_LANES))
        return Cat(mask[other] & (distance == apart) for other, apart in sources if apart >= 0).any()


class VisitProperties(Properties):
    """Some load, followed from the second stage to the third; what the others do does not matter."""

    def check(self, m, part):
        begins, answer = Signal(name="begins"), Signal.like(part.entry, name="answer_followed")
        behind, ahead, served, fresh = (Signal(name=name) for name in ("behind", "ahead", "served_followed", "new"))
        m.d.comb += [begins.eq(AnySeq(1)), Assume(~begins | part.enters)]
        there = Cat(behind & part.searches, ahead & part.acts)
        here = Signal(name="served_now")
        known = Signal.like(answer, name="known")
        m.d.comb += [
            # A load that searches goes on to D, and leaves E only when its mapping is known.
            Assume(~(behind & part.moves) | part.searches),
            Assume(~part.enters | part.moves | ~(part.searches | behind)),
            Assume(~part.moves | ~part.acts | part.answered),
            Assume(~ahead | part.acts),
            Assume(~part.asked | part.asks),
            here.eq(part.asked & ((behind & ~part.first) | (ahead & part.first))),
            known.eq(Mux(fresh, part.entry, answer)),
            Assert(~(here & served), "no client is served twice"),
            Assert(~(ahead & part.acts) | (part.answered == served), "the request that was served is known"),
            Assert(~(ahead & served) | (part.old == known), "the answer is that of the load"),
            Assert(~there.any() | served | part.asks, "a load that was not served asks, or another one does"),
            Cover(ahead & fresh & part.searches & part.asked, "one is answered as the next one is served"),
            Cover(behind & served & ~fresh, "an answer is kept in the second stage"),
        ]
        m.d.sync += [
            behind.eq(begins | (behind & ~part.moves)),
            ahead.eq((behind & part.moves) | (ahead & ~part.moves)),
            served.eq((served | here) & ~begins),
            fresh.eq(here),
            answer.eq(known),
        ]
        with m.If(begins):
            m.d.comb += Assume(~ahead & ~behind)
        self.behind, self.ahead, self.served, self.fresh, self.answer = behind, ahead, served, fresh, answer

    def help(self, m, part, state):
        """What is kept of the load that is followed."""
        kept = self.served & ~self.fresh
        m.d.comb += [
            Assert(~(self.behind & self.ahead), "it is in one stage"),
            Assert(~self.behind | (state("served") == self.served), "served, behind"),
            Assert(~self.behind | (state("fresh") == self.fresh), "answered now, behind"),
            Assert(~(self.behind & kept) | (state("kept") == self.answer), "the answer, behind"),
            Assert(~self.ahead | (part.answered == self.served), "served, ahead"),
            Assert(~self.ahead | (state("fresh_first") == self.fresh), "answered now, ahead"),
            Assert(~(self.ahead & kept) | (state("kept_first") == self.answer), "the answer, ahead"),
            Assert(~self.fresh | self.served, "who is answered was served"),
        ]


class CountProperties(OneTree):
    """Some row, followed; what the others do does not matter. Nobody asks for more than there is."""

    def check(self, m, part):
        cfg = config(rows=ROWS, count_bits=2)
        most = cfg.most_shared
        self.who = who = constant(m, "who", ROWS)
        self.count = count = Signal(range(most + 1), name="followed")
        takes, drops = part.take & (part.take_row == who), part.drop & (part.drop_row == who)
        gains = part.gain & (part.source_rows[0] == who)
        m.d.comb += [
            Assume(~takes | (count == 0) | (count == 1)),
            Assume(~gains | ((count > 0) & (count < most))),
            Assume(~drops | (count > 0)),
            Assume(at_most_one(Cat(takes, gains, drops))),
            Assume((part.take_row < ROWS) & (part.drop_row < ROWS)),
        ]
        with m.If(takes):
            m.d.sync += count.eq(1)
        with m.Elif(gains):
            m.d.sync += count.eq(count + 1)
        with m.Elif(drops):
            m.d.sync += count.eq(count - 1)
        m.d.comb += [
            Assert(~(part.found & (part.lowest == who)) | (count == 0), "a row that is found is free"),
            Assert(part.found | (count != 0), "a free row is found"),
            Assert((part.owner_rows[0] != who) | (part.single[0] == (count == 1)), "a row with one owner is known"),
            Assert((part.source_rows[0] != who) | (part.most == (count == most)), "a full row is known"),
            Cover(count == most, "a row is full"),
            Cover((count == 1) & drops, "the last register leaves its row"),
        ]

    def help(self, m, part, state):
        """What is kept for the row that is followed."""
        columns = [state(f"count{bit}") for bit in range(2)]
        for row in range(ROWS):
            kept = Cat(column[row] for column in columns)
            m.d.comb += Assert((self.who != row) | (kept == self.count), "the count is kept")


class ListProperties(Properties):
    """Loads enter where there is room."""

    def check(self, m, part):
        ready = part.valid & ~part.waiting
        m.d.comb += [
            Assume(~part.enter | part.room),
            Assert(at_most_one(part.done) & ((part.done & ~ready) == 0), "one completes that does not wait"),
            Assert(part.done.any() == (part.free & ready.any()), "if the port is free one completes that could"),
            Assert(part.completed == part.done.any(), "its register is shown"),
            Assert(part.room == ~part.valid.all(), "there is room for one less than all"),
            Cover(part.valid.all() & part.waiting.all(), "all are there and wait"),
            Cover(part.valid.all() & part.done.any(), "one of all completes"),
        ]


def _proof(block: str, size: str, properties, part, wrong: dict, depth: int = 1, reach: int = 8) -> Proof:
    return Proof(
        block,
        size,
        lambda: properties(part()),
        {
            text: lambda changes=changes: properties(Miswired(part(), **changes), helped=False)
            for text, changes in wrong.items()
        },
        depth=depth,
        reach=reach,
    )


def _match(strides: str) -> Proof:
    return _proof(
        "hdl.rf.shared.address_match",
        f"{MATCH_LANES} lanes, strides {strides}",
        lambda part, **options: MatchProperties(part, strides, **options),
        lambda: AddressMatch(config(lanes=MATCH_LANES, strides=strides)),
        {
            "the same words are known": {"base": lambda value: value | 1},
            "words ahead are known": {"ahead": lambda value: value ^ 2},
            "words behind are known": {"wanted_base": lambda value: value & ~1},
            "the distance is known": {"distance": lambda value: value ^ 1},
        },
        reach=1,
    )


def _counts() -> RowCounts:
    return RowCounts(config(rows=ROWS, count_bits=2, ports=3, write_back_ports=1))


PROOFS = (
    _proof(
        "hdl.rf.shared.merge",
        f"one bit of {LANES} lanes",
        ShiftProperties,
        lambda: MergeShift(config(lanes=LANES)),
        {"lane i gets that of lane i + d": {"distance": lambda value: value ^ 1}},
        reach=1,
    ),
    *(_match(strides) for strides in ("any", "powers")),
    _proof(
        "hdl.rf.shared.recent",
        f"{ENTRIES} entries",
        RecentProperties,
        lambda: MostRecent(ENTRIES),
        {
            "no entry is more recent": {"below": lambda value: value & 0},
            "it is an entry": {"entries": lambda value: value | 1},
        },
        reach=1,
    ),
    _proof(
        "hdl.rf.shared.decide",
        f"{MATCH_LANES} lanes, {ENTRIES} entries",
        DecideProperties,
        lambda: Decide(config(lanes=MATCH_LANES, table_entries=ENTRIES)),
        {
            "a perfect entry is used": {"perfect_ahead": lambda value: value & 0},
            "there is one class": {"lower": lambda value: value | 1},
            "a place is told": {"takes": lambda value: ~value},
            "the nearest one is used": {"inserted": lambda value: value & 0},
            "its distance is told": {"distances": lambda value: value ^ 1},
            "the one ahead gives all lanes": {"lower": lambda value: value & 0},
            "the other does": {"upper": lambda value: value & 0},
            "both do": {"both": lambda value: value & 0},
            "lane i is lane i + d of the entry": {"masks": lambda value: value ^ (1 << MATCH_LANES)},
        },
        reach=1,
    ),
    _proof(
        "hdl.rf.shared.visit",
        "two stages",
        VisitProperties,
        lambda: Visit(config()),
        {
            "no client is served twice": {"asked": lambda value: value & 0},
            "the request that was served is known": {"answered": lambda value: ~value},
            "the answer is that of the load": {"entry": lambda value: value ^ 1},
            "a load that was not served asks, or another one does": {"asks": lambda value: value & 0},
        },
    ),
    _proof(
        "hdl.rf.shared.counts",
        f"{ROWS} rows, counts of two bits",
        CountProperties,
        _counts,
        {
            "a row that is found is free": {"take": lambda value: value & 0},
            "a free row is found": {"drop": lambda value: value & 0},
            "a row with one owner is known": {"gain": lambda value: value & 0},
            "a full row is known": {"gain": lambda value: value & 0},
        },
    ),
    _proof(
        "hdl.rf.shared.absorbed",
        f"{LOADS} loads",
        ListProperties,
        lambda: AbsorbedList(config(absorbed_loads=LOADS)),
        {
            "one completes that does not wait": {"done": lambda value: value | 1},
            "if the port is free one completes that could": {"free": lambda value: value & 0},
            "its register is shown": {"completed": lambda value: ~value},
            "there is room for one less than all": {"room": lambda value: ~value},
        },
    ),
)
