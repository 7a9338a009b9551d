"""The reader: takes the address of a head load from its row when its bank is idle (larf.md, section 19)."""

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import RoundRobin, decode, encode, select
from warpfile.hdl.beat import beat_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout
from warpfile.hdl.rf.shared.notes import hinted, note_layout
from warpfile.spec.config import Config
from warpfile.spec.schemes.las import ASK, DATA, NO_READER, READ, READ_CYCLES
from warpfile.spec.schemes.shared import BASE_BITS, SharedConfig


def reader_ports(cfg: Config) -> dict[str, wiring.Member]:
    """What the reader asks of the renaming table and of the banks.

    asks : Out(1), ask_warp, ask_register : Out, ask_served : In(1), entry : In(mapping_bits)   In ASK: it wants this
                                 entry; the table serves it; the entry, in the cycle after.
    reads : Out(1), place : Out(location_layout(cfg)), read : In(1)   In READ: it wants this row; its bank, which no
                                 other client asks, serves it.
    """
    return {
        "asks": Out(1),
        "ask_warp": Out(cfg.warp_bits),
        "ask_register": Out(cfg.register_bits),
        "ask_served": In(1),
        "entry": In(cfg.mapping_bits),
        "reads": Out(1),
        "place": Out(location_layout(cfg)),
        "read": In(1),
    }


class AddressReader(wiring.Component):
    """One address register at a time. What happens in a cycle is seen from the next.

    Members
    -------
    heads : In(ArrayLayout), buffered, shareable : In(warps), pending : In(ArrayLayout)   Head beats, who has one, which
                                 are loads that may be shared; pending registers of every warp.
    issues : In(warps)           One-hot or none, the warp that issues its head beat; known late.
    captured : In(warps)         One-hot or none, a warp of which the probe takes a result; known late.
    probe_empty : In(1)          The probe is empty.
    state : Out(2), probed : Out(warps), late : Out(1)   See the page.
    keeps : Out(1), arrives : Out(1)   In READ or DATA; in DATA.
    offset : Out(32), mask : Out(lanes)   Of the head load of ``ask_warp``.
    See also :func:`reader_ports`.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        warps = cfg.warps
        super().__init__(
            {
                "heads": In(data.ArrayLayout(beat_layout(cfg), warps)),
                "pending": In(data.ArrayLayout(cfg.register_names, warps)),
                **{name: In(warps) for name in ("buffered", "shareable", "issues", "captured")},
                "probe_empty": In(1),
                "state": Out(2),
                "probed": Out(warps),
                **{name: Out(1) for name in ("late", "keeps", "arrives")},
                "offset": Out(BASE_BITS),
                "mask": Out(cfg.lanes),
                **reader_ports(cfg),
            }
        )

    def elaborate(self, platform) -> Module:
        """Choice, look-up, read; that a warp issues only decides single bits."""
        m = Module()
        in_read = named(m, "in_read", self.state == READ)
        m.d.comb += [
            self.asks.eq(self.state == ASK),
            self.arrives.eq(self.state == DATA),
            self.keeps.eq(in_read | self.arrives),
        ]
        chosen = self._choose(m)
        mapped, last = self._place(m, in_read)
        m.d.comb += [
            self.reads.eq(in_read & self.probe_empty & mapped),
            self.late.eq(in_read & last & ~self.read),
        ]
        gone = named(m, "gone", (decode(self.ask_warp, self._cfg.warps) & self.issues).any())
        with m.If(self._free):
            m.d.sync += self.state.eq(Mux((chosen & ~self.issues).any(), ASK, NO_READER))
        with m.Elif(gone):
            m.d.sync += self.state.eq(NO_READER)
        with m.Elif(self.asks & self.ask_served):
            m.d.sync += self.state.eq(READ)
        with m.Elif(in_read & self.read):
            m.d.sync += self.state.eq(DATA)
        with m.Elif(in_read & (last | ~mapped)):
            m.d.sync += self.state.eq(NO_READER)
        m.d.sync += self.probed.eq((self.probed | chosen | self.captured) & ~self.issues)
        return m

    def _choose(self, m: Module) -> Value:
        """The warp that is taken, one-hot or none, and what is taken of it."""
        self._free = named(m, "free", (self.state == NO_READER) | self.arrives)
        notes = [data.View(note_layout(self._cfg), hinted(self._cfg, head.hints)) for head in self.heads]
        addressed = named(m, "addressed", Cat(note.address_registers.any() for note in notes))
        known = Cat(
            head.full & head.source_valid[0] & ~pending.bit_select(head.sources[0], 1)
            for head, pending in zip(self.heads, self.pending, strict=True)
        )
        m.submodules.turns = turns = RoundRobin(self._cfg.warps)
        m.d.comb += [
            turns.requests.eq(self.shareable & self.buffered & addressed & named(m, "known", known) & ~self.probed),
            turns.taken.eq(self._free & turns.grant.any()),
        ]
        with m.If(self._free):
            m.d.sync += [
                self.ask_warp.eq(encode(turns.grant, self._cfg.warp_bits)),
                self.ask_register.eq(select(turns.grant, [head.sources[0] for head in self.heads])),
                self.offset.eq(select(turns.grant, [note.address_offset[:BASE_BITS] for note in notes])),
                self.mask.eq(select(turns.grant, [head.mask for head in self.heads])),
            ]
        return named(m, "chosen", turns.grant & self._free.replicate(self._cfg.warps))

    def _place(self, m: Module, in_read: Value) -> tuple[Value, Value]:
        """Where the register is, from the first cycle in READ on; whether it is anywhere; whether it is the last."""
        count = Signal(range(READ_CYCLES), name="count")
        kept = Signal(location_layout(self._cfg), name="place_kept", reset_less=True)
        first = named(m, "first", ~count.any())
        m.d.sync += [count.eq(Mux(in_read, count + 1, 0)), kept.eq(self.place)]
        m.d.comb += self.place.eq(Mux(first, self.entry[:-1], kept.as_value()))
        return named(m, "mapped", ~first | self.entry[-1]), named(m, "last", count == READ_CYCLES - 1)
