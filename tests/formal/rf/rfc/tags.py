"""Proofs of the tags of a place: registers and pins of its lines, marks, and the two ways to order them."""

from amaranth import Cat, Const, Mux, Signal
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.orders import LastUseProperties
from tests.formal.properties import Miswired, Proof, at_most_one, constant, past
from tests.formal.rf.rfc.parts import any_number, config
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.rf.rfc.tags import CacheTags
from warpfile.hdl.rf.rfc.victim import LineOrder


class LineOrderProperties(LastUseProperties):
    """Lines that source slots read, in the order of the slots, then the line that is written."""

    count = property(lambda self: self._cfg.cache_entries)

    def uses(self, part):
        return list(part.touches)

    def legal(self, m, part, uses):
        m.d.comb += [Assume(at_most_one(use)) for use in uses]


class TagProperties(ConfiguredProperties):
    """Lines of one place between the other parts of the cache, which see to what is assumed.

    A unit's hits are pinned when they are found, and read all at once.
    """

    def check(self, m, part):
        self.lines = range(self._cfg.cache_entries)
        lost = part.invalidate | (part.tags.valid & part.ends.replicate(self._cfg.cache_entries))
        self.lost = named(m, "lost", lost)
        self._units(m, part)
        self._promised(m, part)
        self._registers(m, part)
        self._marks(m, part)
        self._found(m, part)
        if self._cfg.replacement == "lru":
            self._used(m, part)
        else:
            self._head(m, part)
        most = [Cat(pins[line] for pins in self.pins).all() for line in self.lines]
        m.d.comb += [
            Cover(any_of(most) & part.tags.valid.all(), "all units are to read one line"),
            Cover(
                part.tags.dead[0] & part.take[0] & part.reads[0].any(), "a dead line gives way while another is read"
            ),
        ]

    def _units(self, m, part) -> None:
        """Lines that each collector unit has yet to read; any unit may look up, any may read."""
        cfg, units = self._cfg, range(self._cfg.collectors)
        self.pins = [Signal(cfg.cache_entries, name=f"pins_of{unit}") for unit in units]
        finder, reader = (any_number(m, name, cfg.collectors) for name in ("finder", "reader"))
        read = any_of(part.reads)
        m.d.comb += [
            Assume(~part.pin.any() | ~Cat(self.pins).word_select(finder, cfg.cache_entries).any()),
            Assume(~read.any() | (read == Cat(self.pins).word_select(reader, cfg.cache_entries))),
            *(Assume(at_most_one(line)) for line in part.reads),
            *(Assume((part.reads[a] & part.reads[b]) == 0) for a in range(len(part.reads)) for b in range(a)),
        ]
        for unit, pins in enumerate(self.pins):
            with m.If(read.any() & (reader == unit)):
                m.d.sync += pins.eq(0)
            with m.If(part.pin.any() & (finder == unit)):
                m.d.sync += pins.eq(part.pin)

    def _promised(self, m, part) -> None:
        """By the choice of a victim, by results (one line per cycle, never one that is pinned) and by the check."""
        tags, written, read = part.tags, part.take | part.revive, any_of(part.reads)
        there = Cat(tags.valid[line] & (tags.registers[line] == part.short_register) for line in self.lines)
        m.d.comb += [
            Assume(at_most_one(written) & ((part.take & part.revive) == 0)),
            Assume((written & any_of(self.pins)) == 0),
            Assume((part.revive & ~tags.valid) == 0),
            Assume(~part.take.any() | ~there.any()),
            Assume((self.lost & (any_of(self.pins) | written)) == 0),
            Assume((part.pin & ~(tags.valid & ~self.lost & ~part.take)) == 0),
            Assume(((part.kill | part.hasten) & ~read) == 0),
        ]

    def _registers(self, m, part) -> None:
        tags, line = part.tags, constant(m, "line", self._cfg.cache_entries)
        pairs = [(a, b) for a in self.lines for b in range(a)]
        same = [tags.valid[a] & tags.valid[b] & (tags.registers[a] == tags.registers[b]) for a, b in pairs]
        register = tags.registers.as_value().word_select(line, self._cfg.register_bits)
        kept = register == past(m, register, "register")
        taken = past(m, part.take.bit_select(line, 1), "taken")
        gone = past(m, self.lost.bit_select(line, 1), "gone")
        valid = tags.valid.bit_select(line, 1)
        was_valid, new = past(m, valid, "valid"), past(m, part.short_register, "new_register")
        m.d.comb += [
            Assert(~any_of(same), "no two valid lines have one register"),
            Assert(tags.pinned == any_of(self.pins), "pinned are the lines that a slot has yet to read"),
            Assert((tags.pinned & ~tags.valid) == 0, "a pinned line is valid"),
            Assert(valid == (taken | (was_valid & ~gone)), "a line is valid from taken to invalid"),
            Assert(~valid | Mux(taken, register == new, kept), "a line keeps its register till it is taken"),
        ]

    def _marks(self, m, part) -> None:
        """Dead and evict first: from the read that says so to the next write or the end of the line."""
        tags, written = part.tags, part.take | part.revive
        self.marks = Signal(len(written), name="dead_shadow"), Signal(len(written), name="early_shadow")
        for marks, sets in zip(self.marks, (part.kill, part.hasten), strict=True):
            m.d.sync += marks.eq((marks | sets) & ~written & ~self.lost)
        m.d.comb += [
            Assert(tags.dead == self.marks[0], "dead from a last read to the next write"),
            Assert(tags.evict_first == self.marks[1], "evict first likewise"),
        ]

    def _found(self, m, part) -> None:
        """What is said of the registers that are looked up, and of the line that a new one would take."""
        tags, gives_way = part.tags, part.victim & part.tags.valid
        for met, register in ((part.met, part.short_register), (part.long_met, part.long_register)):
            there = Cat(tags.valid[line] & (tags.registers[line] == register) for line in self.lines)
            m.d.comb += Assert(met == there, "a line is met that has the register")
        left = [~gives_way[line] | (part.victim_register == tags.registers[line]) for line in self.lines]
        m.d.comb += [
            Assert(
                at_most_one(part.victim) & ((part.victim & tags.pinned) == 0), "one line gives way, if it has no reader"
            ),
            Assert(part.victim_held == gives_way.any(), "the evicted line has a register or not"),
            Assert(part.victim_dead == (gives_way & tags.dead).any(), "it is dead or not"),
            Assert(Cat(left).all(), "its register is named"),
        ]

    def _head(self, m, part) -> None:
        count, head = self._cfg.cache_entries, part.tags.head
        vacant, moved = past(m, part.vacant, "vacant"), past(m, part.take.any() & part.tags.valid.all(), "moved")
        taken, before = past(m, part.take, "took"), past(m, head, "head")
        after = any_of(Mux(taken[line], (line + 1) % count, 0) for line in self.lines)
        m.d.comb += [
            Assert(head < count, "head is a line"),
            Assert(head == Mux(vacant, 0, Mux(moved, after, before)), "head is behind the line that it pointed to"),
            Cover((head == 0) & moved & ~vacant, "head starts over"),
        ]

    def _used(self, m, part) -> None:
        """Which of any two lines was used longer ago; reads count in slot order, the write after them."""
        count, order = self._cfg.cache_entries, Signal()
        first, second = constant(m, "first", count), constant(m, "second", count)
        index = (first * count + second)[: (count**2 - 1).bit_length()]
        m.d.comb += [Assume(first != second), order.eq(part.tags.older.bit_select(index, 1))]
        after, started = order, past(m, Const(1), "started")
        for use in (*part.reads, part.take | part.revive):
            after = Mux(use.bit_select(first, 1), 0, Mux(use.bit_select(second, 1), 1, after))
        same = order == past(m, after, "order")
        m.d.comb += [
            Assert(~started | same, "before has the lines used longer ago"),
            Cover(started & ~order & (first < second) & part.tags.valid.all(), "a higher line was used before"),
        ]

    def help(self, m, part, state):
        for line in self.lines:
            count = sum(pins[line] for pins in self.pins)
            m.d.comb += Assert(state(f"pins{line}") == count, "one pin per slot that has yet to read")
        m.d.comb += Assert((any_of(self.pins) & ~part.tags.valid) == 0, "what is to be read is there")


