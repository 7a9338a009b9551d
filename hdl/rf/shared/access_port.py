"""Accesses of the LSU in four stages (docs/schemes/larf.md, section 7)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import dispatch_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.shared.access_vector import BYTE_BITS, AccessVector
from warpfile.hdl.rf.shared.address_match import WORD_BITS
from warpfile.hdl.rf.shared.notes import note_layout
from warpfile.hdl.rf.shared.visit import Visit
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.shared import (
    ACT,
    ADDRESS_BITS,
    BASE_BITS,
    COMPARE,
    DECIDE,
    DELETE,
    DONE,
    EMPTY,
    FLUSH,
    LOAD,
    PLAIN,
    RECHECK,
    SELECT,
    SPAN,
    STORE,
    STRIDE_BITS,
    THROUGH,
    SharedConfig,
)

#: States of the second and the third stage, by the signals that show them.
_SEARCH = {"compare": COMPARE, "select": SELECT, "span": SPAN, "delete": DELETE, "through": THROUGH}
_ACT = {"decide": DECIDE, "acting": ACT, "recheck": RECHECK, "done": DONE}


class AccessPort(wiring.Component):
    """Accesses, and for each what the stages need of it. What happens in a cycle is seen from the next.

    Members
    -------
    valid : In(1), beat : In(dispatch_layout(cfg)), words : In(ArrayLayout), note : In(note_layout(cfg))   An access.
    ready : Out(1)               It is taken.
    sent_valid : Out(1), sent : Out(dispatch_layout(cfg)), sent_words : Out(ArrayLayout), sent_ready : In(1)   The last
                                 stage: what leaves the machine.
    vector : Out(1), search_state, act_state : Out(3)   There is an access in the first stage; states of the second and
                                 the third, as in the spec.
    empty : Out(1)               There is no access in any stage.
    compare, select, delete : Out(1)   The second is in C, S, K.
    base, stride : Out, mask : Out(lanes)   Its first word; words from lane to lane; its lanes.
    last : Out                   In K: the last word that a store changes.
    ends_all, ends_range, flushes : Out(1)   In K: a store ends all entries, or those with words from ``base`` to
                                 ``last``; an access flushes.
    stores : Out(1)              In K a store, not a flush.
    decide, acting, recheck : Out(1)   The third is in D, E, R.
    decided : Out(dispatch_layout(cfg)), own_base, own_stride : Out, own_stores : Out(1)   Its beat and vector; whether
                                 it is a store.
    acts, absorbs : In(1)        In E: it acts; if it does, it is absorbed.
    tired : Out(1)               In E: it has waited ``merge_wait`` cycles.
    visits : Out(1), visit_warp, visit_register : Out, visited : In(1), entry : In(entry_bits)   A mapping is wanted;
                                 the table serves it; in the cycle after, the mapping.
    answered : Out(1), old : Out(entry_bits)   The mapping of the destination in the third stage is known.
    restart : In(1)              A kernel is taken.
    untracked : Out(4)           A load is not tracked, by reason.
    known : Out(1)               The bits above 32 of all vectors are known.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        words, beat = data.ArrayLayout(cfg.data_bits, cfg.source_slots), dispatch_layout(cfg)
        inputs = ("valid", "sent_ready", "acts", "absorbs", "visited", "restart")
        outputs = ("ready", "sent_valid", "vector", "empty", "compare", "select", "delete", "ends_all", "ends_range")
        outputs += ("flushes", "stores", "decide", "acting", "recheck", "own_stores", "tired", "visits", "answered")
        outputs += ("known",)
        super().__init__(
            {
                **{name: In(1) for name in inputs},
                **{name: Out(1) for name in outputs},
                "beat": In(beat),
                "words": In(words),
                "note": In(note_layout(cfg)),
                **{name: Out(beat) for name in ("sent", "decided")},
                "sent_words": Out(words),
                **{name: Out(3) for name in ("search_state", "act_state")},
                **{name: Out(WORD_BITS) for name in ("base", "last", "own_base")},
                **{name: Out(STRIDE_BITS) for name in ("stride", "own_stride")},
                "mask": Out(cfg.lanes),
                "visit_warp": Out(cfg.warp_bits),
                "visit_register": Out(cfg.register_bits),
                "entry": In(cfg.mapping_bits),
                "old": Out(cfg.mapping_bits),
                "untracked": Out(4),
            }
        )

    def elaborate(self, platform) -> Module:
        """Who moves, then stage by stage."""
        m = Module()
        self._search = {name: named(m, f"in_{name}", self.search_state == code) for name, code in _SEARCH.items()}
        self._act = {name: named(m, f"in_{name}", self.act_state == code) for name, code in _ACT.items()}
        self._move(m)
        self._first_stage(m)
        self._second_stage(m)
        self._range(m)
        self._compare(m)
        self._third_stage(m)
        self._last_stage(m)
        self._visit(m)
        return m

    def _move(self, m: Module) -> None:
        """From the last stage to the first: who leaves, so that another one has room."""
        search, act = self._search, self._act
        second_empty, third_empty = self.search_state == EMPTY, self.act_state == EMPTY
        last_room = named(m, "last_room", ~self.sent_valid | self.sent_ready)
        absorbed = named(m, "absorbed", act["acting"] & self.acts & self.absorbs)
        over = named(m, "over", act["done"] | act["recheck"])
        self._to_last = named(m, "to_last", (over | (act["acting"] & self.acts & ~self.absorbs)) & last_room)
        third_room = named(m, "third_room", third_empty | absorbed | self._to_last)
        searched = named(m, "searched", search["select"] | search["delete"] | search["through"])
        self._to_third = named(m, "to_third", searched & third_room)
        second_room = named(m, "second_room", second_empty | self._to_third)
        self._to_second = named(m, "to_second", self.vector & second_room)
        room_without_act = named(m, "room_without_act", third_empty | (over & last_room))
        self._enters = named(m, "enters", self.valid & self.ready)
        empty = named(m, "stages_empty", ~self.vector & second_empty & third_empty)
        passes = named(m, "passes", (self.note.access == PLAIN) & empty & last_room)
        self._stays = named(m, "stays", self._enters & ~passes)
        self._comes = named(m, "comes", self._to_last | (self._enters & passes))
        self._straight, self._absorbed = third_empty, absorbed
        m.d.comb += [
            self.ready.eq(~self.vector | second_empty | (searched & room_without_act)),
            self.empty.eq(empty & ~self.sent_valid),
        ]

    def _first_stage(self, m: Module) -> None:
        """V, and why a load is not tracked."""
        self._beat = Signal(dispatch_layout(self._cfg), name="beat_kept", reset_less=True)
        self._note = Signal(note_layout(self._cfg), name="note_kept", reset_less=True)
        fresh = Signal(name="fresh")
        m.submodules.lanes = self._vector = vector = AccessVector(self._cfg)
        with m.If(self._enters):
            m.d.sync += [self._beat.eq(self.beat), self._note.eq(self.note)]
        m.d.sync += [
            self.vector.eq(self._stays | (self.vector & ~self._to_second)),
            fresh.eq(self._stays),
        ]
        loads = named(m, "loads", self._note.access == LOAD)
        full = named(m, "full_load", loads & self._beat.full)
        regular = named(m, "regular", vector.regular & vector.from_first)
        self._tracks = named(m, "tracks", full & regular & vector.suits)
        m.d.comb += [
            vector.takes.eq(Cat(self._enters, self._to_second, self._to_third, self._comes)),
            vector.straight.eq(self._straight),
            vector.words.eq(self.words),
            vector.mask.eq(self._beat.mask),
            vector.note.eq(self._note),
            self.sent_words.eq(vector.operands),
            self.untracked[0].eq(fresh & loads & ~self._beat.full),
            self.untracked[1].eq(fresh & full & ~regular),
            self.untracked[2].eq(fresh & full & regular & ~vector.suits),
        ]

    def _second_stage(self, m: Module) -> None:
        """C and S, or U and K, or neither. The beat is what goes on; the rest is what these states need."""
        state, numbers = self.search_state, index_bits(self._cfg.lanes)
        self._searched = Signal(dispatch_layout(self._cfg), name="beat_searched", reset_less=True)
        self._searches, self._stores, self._flushes, self._regular = (
            Signal(name=name, reset_less=True) for name in ("searches", "is_store", "is_flush", "regular_kept")
        )
        self._start, self._stride, self._length, self._size = (
            Signal(width, name=name, reset_less=True)
            for name, width in (("start", ADDRESS_BITS), ("bytes", BYTE_BITS), ("length", numbers), ("size", 3))
        )
        access, vector = self._note.access, self._vector
        changes = named(m, "changes", (access == STORE) | (access == FLUSH))
        with m.If(self._to_second):
            m.d.sync += [
                self._searched.eq(self._beat),
                self._searches.eq(self._tracks),
                self._stores.eq(access == STORE),
                self._flushes.eq(access == FLUSH),
                self._regular.eq(vector.regular),
                self._start.eq(vector.start),
                self._stride.eq(vector.stride),
                self._length.eq(vector.length),
                self._size.eq(self._note.access_size),
                state.eq(Mux(self._tracks, COMPARE, Mux(changes, SPAN, THROUGH))),
            ]
        with m.Elif(self._to_third):
            m.d.sync += state.eq(EMPTY)
        for before, after in (("compare", SELECT), ("span", DELETE), ("delete", THROUGH)):
            with m.Elif(self._search[before]):
                m.d.sync += state.eq(after)
        m.d.comb += [
            *(getattr(self, name).eq(self._search[name]) for name in ("compare", "select", "delete")),
            self.base.eq(self._start[2:BASE_BITS]),
            self.stride.eq(self._stride[2:]),
            self.mask.eq(self._searched.mask),
        ]

    def _range(self, m: Module) -> None:
        """U: what a store changes. K: that ends."""
        self._upper = Signal(ADDRESS_BITS - BASE_BITS, name="upper", reset_less=True)
        bytes_ = named(m, "lane_bytes", Cat(self._size > place for place in range(4)))  # of one lane, less 1
        end = named(m, "end", self._start[:BASE_BITS] + self._length * self._stride + bytes_)
        everything, some = Signal(name="everything"), Signal(name="some")
        last = Signal(WORD_BITS, name="last_kept", reset_less=True)
        far = ~self._regular | end[BASE_BITS:].any()
        meets = self._stores & self.mask.any() & self.known
        with m.If(self._search["span"]):
            m.d.sync += [
                everything.eq(meets & far),
                some.eq(meets & ~far & (self._upper == self._start[BASE_BITS:])),
                last.eq(end[2:BASE_BITS]),
            ]
        m.d.comb += [
            self.last.eq(last),
            self.ends_all.eq(self.delete & everything),
            self.ends_range.eq(self.delete & some),
            self.flushes.eq(self.delete & self._flushes),
            self.stores.eq(self.delete & self._stores),
        ]

    def _compare(self, m: Module) -> None:
        """C: a vector that the table cannot tell apart from others is not tracked."""
        words = self.base + (self._cfg.lanes - 1) * self.stride
        upper = self._start[BASE_BITS:]
        strange = named(m, "strange", words[WORD_BITS:].any() | (self.known & (upper != self._upper)))
        m.d.comb += self.untracked[3].eq(self.compare & strange)
        with m.If(self.compare):
            m.d.sync += self._searches.eq(~strange)
        with m.If(self.compare & ~strange):
            m.d.sync += [self._upper.eq(upper), self.known.eq(1)]
        with m.If(self.flushes | self.restart):
            m.d.sync += self.known.eq(0)

    def _third_stage(self, m: Module) -> None:
        """D and E, or R, or neither."""
        state, changes = self.act_state, self._stores | self._flushes
        stride, base, stores = (
            Signal(width, name=name, reset_less=True)
            for name, width in (("stride_decided", STRIDE_BITS), ("base_decided", WORD_BITS), ("store_decided", 1))
        )
        with m.If(self._to_third):
            m.d.sync += [
                self.decided.eq(self._searched),
                base.eq(self.base),
                stride.eq(self.stride),
                stores.eq(self._stores),
                state.eq(Mux(self._searches, DECIDE, Mux(changes, RECHECK, DONE))),
            ]
        with m.Elif(self._to_last | self._absorbed):
            m.d.sync += state.eq(EMPTY)
        for before, over, after in (("decide", 1, ACT), ("acting", self.acts, DONE), ("recheck", 1, DONE)):
            with m.Elif(self._act[before] & over):
                m.d.sync += state.eq(after)
        waited = Signal(6, name="waited", reset_less=True)
        m.d.sync += waited.eq(Mux(self.acting, waited + ~self.tired, 0))
        m.d.comb += [
            *(getattr(self, name).eq(self._act[name]) for name in ("decide", "acting", "recheck")),
            self.tired.eq(waited == self._cfg.merge_wait),
            self.own_base.eq(base),
            self.own_stride.eq(stride),
            self.own_stores.eq(stores),
        ]

    def _last_stage(self, m: Module) -> None:
        """SEND. What needs nothing of the table and finds the stages before empty comes here at once."""
        with m.If(self._comes):
            m.d.sync += self.sent.eq(Mux(self._straight, self.beat.as_value(), self.decided.as_value()))
        m.d.sync += self.sent_valid.eq(self._comes | (self.sent_valid & ~self.sent_ready))

    def _visit(self, m: Module) -> None:
        m.submodules.visit = visit = Visit(self._cfg)
        asking = self._search["compare"] | self._search["select"]
        behind, ahead = self._searched, self.decided
        m.d.comb += [
            visit.searches.eq(asking & self._searches),
            visit.acts.eq(self._act["decide"] | self._act["acting"]),
            visit.enters.eq(self._to_second),
            visit.moves.eq(self._to_third),
            visit.asked.eq(self.visited),
            visit.entry.eq(self.entry),
            self.visits.eq(visit.asks),
            self.visit_warp.eq(Mux(visit.first, ahead.warp, behind.warp)),
            self.visit_register.eq(Mux(visit.first, ahead.dest, behind.dest)),
            self.answered.eq(visit.answered),
            self.old.eq(visit.old),
        ]
