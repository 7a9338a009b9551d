"""Proofs of a write-back port in front of W1, and of the queue of completions behind results with nothing to store."""

from amaranth import Cat, Const, Mux, Signal, Value
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import data

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one, past
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.renaming.completions import Completions
from warpfile.hdl.rf.packed.port import ResultPort
from warpfile.schemes import find
from warpfile.spec.config import Config

SMALL = {"banks": 1, "rows": 2, "lanes": 1, "warps": 2, "register_names": 8}


def config(scheme: str) -> Config:
    """Three ports, few rows."""
    windows = {"collectors": 2, "source_slots": 1, "window_entries": 1} if "bow" in scheme else {}
    return find(scheme).configuration("tiny", **SMALL, **windows)


class PortProperties(ConfiguredProperties):
    """Any results; the table says anything, any port changes anything at any time."""

    def check(self, m, part):
        #: Of the result in T: its names, and its entries as the table and the changes since have them.
        names = Cat(part.result.warp, part.partner, part.paired)
        self.names, self.fresh = Signal(len(names), name="names"), Signal(name="in_first_cycle")
        self.entries = {name: Signal(len(part.old_entry), name=f"{name}_known") for name in ("old", "partner")}
        self.held = {name: Signal(len(part.old_entry), name=f"{name}_left") for name in self.entries}
        warp, partner, paired = self._split(part)
        places = zip(part.change_by, part.change_warps, part.change_registers, strict=True)
        written = any_of(by & (own == warp) & (name == partner) for by, own, name in places)
        written = written & part.change_counts & paired
        old = Mux(self.fresh, part.old_entry, self.entries["old"])
        known = Mux(self.fresh, part.partner_entry, self.entries["partner"])
        now = {"old": old, "partner": Mux(written, part.change_entry, known)}
        m.d.sync += [*(self.entries[name].eq(value) for name, value in now.items()), self.fresh.eq(part.accept)]
        with m.If(part.accept):
            m.d.sync += self.names.eq(names)
        entered = past(m, part.advances, "advances")
        with m.If(part.advances):
            m.d.sync += [self.held[name].eq(value) for name, value in now.items()]
        self._assume(m, part)
        left = {"old": Cat(part.old_place, part.old_mask), "partner": Cat(part.partner_place, part.partner_mask)}
        m.d.comb += [
            Assert(~part.deciding | (left["old"] == self.held["old"]), "W0 has the place as it was read"),
            Assert(~part.deciding | (left["partner"] == self.held["partner"]), "W0 has the partner as T left it"),
            Assert(
                ~entered | (part.deciding & ~part.merges), "in its first cycle in W0 a result does not ask to merge"
            ),
            Assert(~part.accept | part.room, "a result enters T only where there is room"),
            Assert(
                ~part.advances | (part.reading & (~part.deciding | part.moves)), "W0 takes a result when it has room"
            ),
            Assert(~part.moves | (part.deciding & (~part.storing | part.stored)), "W1 likewise"),
            Cover(part.advances & ~self.fresh & written, "the partner changes when T moves on after a while"),
            Cover(part.advances & self.fresh & written, "the partner changes in the only cycle in T"),
            Cover(part.reading & ~part.advances & self.fresh & written, "the partner changes while T waits"),
            Cover(part.deciding & part.with_partner & part.moves & part.accept, "three results in a row"),
        ]

    def _split(self, part) -> tuple[Value, Value, Value]:
        bits = len(part.held_warp)
        return self.names[:bits], self.names[bits:-1], self.names[-1]

    def _assume(self, m, part) -> None:
        m.d.comb += [
            Assume(at_most_one(part.change_by)),
            Assume(~part.stored | part.storing),
            Assume(~part.changes | part.could),
            Assume(~part.merge_served | part.merges),
            Assume(at_most_one(part.size) & part.size.any()),
        ]

    def help(self, m, part, state):
        """What T keeps is what was known of the result at the end of the cycle before."""
        reading = part.reading & ~self.fresh
        for name, entry in self.entries.items():
            m.d.comb += Assert(~reading | (state(f"{name}_kept") == entry), f"{name} is kept")
        read = data.View(part._layout(), state("read"))
        kept = Cat(read.warp, read.partner, read.paired) == self.names
        m.d.comb += [
            Assert(~part.reading | kept, "names are kept"),
            Assert(state("fresh") == self.fresh, "the first cycle in T is known"),
            Assert(~part.merges | part.deciding, "only what is in W0 asks"),
        ]