def _order(entries: int, *, regress: bool = False) -> Proof:
    cfg = config(cache_entries=entries, source_slots=3)

    def wrong(**changes):
        return lambda: LineOrderProperties(Miswired(LineOrder(cfg), **changes), cfg, helped=False)

    return Proof(
        "hdl.rf.rfc.victim.LineOrder",
        f"of {entries} lines, 3 slots",
        lambda: LineOrderProperties(LineOrder(cfg), cfg),
        {
            "before has the lines used longer ago": wrong(touches=lambda touches: touches & ~1),
            "the order is transitive": wrong(older=lambda older: older ^ (1 << 2) ^ (1 << (2 * entries))),
        },
        reach=6,
        regress=regress,
    )


def _tags(replacement: str, wrong: dict, *, regress: bool = False, **changes) -> Proof:
    cfg = config(replacement=replacement, **changes)

    def broken(change):
        return lambda: TagProperties(Miswired(CacheTags(cfg), **change), cfg, helped=False)

    return Proof(
        "hdl.rf.rfc.tags.CacheTags",
        f"of {cfg.cache_entries} lines, {cfg.collectors} units, {replacement}",
        lambda: TagProperties(CacheTags(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()},
        reach=cfg.cache_entries + cfg.collectors + 3,
        regress=regress,
    )


_FIFO = {
    "no two valid lines have one register": {"short_register": lambda register: register & ~1},
    "a line is met that has the register": {"long_register": lambda register: register ^ 1},
    "pinned are the lines that a slot has yet to read": {"pin": lambda lines: lines & ~1},
    "head is behind the line that it pointed to": {"vacant": lambda vacant: Const(0)},
    "a line is valid from taken to invalid": {"ends": lambda ends: Const(0)},
}
_LRU = {
    "before has the lines used longer ago": {"revive": lambda lines: lines & ~1},
    "dead from a last read to the next write": {"revive": lambda lines: lines & ~1},
}
_LARGE = {"cache_entries": 6, "collectors": 4, "source_slots": 3}

PROOFS = (
    _order(4),
    _order(8, regress=True),
    _tags("fifo", _FIFO),
    _tags("lru", _LRU),
    _tags("fifo", _FIFO, regress=True, **_LARGE),
    _tags("lru", _LRU, regress=True, **_LARGE),
)
