"""Control of the register cache: which register is in which line, and what a cycle does to the lines."""

from collections.abc import Iterable

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, encode, lowest_one, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.rfc.check import TagCheck, entry_bits
from warpfile.hdl.rf.rfc.flush import FlushEngine
from warpfile.hdl.rf.rfc.results import SHORT_LOOKUP
from warpfile.hdl.rf.rfc.tags import CacheTags, tags_layout
from warpfile.hdl.rf.rfc.victim import head_bits
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.rfc import READ_PORTS, RfcConfig

#: What is observed of the lines, one bit each.
LINE_OUTPUTS = ("held", "dead", "evict_first", "pinned", "flush", "flush_dead", "drop")


def _where(m: Module, name: str, lines: Value, condition: Value) -> Signal:
    return named(m, name, lines & condition.replicate(len(lines)))


class CacheDirectory(wiring.Component):
    """Tags of all places and the steps of a cycle; data are in the lanes. Lines are place-major.

    Without lines nothing is ever found, and places are let go of at once.

    Members
    -------
    places : In(ArrayLayout), release : In(active_warps), released : Out(active_warps)   As in the register file.
    exits : In(warps)                  The warp whose EXIT issues, one-hot.
    short_warp, long_warp : In(warp_bits), short_register, long_register : In(register_bits)   Of the two results.
    write_hit, take : In(1)            The short result enters its line, or another one.
    merge, drop_long : In(1)           The long result is written into its line, or makes it invalid.
    would_merge, would_drop : In(1)    It does that if its register is in a line which the short result leaves; whether
                                       that is so comes late, and a line that it does not leave changes nevertheless.
    hit, line, victim, victim_dead : Out(1)   Of the short result's register: it is there; a line may be taken; that
                                       holds a value that has to be written, one that is not read again.
    victim_register : Out(register_bits), victims : Out(ArrayLayout)   Register of that value; that of every place.
    long_met, long_leaves : Out(1)     Of the long result's register: it is there; its line goes with ``take``.
    short_owner : Out(active_warps)    Place of the short result's warp, one-hot or zero.
    flush_wanted : Out(1), flush_owner : Out(active_warps), flush_register : Out(register_bits)   The line to be
                                       flushed, and its place.
    flush_barred : Out(1)              A result changes that line.
    flush_sent : In(1)                 It goes to its queue.
    check_warp : In(warp_bits), check_valid : In(source_slots), check_registers : In(ArrayLayout)   Sources to look up.
    hits : Out(source_slots), entries : Out(ArrayLayout)   Which of them are there, and where.
    lacks : In(lines)                  Lines without some lane of the beat that looks up. This and what follows only
                                       where lines know their lanes.
    defer : Out(1)                     The beat is not looked up now.
    recall : Out(1)                    A line is sent for it.
    read_warp : In(warp_bits), reads, kills, hastens : In(source_slots), read_entries : In(ArrayLayout)   Of the unit
                                       that reads: its hits, the hints of their sources, where they are.
    victim_port, flush_port : In(READ_PORTS)   Read port that the victim, or the line to be flushed, uses.
    written : Out(lines), line_reads : Out(ArrayLayout)   Line that is written, line that each port reads.
    LINE_OUTPUTS : Out(lines) each, line_register, head : Out(ArrayLayout)   Observed.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        lines, slots, places = max(1, cfg.lines), cfg.source_slots, cfg.active_warps
        entries = data.ArrayLayout(entry_bits(cfg), slots)
        recall = {"lacks": In(lines), "defer": Out(1), "recall": Out(1)}
        ones = ("write_hit", "take", "merge", "drop_long", "would_merge", "would_drop", "flush_sent")
        super().__init__(
            {
                "places": In(data.ArrayLayout(cfg.warps, places)),
                "release": In(places),
                "released": Out(places),
                "exits": In(cfg.warps),
                **{f"{name}_warp": In(cfg.warp_bits) for name in ("short", "long", "check", "read")},
                **{f"{name}_register": In(cfg.register_bits) for name in ("short", "long")},
                **{name: In(1) for name in ones},
                **{name: Out(1) for name in (*SHORT_LOOKUP, "long_met", "long_leaves", "flush_wanted", "flush_barred")},
                **{f"{name}_register": Out(cfg.register_bits) for name in ("victim", "flush")},
                "victims": Out(data.ArrayLayout(cfg.register_bits, places)),
                **{f"{name}_owner": Out(places) for name in ("short", "flush")},
                "check_valid": In(slots),
                "check_registers": In(data.ArrayLayout(cfg.register_bits, slots)),
                "hits": Out(slots),
                "entries": Out(entries),
                **(recall if cfg.keeps_lanes else {}),
                **{name: In(slots) for name in ("reads", "kills", "hastens")},
                "read_entries": In(entries),
                **{name: In(READ_PORTS) for name in ("victim_port", "flush_port")},
                "written": Out(lines),
                "line_reads": Out(data.ArrayLayout(lines, READ_PORTS)),
                **{name: Out(lines) for name in LINE_OUTPUTS},
                "line_register": Out(data.ArrayLayout(cfg.register_bits, lines)),
                "head": Out(data.ArrayLayout(head_bits(cfg), places)),
            }
        )

    def elaborate(self, platform) -> Module:
        """The steps of a cycle in their order, then what they leave."""
        m = Module()
        self._hold(m)
        if not self._cfg.lines:
            m.d.comb += self.released.eq(self.release)
            return m
        tags = [self._tags(m, number) for number in range(self._cfg.active_warps)]
        self._watch(m, tags)
        met, victim = self._short(m, tags)
        long_met = self._long(m, tags, victim)
        taken, voided = _where(m, "taken", victim, self.take), _where(m, "voided", long_met, self.drop_long)
        revived = _where(m, "revived", met, self.write_hit) | _where(m, "merged", long_met, self.merge)
        m.d.comb += self.written.eq(taken | revived)
        meets = ((victim, self.take), (met, self.write_hit), (long_met, self.would_merge | self.would_drop))
        flushed = self._flush(m, tags, meets, named(m, "stay", ~(self.written | voided)))
        pinned = self._check(m, tags, taken | _where(m, "void", long_met, self.would_drop))
        reads = self._read(m, tags, victim, flushed)
        invalid = self.flush | self.flush_dead | voided
        for name, lines in {"take": taken, "revive": revived, "invalidate": invalid, "pin": pinned}.items():
            self._drive(m, tags, name, lines)
        self._mark(m, tags, reads)
        return m

    def _tags(self, m: Module, number: int) -> wiring.PureInterface:
        tags = stamp(m, f"tags{number}", "cache_tags", lambda: CacheTags(self._cfg))
        m.d.comb += [
            tags.short_register.eq(self.short_register),
            tags.long_register.eq(self.long_register),
            tags.vacant.eq(~self.places[number].any()),
        ]
        return tags

    def _watch(self, m: Module, tags: list) -> None:
        """State of the lines, the places that are empty, and the lines of a warp that ends."""
        cfg = self._cfg
        for name, field in (("held", "valid"), *((name, name) for name in ("dead", "evict_first", "pinned"))):
            m.d.comb += getattr(self, name).eq(Cat(place.tags[field] for place in tags))
        registers = [register for place in tags for register in place.tags.registers]
        for number, register in enumerate(registers):
            m.d.comb += self.line_register[number].eq(register & self.held[number].replicate(cfg.register_bits))
        ends = named(m, "ending", Cat((warps & self.exits).any() for warps in self.places))
        m.d.comb += [
            *(place.ends.eq(bit) for place, bit in zip(tags, ends, strict=True)),
            self.released.eq(self.release & Cat(~place.tags.valid.any() for place in tags)),
            self.drop.eq(self.held & self._spread(m, "ends", ends)),
        ]
        if cfg.replacement != "lru":
            m.d.comb += self.head.eq(Cat(place.tags.head for place in tags))

    def _short(self, m: Module, tags: list) -> tuple[Value, Value]:
        """Step 1, short result. Returns the line that it meets, and the line that it would take."""
        place = self.short_owner
        found = named(m, "short_found", self._of(place, [one.met for one in tags]))
        line = named(m, "short_line", self._of(place, [one.victim for one in tags]))
        held, dead = (
            named(m, name, Cat(getattr(one, name) for one in tags) & place) for name in ("victim_held", "victim_dead")
        )
        m.d.comb += [
            self.hit.eq(found.any()),
            self.line.eq(line.any()),
            self.victim_dead.eq(dead.any() if self._cfg.dead_bits == "honoured" else 0),
            self.victim.eq(held.any() & ~self.victim_dead),
            self.victims.eq(Cat(one.victim_register for one in tags)),
            self.victim_register.eq(select(place, list(self.victims))),
        ]
        return found, line

    def _long(self, m: Module, tags: list, victim: Value) -> Value:
        """Step 1, long result. Returns the line that it meets, which the short result may take."""
        place = self._holder(m, "long", self.long_warp)
        found = named(m, "long_found", self._of(place, [one.long_met for one in tags]))
        m.d.comb += [self.long_met.eq(found.any()), self.long_leaves.eq((found & victim).any())]
        return found

    def _flush(self, m: Module, tags: list, meets: Iterable[tuple[Value, Value]], stay: Value) -> Value:
        """Step 3. Returns the line that is sent if it can be, which is read before that is known.

        ``meets``: a line, and whether a result changes it, if no other one does; ``stay``: the lines that none changes.
        """
        cfg = self._cfg
        m.submodules.flush_engine = engine = FlushEngine(cfg)
        m.d.comb += [
            engine.release.eq(self.release),
            engine.valid.eq(self.held),
            engine.worthless.eq(self.dead if cfg.dead_bits == "honoured" else 0),
            self.flush_dead.eq(engine.dropped & stay),
        ]
        register = select(engine.line, [register for one in tags for register in one.tags.registers])
        chosen = [engine.line, engine.place, named(m, "flushed_register", register)]
        if cfg.keeps_lanes:
            recalled, recall = self._recall(m, tags)
            chosen = [Mux(recalled, one, other) for one, other in zip(recall, chosen, strict=True)]
        line = named(m, "flush_line", chosen[0])
        m.d.comb += [
            self.flush_wanted.eq(line.any()),
            self.flush_barred.eq(any_of((line & met).any() & changes for met, changes in meets)),
            Cat(self.flush_owner, self.flush_register).eq(Cat(*chosen[1:])),
            self.flush.eq(line & self.flush_sent.replicate(cfg.lines)),
        ]
        return line

    def _recall(self, m: Module, tags: list) -> tuple[Value, list[Value]]:
        """Step 4, before results: a source whose line lacks lanes of the beat.

        Returns whether a line goes for it, and that line, its place, its register.
        """
        place = self._holder(m, "recall", self.check_warp)
        seen = self._view(m, "recall_tags", place, tags)
        m.submodules.recall_check = check = TagCheck(self._cfg)
        loose = named(m, "recall_loose", check.lines & ~seen.pinned)
        line, recalled = named(m, "recall_line", lowest_one(loose)), named(m, "recalled", loose.any())
        m.d.comb += [
            check.wanted.eq(self.check_valid),
            check.registers.eq(self.check_registers),
            check.valid.eq(seen.valid & select(place, self._by_place(self.lacks))),
            check.tags.eq(seen.registers),
            self.defer.eq(check.hits.any()),
            self.recall.eq(self.flush_sent & recalled),
        ]
        return recalled, [self._at(place, line), place, select(line, list(seen.registers))]

    def _check(self, m: Module, tags: list, gone: Value) -> Value:
        """Step 4. A register that enters in this cycle is no beat's source. Returns the lines that are pinned."""
        place = self._holder(m, "check", self.check_warp)
        seen = self._view(m, "check_tags", place, tags, gone=gone)
        m.submodules.tag_check = check = TagCheck(self._cfg)
        wanted = self.check_valid
        if self._cfg.keeps_lanes:
            wanted = wanted & ~self.defer.replicate(len(wanted))
        m.d.comb += [
            check.wanted.eq(wanted),
            check.registers.eq(self.check_registers),
            check.valid.eq(seen.valid),
            check.tags.eq(seen.registers),
            self.hits.eq(check.hits),
            self.entries.eq(check.entries),
        ]
        return named(m, "pins", self._at(place, check.lines))

    def _read(self, m: Module, tags: list, victim: Value, flushed: Value) -> list[Value]:
        """Step 2, and the ports that step 1 and step 3 use. Returns the line that every source slot reads."""
        cfg = self._cfg
        place = self._holder(m, "read", self.read_warp)
        reads = []
        for slot, entry in enumerate(self.read_entries):
            line = decode(entry, cfg.cache_entries) & self.reads[slot].replicate(cfg.cache_entries)
            reads.append(named(m, f"reads{slot}", self._at(place, line)))
        for port, lines in enumerate(self.line_reads):
            others = select([self.victim_port[port], self.flush_port[port]], [victim, flushed])
            m.d.comb += lines.eq(reads[port] | others if port < len(reads) else others)
        return reads

    def _mark(self, m: Module, tags: list, reads: list[Value]) -> None:
        """What the reads of step 2 leave: no pins, and the hints of the sources."""
        width = self._cfg.cache_entries
        for name, hints in (("kill", self.kills), ("hasten", self.hastens)):
            self._drive(
                m, tags, name, any_of(line & hint.replicate(len(line)) for line, hint in zip(reads, hints, strict=True))
            )
        for number, place in enumerate(tags):
            m.d.comb += place.reads.eq(Cat(line.word_select(number, width) for line in reads))

    def _hold(self, m: Module) -> None:
        """The number of each place's warp, made of registered state, so that a warp's place is one comparison away."""
        self._numbers = [
            named(m, f"holder{number}", Cat(encode(warps, self._cfg.warp_bits), warps.any()))
            for number, warps in enumerate(self.places)
        ]
        m.d.comb += self.short_owner.eq(self._holder(m, "short", self.short_warp))

    def _holder(self, m: Module, name: str, warp: Value) -> Signal:
        """The place of a warp, one-hot; zero if it has none."""
        wanted = Cat(warp, Const(1, 1))
        return named(m, f"{name}_holder", Cat(number == wanted for number in self._numbers))

    def _of(self, place: Value, lines: list[Value]) -> Value:
        """Lines of all places, of which those of one count."""
        return Cat(own & bit.replicate(len(own)) for bit, own in zip(place, lines, strict=True))

    def _view(self, m: Module, name: str, place: Value, tags: list, gone: Value | None = None) -> data.View:
        """Tags of one place, without the lines that are ``gone``."""
        seen = Signal(tags_layout(self._cfg), name=name)
        m.d.comb += seen.eq(select(place, [one.tags.as_value() for one in tags]))
        if gone is None:
            return seen
        left = Signal(tags_layout(self._cfg), name=f"{name}_left")
        width = self._cfg.cache_entries
        lost = select(place, [gone.word_select(number, width) for number in range(len(tags))])
        m.d.comb += [left.valid.eq(seen.valid & ~lost), left.registers.eq(seen.registers)]
        return left

    def _by_place(self, lines: Value) -> list[Value]:
        return [lines.word_select(number, self._cfg.cache_entries) for number in range(self._cfg.active_warps)]

    def _at(self, place: Value, lines: Value) -> Value:
        """Lines of one place among those of all."""
        return Cat(lines & bit.replicate(len(lines)) for bit in place)

    def _spread(self, m: Module, name: str, places: Value) -> Value:
        """All lines of some places."""
        return named(m, name, Cat(bit.replicate(self._cfg.cache_entries) for bit in places))

    def _drive(self, m: Module, tags: list, name: str, lines: Value) -> None:
        lines = named(m, f"all_{name}", lines)
        for number, place in enumerate(tags):
            m.d.comb += getattr(place, name).eq(lines.word_select(number, self._cfg.cache_entries))