class QueueProperties(ConfiguredProperties):
    """Results enter, are stored, or are taken with nothing to store, in any order; ``tokens`` count the last ones.

    No more than ``lead`` + 1 are between X and their banks, as many as there are stages.
    """

    def check(self, m, part):
        lead, bits = self._cfg.gives.lead, len(part.result.tokens)
        enters, between = Signal(name="enters"), Signal(range(lead + 2), name="between")
        self.taken, self.left = Signal(bits, name="taken_count"), Signal(bits, name="left_count")
        own = Signal(name="completes_own")
        m.d.comb += [enters.eq(AnySeq(1)), own.eq(part.completed & ~part.stored)]
        m.d.sync += [
            between.eq(between + enters - part.stored),
            self.taken.eq(self.taken + part.taken),
            self.left.eq(self.left + own),
        ]
        self.between, self.waits = between, (self.taken - self.left)[:bits]
        late = part.taken & part.late
        #: The result that was taken in the cycle before is late.
        self.early = past(m, late, "late") if lead > 1 else Const(0, 1)
        before = self.early & (part.completion.tokens == (self.taken - 1)[:bits])
        due = self.waits.any() & ~(self.early & (self.waits == 1))
        m.d.comb += [
            Assume(~(enters & part.taken) & (between + enters - part.stored <= lead + 1)),
            Assume(~part.stored | between.any()),
            Assume(part.result.tokens == self.taken),
            Assume(Const(bool(self._cfg.asks.keeps), 1) | ~part.late),
            Assert(
                ~own | (part.completion.tokens == self.left), "results complete in the order in which they are taken"
            ),
            Assert(~(own & part.taken & part.late) | self.waits.any(), "one with a register does not complete at once"),
            Assert(~own | ~before, "nor in the next cycle if results come two cycles early"),
            Assert(~due | part.completed, "one that is due completes, or another one is stored"),
            Assert(
                ~part.taken | part.late | self.waits.any() | part.completed, "one without a register completes at once"
            ),
            Assert(~part.stored | (part.completion == part.store), "what is stored completes"),
            Assert(part.waiting == self.waits.any(), "it is known whether some wait"),
            Cover(self.waits == (2 * lead + 1 if self._cfg.asks.keeps else lead + 1), "as many wait as have room"),
        ]

    def help(self, m, part, state):
        """Places fill from the first one on, in the order of the counts, and no more wait than there are places."""
        lead, keeps = self._cfg.gives.lead, bool(self._cfg.asks.keeps)
        depth = 2 * lead + 1 if keeps else lead + 1
        together = Signal(range(64), name="together")
        m.d.comb += [
            together.eq(self.waits[:5] + self.between),
            Assert(self.waits <= depth, "all that wait have a place"),
            Assert(~self.waits.any() | (together <= depth), "those that wait and those between are so many"),
            Assert(self.between <= lead + 1, "no more are between than there are stages"),
        ]
        for place in range(depth):
            held = data.View(part.result.shape(), state(f"held{place}"))
            m.d.comb += [
                Assert(state(f"valid{place}") == (self.waits > place), "places fill from the first one on"),
                Assert((self.waits <= place) | (held.tokens == (self.left + place)[: len(self.left)]), "in order"),
            ]
        if keeps and lead > 1:
            young = self.early & (self.waits == 1)
            m.d.comb += Assert(state("young") == young, "it is known whether the first one is due")


def _port(**changes):
    cfg = config("corf")
    return lambda: PortProperties(Miswired(ResultPort(cfg), **changes), cfg, helped=False)


def _queue(scheme: str, **changes):
    cfg = config(scheme)
    return lambda: QueueProperties(Miswired(Completions(cfg), **changes), cfg, helped=False)


PROOFS = (
    Proof(
        "hdl.rf.packed.port",
        "pairs, 3 ports",
        lambda: PortProperties(ResultPort(config("corf")), config("corf")),
        {
            "W0 has the place as it was read": _port(old_entry=lambda value: ~value),
            "W0 has the partner as T left it": _port(change_counts=lambda value: Const(1, 1)),
            "in its first cycle in W0 a result does not ask to merge": _port(merges=lambda value: value | 1),
            "a result enters T only where there is room": _port(room=lambda value: value & 0),
            "W0 takes a result when it has room": _port(deciding=lambda value: value | 1),
            "W1 likewise": _port(storing=lambda value: value | 1),
        },
    ),
    Proof(
        "hdl.renaming.completions",
        "three stages",
        lambda: QueueProperties(Completions(config("corf")), config("corf")),
        {"one without a register completes at once": _queue("corf", late=lambda value: Const(1, 1))},
    ),
    Proof(
        "hdl.renaming.completions",
        "three stages, results with a register and nothing to store",
        lambda: QueueProperties(Completions(config("bow_wr+packed")), config("bow_wr+packed")),
        {
            "one with a register does not complete at once": _queue("bow_wr+packed", late=lambda value: value & 0),
            "nor in the next cycle if results come two cycles early": _queue(
                "bow_wr+packed", late=lambda value: value & 0
            ),
            "one that is due completes, or another one is stored": _queue(
                "bow_wr+packed", completed=lambda value: value & 0
            ),
            "what is stored completes": _queue("bow_wr+packed", store=lambda value: ~value),
            "it is known whether some wait": _queue("bow_wr+packed", waiting=lambda value: ~value),
            "results complete in the order in which they are taken": _queue(
                "bow_wr+packed", result=lambda value: ~value
            ),
        },
        reach=12,
    ),
    Proof(
        "hdl.renaming.completions",
        "two stages",
        lambda: QueueProperties(Completions(config("larf")), config("larf")),
        {},
    ),
)
