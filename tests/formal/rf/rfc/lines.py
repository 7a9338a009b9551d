"""Proof of the directory of a register cache: what is in the lines of all places, from results to readers to banks."""

from collections.abc import Callable
from unittest import mock

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one, constant, past
from tests.formal.rf.rfc.parts import any_number, config
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.rf.rfc import directory
from warpfile.hdl.rf.rfc.directory import CacheDirectory


def _inside(m: Module, name: str, module: str, build: Callable[[], wiring.Component]) -> wiring.Component:
    """A repeated part as a submodule like any other."""
    m.submodules[name] = part = build()
    return part


class LineProperties(ConfiguredProperties):
    """Lines of all places; scheduler, units, results and scoreboard see to what is assumed.

    A unit looks its sources up in the lines of its warp's place, and reads all its hits at once, later. Till then its
    warp neither ends nor is its place released, and no result has one of the registers.
    """

    late = False  #: short results come for warps whose place is released

    def elaborate(self, platform):
        """The directory is elaborated with the tags in it."""
        with mock.patch.object(directory, "stamp", _inside):
            return super().elaborate(platform)

    def check(self, m, part):
        cfg = self._cfg
        self.size, self.lines, self.places = cfg.cache_entries, range(cfg.lines), range(cfg.active_warps)
        self.holders = [part.places[place] for place in self.places]
        self.ends = [(holder & part.exits).any() for holder in self.holders]
        self.line, self.place = constant(m, "line", cfg.lines), constant(m, "place", cfg.active_warps)
        met = Cat(self._meets(part, line, part.long_warp, part.long_register) for line in self.lines)
        self.taken = named(m, "taken_line", Mux(part.take, part.written, 0))
        self.void = named(m, "void_line", Mux(part.drop_long, met, 0))
        self._scheduler(m, part)
        self._units(m, part)
        self._results(m, part)
        self._tags(m, part)
        self._fate(m, part)
        self._lookups(m, part)
        self._flush(m, part)
        self._sent(m, part)

    def _runs(self, part, warp: Value) -> Value:
        """A warp has a place that is neither released nor left."""
        runs = [
            holder.bit_select(warp, 1) & ~part.release[place] & ~self.ends[place]
            for place, holder in enumerate(self.holders)
        ]
        return any_of(runs)

    def _meets(self, part, line: int, warp: Value, register: Value) -> Value:
        """A line has this register of this warp."""
        mine = self.holders[line // self.size].bit_select(warp, 1)
        return part.held[line] & mine & (part.line_register[line] == register)

    def _scheduler(self, m, part) -> None:
        """A warp has one place and keeps it till its EXIT or till the place is let go, which is asked for till then."""
        m.d.comb += Assume(at_most_one(part.exits))
        m.d.comb += [Assume((self.holders[a] & self.holders[b]) == 0) for a in self.places for b in range(a)]
        for place, holder in enumerate(self.holders):
            before = past(m, holder, f"holder{place}")
            left = past(m, self.ends[place] | part.released[place], f"left{place}")
            asked = past(m, part.release[place] & ~part.released[place], f"asked{place}")
            m.d.comb += [
                Assume(at_most_one(holder)),
                Assume(~before.any() | (holder == Mux(left, 0, before))),
                Assume(~part.release[place] | (holder.any() & ~self.ends[place])),
                Assume(~asked | part.release[place]),
            ]

    def _units(self, m, part) -> None:
        """Hits that each collector unit has yet to read, as it was told them; any unit may look up, any may read."""
        cfg, units = self._cfg, range(self._cfg.collectors)
        finder, reader = (any_number(m, name, cfg.collectors) for name in ("finder", "reader"))
        self.unread = [Signal(cfg.source_slots, name=f"unread{unit}") for unit in units]
        self.entries = [Signal(len(part.entries.as_value()), name=f"entries{unit}") for unit in units]
        self.warps = [Signal(cfg.warp_bits, name=f"warp_of{unit}") for unit in units]
        told = Cat(part.read_warp, part.reads, part.read_entries.as_value())
        sources = [(part.check_valid[slot], part.check_registers[slot]) for slot in range(cfg.source_slots)]
        for number, (wanted, register) in enumerate(sources):
            m.d.comb += [Assume(~(wanted & other) | (register != name)) for other, name in sources[:number]]
        m.d.comb += Assume(~part.check_valid.any() | self._runs(part, part.check_warp))
        for unit, unread in enumerate(self.unread):
            checks, reads = part.check_valid.any() & (finder == unit), part.reads.any() & (reader == unit)
            m.d.comb += [
                Assume(~checks | ~unread.any()),
                Assume(~reads | (told == Cat(self.warps[unit], unread, self.entries[unit]))),
                Assume(~unread.any() | self._runs(part, self.warps[unit])),
            ]
            with m.If(reads):
                m.d.sync += unread.eq(0)
            with m.If(checks):
                m.d.sync += [unread.eq(part.hits), self.entries[unit].eq(part.entries)]
                m.d.sync += self.warps[unit].eq(part.check_warp)

    def _results(self, m, part) -> None:
        """As the writes decide; a warp that ends or is suspended has no short result on its way."""
        short, long = part.take | part.write_hit, part.merge | part.drop_long
        ends = (part.exits >> part.long_warp)[0]
        long_hit = part.long_met & ~(part.long_leaves & part.take)
        results = ((short, part.short_warp, part.short_register), (long, part.long_warp, part.long_register))
        same = (part.short_warp == part.long_warp) & (part.short_register == part.long_register)
        m.d.comb += [
            Assume(~(part.take & part.write_hit) & ~(part.merge & part.drop_long) & ~(part.merge & short)),
            Assume((~part.take | (part.line & ~part.hit)) & (~part.write_hit | part.hit)),
            Assume(~long | long_hit),
            Assume(~long_hit | ((part.would_merge == part.merge) & (part.would_drop == part.drop_long))),
            Assume(~part.flush_sent | (part.flush_wanted & ~part.flush_barred)),
            Assume(~short | self._runs(part, part.short_warp) | self.late),
            Assume(~(long & ends)),
            Assume(~(short & long & same)),
        ]
        for valid, warp, register in results:
            read = [part.pinned[line] & self._meets(part, line, warp, register) for line in self.lines]
            read += [
                part.check_valid[slot] & (part.check_warp == warp) & (part.check_registers[slot] == register)
                for slot in range(self._cfg.source_slots)
            ]
            m.d.comb += Assume(~(valid & any_of(read)))

    def _pins(self, line: int) -> list[Value]:
        """Source slots that have yet to read a line."""
        width, (place, entry) = len(self.entries[0]) // self._cfg.source_slots, divmod(line, self.size)
        slots = [
            (bit, self.entries[unit].word_select(slot, width), self.warps[unit])
            for unit, unread in enumerate(self.unread)
            for slot, bit in enumerate(unread)
        ]
        return [bit & (read == entry) & self.holders[place].bit_select(warp, 1) for bit, read, warp in slots]

    def _tags(self, m, part) -> None:
        pairs = [(a, b) for a in self.lines for b in range(a) if a // self.size == b // self.size]
        same = [part.held[a] & part.held[b] & (part.line_register[a] == part.line_register[b]) for a, b in pairs]
        pinned = named(m, "pinned_shadow", Cat(any_of(self._pins(line)) for line in self.lines))
        empty = [holder.any() | ~self._of(part.held, place).any() for place, holder in enumerate(self.holders)]
        m.d.comb += [
            Assert(~any_of(same), "no two lines of a place have one register"),
            Assert(Cat(empty).all(), "a warp without a place has nothing in the cache"),
            Assert(part.pinned == pinned, "pinned are the lines that a slot has yet to read"),
            Assert((part.pinned & ~part.held) == 0, "a pinned line is valid"),
            Assert(((part.dead | part.evict_first) & ~part.held) == 0, "marks are of valid lines"),
            Cover(
                part.held.all() & self._of(part.pinned, 0).all() & part.take, "all lines of another place are pinned"
            ),
        ]

    def _of(self, lines: Value, place: int) -> Value:
        return lines.word_select(place, self.size)

    def _fate(self, m, part) -> None:
        """How a register comes into a line and how it leaves."""
        place = [self.line // self.size == place for place in self.places]

        def here(lines):
            return lines.bit_select(self.line, 1)

        held, register = here(part.held), part.line_register.as_value().word_select(self.line, self._cfg.register_bits)
        was, before = past(m, held, "held"), past(m, register, "line_register")
        left = past(m, here(part.flush | part.flush_dead | part.drop | self.void), "left")
        taken, new = past(m, here(self.taken), "taken"), past(m, part.short_register, "new")
        owner = any_of(
            at & holder.bit_select(part.short_warp, 1) for at, holder in zip(place, self.holders, strict=True)
        )
        pinned = past(m, here(part.pinned), "pinned")
        m.d.comb += [
            Assert(held == (taken | (was & ~left)), "a line is valid until it is sent, dropped, or invalidated"),
            Assert(~held | (register == Mux(taken, new, before)), "a register stays till another one takes the line"),
            Assert(~(here(self.taken) & ~owner), "a register is in the lines of its warp's place"),
            Assert(~pinned | (held & ~taken), "a pinned line stays as it is"),
        ]

    def _lookups(self, m, part) -> None:
        """What results and sources are told, as the short result leaves the lines where that matters."""
        short = Cat(self._meets(part, n, part.short_warp, part.short_register) for n in self.lines)
        long = Cat(self._meets(part, n, part.long_warp, part.long_register) for n in self.lines)
        gives_way, registers = part.held & self.taken, part.line_register
        victims = [~gives_way[line] | (part.victim_register == registers[line]) for line in self.lines]
        dead = (gives_way & part.dead).any() if self._cfg.dead_bits == "honoured" else Const(0)
        owner = Cat(holder.bit_select(part.short_warp, 1) for holder in self.holders)
        m.d.comb += [
            Assert(part.short_owner == owner, "the place of its warp is named"),
            Assert(part.hit == short.any(), "a short result meets its register's line"),
            Assert(part.long_met == long.any(), "so does a long one"),
            Assert(
                ~part.take | (part.long_leaves == (long & self.taken).any()),
                "long_leaves is set if that line is evicted",
            ),
            Assert(~part.take | (part.victim_dead == dead), "a victim is dead or has to be sent"),
            Assert(~part.take | (part.victim == (gives_way.any() & ~dead)), "it is one if the line had a register"),
            Assert(Cat(victims).all(), "its register is named"),
            Assert((self.taken & part.pinned) == 0, "no line gives way that is to be read"),
        ]
        for slot, wanted in enumerate(part.check_valid):
            there = Cat(self._meets(part, n, part.check_warp, part.check_registers[slot]) for n in self.lines)
            hit = wanted & (there & ~self.taken).any()
            m.d.comb += Assert(part.hits[slot] == hit, "a source is a hit iff its line does not give way")

    def _flush(self, m, part) -> None:
        """What is sent or dropped of places that are released, and when they are let go."""
        held = part.held & Cat(bit.replicate(self.size) for bit in part.release)
        sent, dead = part.flush, part.dead if self._cfg.dead_bits == "honoured" else Const(0, len(held))
        kept = held & ~dead
        changed, lowest = part.written | self.void, (kept & -kept)[: len(kept)]
        empty = Cat(bit & ~self._of(part.held, place).any() for place, bit in enumerate(part.release))
        m.d.comb += [
            Assert(part.released == empty, "a place is let go when none of its lines is valid"),
            Assert(at_most_one(sent) & (sent.any() == part.flush_sent), "one line is sent"),
            Assert((sent & changed) == 0, "no result changes it"),
            Assert(self._named(part), "its place and its register are named"),
            Assert(part.flush_wanted == kept.any(), "one wants to be sent while there are any"),
            Assert(part.flush_barred == (lowest & changed).any(), "it is held up by a result that changes it alone"),
            Assert(~sent.any() | (sent == lowest), "the lowest line of the lowest place is sent"),
            Assert(part.flush_dead == (held & dead & ~part.written & ~self.void), "dead lines are dropped at once"),
        ]

    def _named(self, part) -> Value:
        """Of a line that is sent, the place and the register are told."""
        told = [
            ~sent | (part.flush_owner[line // self.size] & (part.line_register[line] == part.flush_register))
            for line, sent in enumerate(part.flush)
        ]
        return Cat(told).all() & at_most_one(part.flush_owner)

    def _sent(self, m, part) -> None:
        """Of one place, what has been sent since the scheduler asked for it."""
        self.sent, self.sends = Signal(self.size), Signal(range(2 * self.size + 2))
        self.released = part.release.bit_select(self.place, 1)
        here, left = (lines.word_select(self.place, self.size) for lines in (part.flush, part.held))
        m.d.sync += [
            self.sent.eq(Mux(self.released, self.sent | here, 0)),
            self.sends.eq(Mux(self.released, self.sends + here.any(), 0)),
        ]
        m.d.comb += [
            Assert((here & self.sent) == 0, "a line is sent at most once"),
            Assert((self.sends == 0) | (self.sends + sum(left) <= self.size), "no more are sent than a place has"),
            Cover(self.sends == self.size, "all lines are sent"),
        ]

    def help(self, m, part, state):
        width = len(self.entries[0]) // self._cfg.source_slots
        here = part.held.word_select(self.place, self.size)
        for line in self.lines:
            place, entry = divmod(line, self.size)
            count = sum(self._pins(line))
            m.d.comb += Assert(state(f"tags{place}", f"pins{entry}") == count, "one pin per slot that has yet to read")
        for unit, unread in enumerate(self.unread):
            for slot, bit in enumerate(unread):
                entry = self.entries[unit].word_select(slot, width)
                others = [self.entries[unit].word_select(n, width) == entry for n in range(slot)]
                both = any_of(same & unread[n] for n, same in enumerate(others))
                m.d.comb += Assert(~bit | ((entry < self.size) & ~both), "each slot reads another line of the place")
        m.d.comb += Assert((self.sent & here) == 0, "what was sent is not valid")


class LateProperties(LineProperties):
    """Places are released while results are on their way."""

    late = True


def _proof(size: str, wrong: dict, *, regress: bool = False, **changes) -> Proof:
    cfg = config(**changes)

    def broken(change):
        if isinstance(change, dict):
            return lambda: LineProperties(Miswired(CacheDirectory(cfg), **change), cfg, helped=False)
        return lambda: change(CacheDirectory(cfg), cfg, helped=False)

    return Proof(
        "hdl.rf.rfc.directory.CacheDirectory",
        f"of {cfg.active_warps} places, {cfg.cache_entries} lines each, {cfg.source_slots} slots, {size}",
        lambda: LineProperties(CacheDirectory(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()},
        reach=cfg.lines + 3,
        regress=regress,
    )


_WRONG = {
    "no two lines of a place have one register": {"hit": lambda hit: Const(0)},
    "pinned are the lines that a slot has yet to read": {"reads": lambda reads: reads & ~1},
    "a line is sent at most once": LateProperties,
    "it is held up by a result that changes it alone": {"would_drop": lambda drops: Const(0)},
}
_LARGE = {"replacement": "lru", "dead_bits": "ignored", "cache_entries": 3}

PROOFS = (
    _proof("fifo", _WRONG, cache_entries=2, source_slots=1),
    _proof("evict_first", _WRONG, regress=True, cache_entries=2, replacement="evict_first"),
    _proof("lru, dead ones kept", _WRONG, regress=True, **_LARGE),
)
