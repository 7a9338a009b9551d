"""The probe: whose next load is in the register file (docs/schemes/larf.md, section 19)."""

from collections.abc import Iterator

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, highest_one, select
from warpfile.hdl.beat import beat_layout, result_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.shared.address_match import WORD_BITS
from warpfile.hdl.rf.shared.notes import hinted, note_layout
from warpfile.hdl.rf.shared.reader import AddressReader, reader_ports
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.las import NO_PROBE, P1, P2
from warpfile.spec.schemes.shared import BASE_BITS, LOAD, STRIDE_BITS, SharedConfig


class ProbeLane(wiring.Component):
    """One lane of the data that the probe took.

    Members
    -------
    room : In(1), chosen : In(ports), words : In(ArrayLayout)   The probe is empty; the result that it takes, one-hot;
                                 the words of all.
    arrives : In(1), row : In(32)   It takes this instead, the reader's; no result is chosen.
    word : Out(32)               The word that was taken.
    next_word, next_stride : In(32), stride : Out(32), even : Out(1)   To the next lane; the next stride is this one.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        word = BASE_BITS
        super().__init__(
            {
                "room": In(1),
                "chosen": In(cfg.write_ports),
                "words": In(data.ArrayLayout(word, cfg.write_ports)),
                "arrives": In(1),
                "row": In(word),
                **{name: Out(word) for name in ("word", "stride")},
                **{name: In(word) for name in ("next_word", "next_stride")},
                "even": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """A register, a subtraction, a comparison."""
        m = Module()
        with m.If(self.room):
            m.d.sync += self.word.eq(select(Cat(self.chosen, self.arrives), [*self.words, self.row]))
        m.d.comb += [self.stride.eq(self.next_word - self.word), self.even.eq(self.stride == self.next_stride)]
        return m


class Lookahead(wiring.Component):
    """Takes an address that leaves X, if the load that uses it is the warp's head beat, or one that the reader has read
    for such a load, and looks for its vector.

    Members
    -------
    heads : In(ArrayLayout), buffered : In(warps), pending : In(ArrayLayout)   Head beats, who has one, and the pending
                                 registers of every warp.
    issues : In(warps)           One-hot or none, the warp that issues its head beat.
    results : In(ArrayLayout), data : In(ArrayLayout), leaves : In(ports)   Results; those that go from X to W0.
    known : In(1)                The bits above 32 of all vectors in the table are known.
    busy : In(1)                 The table compares the access.
    looks : Out(1), base, stride : Out, mask : Out(lanes), found : In(1)   In P2, if not: it compares this vector.
    shareable : Out(warps)       The head beat is a load that may be shared, whether there is one or not.
    state : Out(2), hit : Out(1), lookahead_hit : Out(warps)   The probe's; it finds; the warp, in the cycle after.
    reader_state : Out(2), probed : Out(warps), late : Out(1)   Of the reader, as the page has them.
    row : In(ArrayLayout)        In DATA: the row of the address register, lane by lane.
    See also :func:`hdl.rf.shared.reader.reader_ports`.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        ports, warps = cfg.write_ports, cfg.warps
        super().__init__(
            {
                "heads": In(data.ArrayLayout(beat_layout(cfg), warps)),
                "pending": In(data.ArrayLayout(cfg.register_names, warps)),
                **{name: In(warps) for name in ("buffered", "issues")},
                "results": In(data.ArrayLayout(result_layout(cfg), ports)),
                "data": In(data.ArrayLayout(cfg.data_bits, ports)),
                "leaves": In(ports),
                **{name: In(1) for name in ("known", "busy", "found")},
                **{name: Out(1) for name in ("looks", "hit")},
                "base": Out(WORD_BITS),
                "stride": Out(STRIDE_BITS),
                "mask": Out(cfg.lanes),
                "state": Out(2),
                **{name: Out(warps) for name in ("shareable", "lookahead_hit", "probed")},
                "reader_state": Out(2),
                "late": Out(1),
                "row": In(data.ArrayLayout(BASE_BITS, cfg.lanes)),
                **reader_ports(cfg),
            }
        )

    def elaborate(self, platform) -> Module:
        """Capture, the vector, the look."""
        m = Module()
        self._empty = named(m, "empty", self.state == NO_PROBE)
        notes = [data.View(note_layout(self._cfg), hinted(self._cfg, head.hints)) for head in self.heads]
        m.d.comb += self.shareable.eq(Cat(note.access == LOAD for note in notes))
        self._reader = reader = stamp(m, "reader", "address_reader", lambda: AddressReader(self._cfg))
        chosen = self._choose(m, notes)
        warp = self._take(m, chosen, notes)
        self._read(m, chosen)
        tracks = self._measure(m, chosen)
        in_look = named(m, "in_look", self.state == P2)
        m.d.comb += [self.looks.eq(in_look & ~self.busy), self.hit.eq(self.looks & self.found)]
        stays = named(m, "stays", Cat(self._of(result.warp, self.issues) for result in self.results))
        takes = (chosen & ~stays).any() | (reader.arrives & ~self._of(reader.ask_warp, self.issues))
        with m.If(self._empty):
            m.d.sync += self.state.eq(Mux(takes, P1, NO_PROBE))
        with m.Elif(self._of(warp, self.issues)):
            m.d.sync += self.state.eq(NO_PROBE)
        with m.Elif(~in_look):
            m.d.sync += self.state.eq(Mux(tracks, P2, NO_PROBE))
        with m.Elif(~self.busy):
            m.d.sync += self.state.eq(NO_PROBE)
        found = decode(warp, self._cfg.warps) & ~self.issues
        m.d.sync += self.lookahead_hit.eq(found & self.hit.replicate(self._cfg.warps))
        return m

    def _of(self, warp: Value, bits: Value) -> Value:
        """The bit of a warp."""
        return (decode(warp, self._cfg.warps) & bits).any()

    def _read(self, m: Module, chosen: Value) -> None:
        reader, warps = self._reader, self._cfg.warps
        inputs, outputs = ("heads", "buffered", "pending", "issues"), {"reader_state": "state"}
        outputs |= {name: name for name in ("probed", "late")}
        for name, member in reader_ports(self._cfg).items():
            if member.flow is In:
                inputs += (name,)
            else:
                outputs[name] = name
        m.d.comb += [
            *(getattr(reader, name).eq(getattr(self, name)) for name in inputs),
            *(getattr(self, name).eq(getattr(reader, own)) for name, own in outputs.items()),
            reader.shareable.eq(self.shareable),
            reader.captured.eq(select(chosen, [decode(result.warp, warps) for result in self.results])),
            reader.probe_empty.eq(self._empty),
        ]

    def _choose(self, m: Module, notes: list[data.View]) -> Value:
        """The result that is taken, if the probe is empty: one-hot, by port."""
        wants = [
            named(m, f"wants{warp}", Cat(shares & there & note.address_registers.any() & valid, source))
            for warp, (shares, there, note, valid, source) in enumerate(self._heads(notes))
        ]
        fits = []
        for port, result in enumerate(self.results):
            want = named(m, f"want{port}", select(decode(result.warp, self._cfg.warps), wants))
            fits.append(result.full & want[0] & (want[1:] == result.register))
        candidates = named(m, "candidates", Cat(fits) & self.leaves)
        room = named(m, "room", self._empty & ~self._reader.keeps)
        return named(m, "chosen", highest_one(candidates) & room.replicate(len(candidates)))

    def _heads(self, notes: list[data.View]) -> Iterator[tuple[Value, Value, data.View, Value, Value]]:
        for warp, (note, head) in enumerate(zip(notes, self.heads, strict=True)):
            yield self.shareable[warp], self.buffered[warp], note, head.source_valid[0], head.sources[0]

    def _take(self, m: Module, chosen: Value, notes: list[data.View]) -> Value:
        """Warp, mask and offset of what was taken; returns the warp."""
        warp, self._offset = (
            Signal(width, name=name, reset_less=True)
            for name, width in (("held_warp", self._cfg.warp_bits), ("offset", BASE_BITS))
        )
        reader, sources = self._reader, named(m, "sources", Cat(chosen, self._reader.arrives))
        new = named(m, "new_warp", select(chosen, [result.warp for result in self.results]))
        offset = select(decode(new, self._cfg.warps), [note.address_offset[:BASE_BITS] for note in notes])
        with m.If(self._empty):
            m.d.sync += [
                warp.eq(Mux(reader.arrives, reader.ask_warp, new)),
                self._offset.eq(Mux(reader.arrives, reader.offset, offset)),
                self.mask.eq(select(sources, [*(result.mask for result in self.results), reader.mask])),
            ]
        return warp

    def _measure(self, m: Module, chosen: Value) -> Value:
        """P1: whether the access port would look for this vector; its first lane must be lane 0."""
        lanes, mask = self._lanes(m, chosen), self.mask
        pairs = named(m, "pairs", mask & (mask >> 1))
        hole = (mask[1:] & ~mask[:-1]).any() if len(mask) > 1 else 0
        uneven = pairs & (pairs >> 1) & ~Cat(lane.even for lane in lanes)
        step = named(m, "step", lanes[0].stride & pairs[0].replicate(BASE_BITS))
        start = named(m, "start", (lanes[0].word + self._offset)[:BASE_BITS])
        words, low = step[2 : STRIDE_BITS + 2], BASE_BITS - WORD_BITS
        odd = step[:low].any() | start[:low].any() | step[STRIDE_BITS + 2 :].any()
        if self._cfg.strides == "powers":
            odd |= (words & (words - 1)[: len(words)]).any()
        end = named(m, "end", start[low:] + (self._cfg.lanes - 1) * words)
        with m.If(self.state == P1):
            m.d.sync += [self.base.eq(start[low:]), self.stride.eq(words)]
        regular = named(m, "regular", mask[0] & ~hole & ~uneven.any())
        return named(m, "tracks", regular & ~odd & ~end[WORD_BITS:].any() & self.known)

    def _lanes(self, m: Module, chosen: Value) -> list[wiring.PureInterface]:
        count = self._cfg.lanes
        lanes = [stamp(m, f"lane{lane}", "probe_lane", lambda: ProbeLane(self._cfg)) for lane in range(count)]
        for number, lane in enumerate(lanes):
            behind = lanes[(number + 1) % count]
            m.d.comb += [
                lane.room.eq(self._empty),
                lane.chosen.eq(chosen),
                lane.arrives.eq(self._reader.arrives),
                lane.row.eq(self.row[number]),
                lane.next_word.eq(behind.word),
                lane.next_stride.eq(behind.stride),
                *(
                    into.eq(words.word_select(number, BASE_BITS))
                    for into, words in zip(lane.words, self.data, strict=True)
                ),
            ]
        return lanes
