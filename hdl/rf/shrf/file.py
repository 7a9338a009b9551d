"""The register file with entries near the execution units that the compiler allocates (docs/schemes/shrf.md)."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from warpfile.hdl.arbiter import any_of, decode, encode
from warpfile.hdl.naming import named
from warpfile.hdl.rf.banks import Banks
from warpfile.hdl.rf.completion import complete_varying
from warpfile.hdl.rf.engines import Engines
from warpfile.hdl.rf.location import Location
from warpfile.hdl.rf.plain import PlainFile
from warpfile.hdl.rf.shrf.brings import Brings
from warpfile.hdl.rf.shrf.hold import HeadHold
from warpfile.hdl.rf.shrf.holders import SchedulerPlaces, SlotPlaces
from warpfile.hdl.rf.shrf.lane import LastResultLane, OperandFileLane
from warpfile.hdl.rf.shrf.named_entries import bringing, near, of_slots, result_entry, source_entries
from warpfile.hdl.rf.shrf.place import PlaceEntries
from warpfile.hdl.rf.shrf.results import TARGETS, ResultTargets
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.shrf import ShrfConfig, level_probes


class LeveledFile(PlainFile):
    """A plain file, and beside it the operand register file and the last-result files of the places.

    Ports: :func:`hdl.rf.contract.file_members` and the scheme's own probes. Hints say what a beat reads and writes
    near. If the scheduler has no places, every warp slot has one of its own. It takes every launch, lets go of places
    at once, and holds a warp whose head beat waits for an entry. Without entries it is the plain file.
    """

    _cfg: ShrfConfig

    def __init__(self, cfg: ShrfConfig) -> None:
        super().__init__(cfg, Location(cfg), {probe.name: Out(probe.width) for probe in level_probes(cfg)})

    def elaborate(self, platform) -> Module:
        """The plain file, then what beats do to entries, and the entries."""
        if self._cfg.is_off:
            return super().elaborate(platform)
        self._brings: wiring.Component | None = None
        m = super().elaborate(platform)
        reads = self._read_near(m)
        self._offer(m)
        self._places(m)
        self._hold(m)
        self._lanes(m, reads)
        return m

    def _make_holders(self, m: Module) -> SchedulerPlaces | SlotPlaces:
        cfg = self._cfg
        return SchedulerPlaces(m, self.places, cfg.warp_bits) if cfg.has_places else SlotPlaces(cfg.warps)

    def _make_banks(self, engines: Engines) -> Banks:
        return Banks(self._cfg, engines, shares=not self._cfg.is_off)

    def _accept(self, m: Module, banks: Banks) -> None:
        """Results go to their banks, to entries, or to both."""
        if self._cfg.is_off:
            super()._accept(m, banks)
            return
        self._holders = self._make_holders(m)
        m.submodules.targets = self._targets = targets = ResultTargets(self._cfg)
        if self._cfg.orf_entries:
            self._bring(m)
        m.d.comb += [
            targets.store.eq(self.result_store),
            targets.results.eq(self.results),
            *(
                holder.eq(self._holders.place_of(m, f"result{port}", result.warp))
                for port, (holder, result) in enumerate(zip(targets.holders, self.results, strict=True))
            ),
            banks.result_valid.eq(targets.to_bank),
            banks.result_may.eq(targets.may),
            targets.bank_accept.eq(banks.accept),
            self.result_accept.eq(targets.accept),
            *(getattr(self, name).eq(getattr(targets, name)) for name in TARGETS),
        ]

    def _complete(self, m: Module, location: wiring.Component, banks: Banks) -> None:
        """A result with an entry is in place at once."""
        cycles = self._cfg.bank_cycles
        if self._cfg.is_off or cycles == 1:
            super()._complete(m, location, banks)
            return
        entries = (result_entry(self._cfg, result.hints) for result in self.results)
        complete_varying(m, self._cfg, self, [Mux(entry.any(), 1, cycles) for entry in entries])

    def _bring(self, m: Module) -> None:
        m.submodules.brings = self._brings = brings = Brings(self._cfg)
        m.d.comb += [
            brings.slot.eq(self.bring_slot),
            brings.grant.eq(self.grant),
            brings.holder.eq(self._holders.place_of(m, "bring", self.bring_warp)),
            brings.ref.eq(self.bring_ref),
            brings.mask.eq(self.bring_mask),
            self._targets.bring.eq(brings.writes),
            self.bring.eq(brings.written),
        ]

    def _read_near(self, m: Module) -> list[Value]:
        """Per source slot the entries of all places that are read, one-hot or zero."""
        cfg = self._cfg
        holder, reads = self._holders.place_of(m, "reader", self.near_warp), []
        named_entries = [
            named(m, f"read_entry{slot}", decode(ref, cfg.place_entries) & read.replicate(cfg.place_entries))
            for slot, (ref, read) in enumerate(zip(self.near_refs, self.near_slots, strict=True))
        ]
        for slot, entry in enumerate(named_entries):
            place = (entry & bit.replicate(len(entry)) for bit in holder)
            reads.append(named(m, f"reads{slot}", Cat(place)))
        m.d.comb += [
            self.orf_read.eq(Cat(entry[: cfg.orf_entries].any() for entry in named_entries)),
            self.lrf_read.eq(Cat(entry[cfg.orf_entries :].any() for entry in named_entries)),
        ]
        return reads

    def _offer(self, m: Module) -> None:
        """What hints say of the offered beat's sources."""
        entries = source_entries(self._cfg, self.offer)
        m.d.comb += self.source_near.eq(near(self._cfg, self.offer))
        m.d.comb += [ref.eq(encode(entry, len(ref))) for ref, entry in zip(self.source_refs, entries, strict=True)]
        if self._cfg.orf_entries:
            m.d.comb += self.source_bring.eq(bringing(self._cfg, self.offer))

    def _places(self, m: Module) -> None:
        """Entries to be written, of every place."""
        cfg, count = self._cfg, self._cfg.place_entries
        entries, brings = source_entries(cfg, self.offer), bringing(cfg, self.offer)
        writes = named(m, "offer_writes", of_slots(entries, brings) | result_entry(cfg, self.offer.hints))
        issues = named(m, "issues", self.offer_valid & self.accept & self.offer.executes)
        written = []
        for number in range(cfg.entry_places):
            place = stamp(m, f"place{number}", "place_entries", lambda: PlaceEntries(cfg))
            fresh = self._targets.written.word_select(number, count)
            if self._brings is not None:
                fresh = fresh | self._brings.written.word_select(number, cfg.orf_entries)
            m.d.comb += [
                place.issues.eq(self._holders.holds(number, self.offer_warp) & issues),
                place.writes.eq(writes),
                place.written.eq(fresh),
            ]
            written.append(place.to_be_written)
        m.d.comb += self.to_be_written.eq(Cat(*written))

    def _hold(self, m: Module) -> None:
        """Every warp with the entries of its place."""
        cfg = self._cfg
        to_be_written = [self.to_be_written.word_select(place, cfg.place_entries) for place in range(cfg.entry_places)]
        for warp, head in enumerate(self.heads):
            part = stamp(m, f"hold{warp}", "head_hold", lambda: HeadHold(cfg), clocked=False)
            m.d.comb += [
                part.head.eq(head),
                part.buffered.eq(self.buffered[warp]),
                part.to_be_written.eq(self._holders.word_of(warp, to_be_written)),
                self.hold[warp].eq(part.hold),
            ]
        m.d.comb += self.entry_hold.eq(self.hold)

    def _lanes(self, m: Module, reads: list[Value]) -> None:
        """The entries, lane by lane."""
        for number in range(self._cfg.lanes):
            words = self._last_results(m, number, reads)
            if self._brings is not None:
                found = self._operand_file(m, number, reads)
                words = [word | found.word_select(slot, 32) for slot, word in enumerate(words)]
            m.d.comb += self.near_data[number].eq(Cat(*words))

    def _written_lane(self, lane: wiring.PureInterface, number: int, port: int, rows: Value) -> list:
        results = [word.word_select(number, 32) for word in self.result_data]
        return [
            lane.results.eq(Cat(*results)),
            lane.masks.eq(Cat(result.mask[number] for result in self.results)),
            lane.writer.eq(self._targets.writers[port]),
            lane.written.eq(rows),
        ]

    def _operand_file(self, m: Module, number: int, reads: list[Value]) -> Value:
        """One lane of the operand register file, whose write port is the first. Returns a word per source slot."""
        cfg, brings = self._cfg, self._brings
        assert brings is not None
        lane = stamp(m, f"operand_lane{number}", "operand_file_lane", lambda: OperandFileLane(cfg))
        entries = slice(0, cfg.orf_entries)
        m.d.comb += [
            *self._written_lane(lane, number, 0, self._rows(self._targets.written, entries) | brings.written),
            lane.inputs.eq(self.fill_data[number]),
            lane.brought.eq(brings.inputs),
            lane.bring_mask.eq(brings.lanes[number]),
            lane.rows.eq(Cat(self._rows(read, entries) for read in reads)),
        ]
        return lane.words

    def _last_results(self, m: Module, number: int, reads: list[Value]) -> list[Value]:
        """One lane of the last-result files. Returns a word per source slot, zero where none is read."""
        cfg = self._cfg
        words: list[Value] = [Const(0, 32) for _ in reads]
        for last in range(cfg.lrf_entries):
            entry = slice(cfg.orf_entries + last, cfg.orf_entries + last + 1)
            slots = [last] if cfg.lrf == "split" else range(cfg.source_slots)
            lane = stamp(m, f"last{last}_lane{number}", "last_result_lane", lambda: LastResultLane(cfg))
            rows = self._rows(self._targets.written, entry)
            m.d.comb += [
                *self._written_lane(lane, number, (cfg.orf_entries > 0) + last, rows),
                lane.row.eq(any_of(self._rows(reads[slot], entry) for slot in slots)),
            ]
            for slot in slots:
                chosen = lane.word
                words[slot] = chosen if len(slots) == 1 else chosen & self.lrf_read[slot].replicate(32)
        return words

    def _rows(self, entries: Value, which: slice) -> Value:
        """Of the entries of all places those of some numbers."""
        count = self._cfg.place_entries
        return Cat(entries.word_select(place, count)[which] for place in range(self._cfg.entry_places))
