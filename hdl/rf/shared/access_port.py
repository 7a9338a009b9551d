"""The one access of the LSU that is in the file (docs/schemes/larf.md, section 7)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import encode, named_prefix_or, reverse, select
from warpfile.hdl.beat import dispatch_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.shared.access_lane import AccessLane
from warpfile.hdl.rf.shared.address_match import WORD_BITS
from warpfile.hdl.rf.shared.notes import note_layout
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.shared import (
    ACT,
    ADDRESS_BITS,
    BASE_BITS,
    COMPARE,
    DECIDE,
    EMPTY,
    FLUSH,
    LOAD,
    SELECT,
    SEND,
    SPAN,
    STORE,
    STRIDE_BITS,
    VECTOR,
    SharedConfig,
)

_STATES = {
    "empty": EMPTY,
    "vector": VECTOR,
    "span": SPAN,
    "comparing": COMPARE,
    "selecting": SELECT,
    "deciding": DECIDE,
    "acting": ACT,
    "sending": SEND,
}


class AccessPort(wiring.Component):
    """Access, its vector of addresses, its state, and what the port keeps from one access to the next.

    Members
    -------
    valid : In(1), beat : In(dispatch_layout(cfg)), words : In(ArrayLayout), note : In(note_layout(cfg))   An access.
    ready : Out(1)               It is taken.
    sent_valid : Out(1), sent, sent_words : Out, sent_ready : In(1)   What leaves the machine.
    state : Out(3)               What it does, as on the page.
    comparing, selecting, deciding, acting : Out(1)   A load that is tracked is compared (C); S; D; E.
    base, stride : Out           In words: its first one, and from lane to lane.
    found : In(1)                In S: it is known what was found, so D is left out.
    acts, absorbs : In(1)        In E: it acts; it is absorbed.
    tired : Out(1)               In E: it has waited ``merge_wait`` cycles.
    visits : Out(1), visited : In(1), entry : In(entry_bits)   It wants the mapping of its destination; the table serves
                                 it; in the cycle after, the mapping.
    answered : Out(1), old : Out(entry_bits)   The mapping is known.
    restart : In(1)              A kernel is taken.
    ends_all, ends_range, flushes : Out(1)   A store ends all entries, or those that meet words up to ``last``; an
                                 access ends all, and what is above 32 bits may change.
    last : Out                   In words.
    untracked : Out(4)           A load is not tracked, by reason.
    known, compares : Out(1)     The bits above 32 of all vectors are known; the access is compared with the entries.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        words = data.ArrayLayout(cfg.data_bits, cfg.source_slots)
        inputs = ("valid", "sent_ready", "found", "acts", "absorbs", "visited", "restart")
        outputs = ("ready", "sent_valid", "comparing", "selecting", "deciding", "acting", "tired", "visits", "answered")
        outputs += ("ends_all", "ends_range", "flushes", "known", "compares")
        super().__init__(
            {
                **{name: In(1) for name in inputs},
                **{name: Out(1) for name in outputs},
                "beat": In(dispatch_layout(cfg)),
                "words": In(words),
                "note": In(note_layout(cfg)),
                "sent": Out(dispatch_layout(cfg)),
                "sent_words": Out(words),
                "state": Out(3),
                **{name: Out(WORD_BITS) for name in ("base", "last")},
                "stride": Out(STRIDE_BITS),
                "entry": In(cfg.mapping_bits),
                "old": Out(cfg.mapping_bits),
                "untracked": Out(4),
            }
        )

    def elaborate(self, platform) -> Module:
        """The lanes, the vector, the store's end, the states, the old mapping."""
        m = Module()
        self._in = {name: named(m, f"in_{name}", self.state == code) for name, code in _STATES.items()}
        self._note = Signal(note_layout(self._cfg), name="note_kept", reset_less=True)
        self._enters = named(m, "enters", self.valid & self.ready)
        with m.If(self._enters):
            m.d.sync += [self._note.eq(self.note), self.sent.eq(self.beat)]
        kinds = (("loads", LOAD), ("stores", STORE), ("clears", FLUSH))
        self._is = {name: named(m, name, self._note.access == code) for name, code in kinds}
        self._vector(m)
        self._span(m)
        self._compare(m)
        self._state(m)
        self._ask(m)
        self._send(m)
        return m

    def _lanes(self, m: Module) -> list[wiring.PureInterface]:
        """Operands by lane, and of each the way to the next."""
        count, words = self._cfg.lanes, data.ArrayLayout(32, self._cfg.lanes)
        slots = [data.View(words, slot) for slot in self.words]
        lanes = [stamp(m, f"lane{lane}", "access_lane", lambda: AccessLane(self._cfg)) for lane in range(count)]
        for number, lane in enumerate(lanes):
            behind = lanes[(number + 1) % count]
            m.d.comb += [
                lane.enter.eq(self._enters),
                lane.words.eq(Cat(slot[number] for slot in slots)),
                lane.registers.eq(self._note.address_registers),
                lane.next_address.eq(behind.address),
                lane.next_stride.eq(behind.stride),
            ]
        for slot, target in enumerate(self.sent_words):
            m.d.comb += target.eq(Cat(lane.operands.word_select(slot, 32) for lane in lanes))
        return lanes

    def _vector(self, m: Module) -> None:
        """V. That all strides are that of the first lane is known from neighbours, without it."""
        lanes, mask = self._lanes(m), self.sent.mask
        below = named_prefix_or(m, "below", mask)
        turned = named_prefix_or(m, "from_above", named(m, "turned", reverse(mask)))
        above = named(m, "above", reverse(turned))
        first, highest = named(m, "first", mask & ~(below << 1)[: len(mask)]), named(m, "highest", mask & ~(above >> 1))
        pairs = named(m, "pairs", mask & (mask >> 1))
        uneven = pairs & (pairs >> 1) & ~Cat(lane.even for lane in lanes)
        broken = (~mask & below & above) | uneven | (pairs & ~Cat(lane.level for lane in lanes))
        stride = named(m, "first_stride", select(first & pairs, [lane.stride for lane in lanes]))
        address = named(m, "address", select(first, [lane.address for lane in lanes]))
        start = named(m, "start", (address + self._note.address_offset)[:ADDRESS_BITS])
        few = STRIDE_BITS + 2
        wide = stride[few:].any() | (stride[2:few].all() & stride[:2].any())
        regular = named(m, "regular", mask.any() & ~broken.any() & ~wide & mask[0])
        self._start, self._stride = (
            Signal(width, name=name, reset_less=True) for name, width in (("start_kept", ADDRESS_BITS), ("bytes", few))
        )
        self._regular, self._length = (
            Signal(name="regular_kept", reset_less=True),
            Signal(index_bits(self._cfg.lanes), name="length", reset_less=True),
        )
        numbers = index_bits(self._cfg.lanes)
        length = encode(highest, numbers) - encode(first, numbers)
        with m.If(self._in["vector"]):
            m.d.sync += [self._start.eq(start), self._stride.eq(stride), self._length.eq(length)]
            m.d.sync += self._regular.eq(mask.any() & ~broken.any() & ~wide)
        words = stride[2:few]
        odd = stride[:2].any() | start[:2].any()
        if self._cfg.strides == "powers":
            odd |= (words & (words - 1)[: len(words)]).any()
        self._tracks = named(m, "tracks", regular & ~odd)
        is_load = self._in["vector"] & self._is["loads"]
        m.d.comb += self.untracked[1:3].eq(Cat(is_load & ~regular, is_load & regular & odd))
        m.d.comb += [self.base.eq(self._start[2:BASE_BITS]), self.stride.eq(self._stride[2:])]

    def _span(self, m: Module) -> None:
        """U: what a store ends."""
        self._upper, upper_valid = Signal(ADDRESS_BITS - BASE_BITS, name="upper", reset_less=True), Signal(name="known")
        self._known = upper_valid
        size = self._note.access_size
        bytes_ = named(m, "size", Cat(size > place for place in range(4)))  # of one lane, less 1
        end = named(m, "end", self._start[:BASE_BITS] + self._length * self._stride + bytes_)
        everything, some, last = Signal(name="everything"), Signal(name="some"), Signal(WORD_BITS, reset_less=True)
        far = ~self._regular | end[BASE_BITS:].any()
        meets = self.sent.mask.any() & self._known
        with m.If(self._in["span"]):
            m.d.sync += [
                everything.eq(meets & far),
                some.eq(meets & ~far & (self._upper == self._start[BASE_BITS:])),
                last.eq(end[2:BASE_BITS]),
            ]
        self._everything, self._some = everything, some
        m.d.comb += self.last.eq(last)

    def _compare(self, m: Module) -> None:
        """C: a vector that the table cannot tell apart from others is not tracked."""
        words = self.base + (self._cfg.lanes - 1) * self.stride
        upper = self._start[BASE_BITS:]
        strange = named(m, "strange", words[WORD_BITS:].any() | (self._known & (upper != self._upper)))
        m.d.comb += [
            self.comparing.eq(self._in["comparing"] & ~strange),
            self.untracked[3].eq(self._in["comparing"] & strange),
            self.flushes.eq(self._first_sent(m) & self._is["clears"]),
        ]
        with m.If(self.comparing):
            m.d.sync += [self._upper.eq(upper), self._known.eq(1)]
        with m.If(self.flushes | self.restart):
            m.d.sync += self._known.eq(0)

    def _first_sent(self, m: Module) -> Value:
        """Whether it is the first cycle of SEND."""
        before = Signal(name="sent_before")
        m.d.sync += before.eq(self._in["sending"] & ~self._enters)
        self._first = named(m, "first_sent", self._in["sending"] & ~before)
        return self._first

    def _state(self, m: Module) -> None:
        takes_part = ((self.note.access == LOAD) & self.beat.full) | (self.note.access == STORE)
        with m.If(self._enters):
            m.d.sync += self.state.eq(Mux(takes_part, VECTOR, SEND))
        with m.Else(), m.Switch(self.state):
            with m.Case(VECTOR):
                m.d.sync += self.state.eq(Mux(self._is["stores"], SPAN, Mux(self._tracks, COMPARE, SEND)))
            with m.Case(SPAN):
                m.d.sync += self.state.eq(SEND)
            with m.Case(COMPARE):
                m.d.sync += self.state.eq(Mux(self.comparing, SELECT, SEND))
            with m.Case(SELECT):
                m.d.sync += self.state.eq(Mux(self.found, ACT, DECIDE))
            with m.Case(DECIDE):
                m.d.sync += self.state.eq(ACT)
            with m.Case(ACT):
                m.d.sync += self.state.eq(Mux(self.acts, Mux(self.absorbs, EMPTY, SEND), ACT))
            with m.Default():
                m.d.sync += self.state.eq(Mux(self._in["sending"] & ~self.sent_ready, SEND, EMPTY))
        waited = Signal(6, name="waited", reset_less=True)
        m.d.sync += waited.eq(Mux(self.acting, waited + ~self.tired, 0))
        m.d.comb += [
            *(getattr(self, name).eq(self._in[name]) for name in ("selecting", "deciding", "acting")),
            self.tired.eq(waited == self._cfg.merge_wait),
            self.ready.eq(
                self._in["empty"] | (self._in["sending"] & self.sent_ready) | (self.acting & self.acts & self.absorbs)
            ),
        ]

    def _ask(self, m: Module) -> None:
        """The old mapping of the destination: asked for until it is served, then kept."""
        served, fresh = Signal(name="served"), Signal(name="fresh")
        kept = Signal(self._cfg.mapping_bits, name="old_kept", reset_less=True)
        searching = ("vector", "comparing", "selecting", "deciding", "acting")
        asks = Cat(self._in[name] for name in searching).any() & self._is["loads"]
        m.d.comb += [
            self.visits.eq(asks & ~served),
            self.answered.eq(served),
            self.old.eq(Mux(fresh, self.entry, kept)),
        ]
        m.d.sync += [
            fresh.eq(self.visited),
            kept.eq(self.old),
            served.eq((served | self.visited) & ~self._enters),
        ]

    def _send(self, m: Module) -> None:
        m.d.comb += [
            self.sent_valid.eq(self._in["sending"]),
            self.ends_all.eq(self._first & self._is["stores"] & self._everything),
            self.ends_range.eq(self._first & self._is["stores"] & self._some),
            self.untracked[0].eq(self._first & self._is["loads"] & ~self.sent.full),
            self.compares.eq(self._in["comparing"] | (self._first & self._is["stores"])),
            self.known.eq(self._known),
        ]
