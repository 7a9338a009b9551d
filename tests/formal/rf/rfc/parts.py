"""Proofs of what a register cache decides about lines: which gives way, which is sent away, which a source finds."""

from collections.abc import Callable

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one, constant, passed_over, some_order
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.rfc.check import TagCheck
from warpfile.hdl.rf.rfc.flush import FlushEngine
from warpfile.hdl.rf.rfc.victim import VictimChoice
from warpfile.spec.schemes.rfc import RfcConfig


def config(**changes) -> RfcConfig:
    """A small machine."""
    small = {"warps": 3, "active_warps": 2, "lanes": 1, "ports": 3, "banks": 2, "rows": 4, "register_names": 8}
    small |= {"payload_bits": 16, "collectors": 2, "source_slots": 2, "cache_entries": 3}
    return RfcConfig(**RfcConfig.adapted(small | changes | {"scheduler": "two_level"}))


def any_number(m: Module, name: str, count: int) -> Signal:
    """A number below ``count`` that may be another one in every cycle."""
    number = Signal(range(max(2, count)), name=name)
    m.d.comb += [number.eq(AnySeq(len(number))), Assume(number < count)]
    return number


class VictimProperties(ConfiguredProperties):
    """A line for a new register: an empty one by index, else a useless one, else the one whose turn it is."""

    def check(self, m, part):
        lines, line = range(self._cfg.cache_entries), part.line
        m.d.comb += [Assume((marked & ~part.valid) == 0) for marked in (part.pinned, part.dead, part.evict_first)]
        full, loose = part.valid.all(), ~part.pinned
        lower = [line[high] & ~part.valid[low] for high in lines for low in range(high)]
        m.d.comb += [
            Assert(at_most_one(line), "one line gives way"),
            Assert(line.any() == loose.any(), "some line does, unless all are pinned"),
            Assert((line & part.pinned) == 0, "a pinned line never gives way"),
            Assert(full | ((line & part.valid) == 0), "an empty line goes first"),
            Assert(~any_of(lower), "the lowest empty line"),
        ]
        if self._cfg.replacement == "lru":
            some_order(m, part.older, len(lines))
            m.d.comb += [
                Assert(~full | ~passed_over(loose, line, part.older), "the longest unused line gives way"),
                Cover(full & line[-1] & loose.all(), "the last line was used longest ago"),
            ]
        else:
            self._from_head(m, part, full, loose)

    def _from_head(self, m, part, full: Value, loose: Value) -> None:
        """Lines in the order of the search: useless ones before others, cyclically from head."""
        count, line, useless = self._cfg.cache_entries, part.line, Const(0, self._cfg.cache_entries)
        if self._cfg.replacement == "evict_first":
            useless = loose & (part.dead | part.evict_first)
        way = [Mux(part.head <= entry, entry - part.head, entry + count - part.head)[:4] for entry in range(count)]
        before = [
            line[b] & loose[a] & ((useless[a] & ~useless[b]) | ((useless[a] == useless[b]) & (way[a] < way[b])))
            for a in range(count)
            for b in range(count)
        ]
        m.d.comb += [
            Assume(part.head < count),
            Assert(~full | ~any_of(before), "no line that goes before is skipped"),
            Assert(~line.any() | (part.advances == (full & ~useless.any())), "head moves for a line in its turn"),
            Cover(full & line[0] & part.head[0] & ~useless.any() & part.advances, "the search starts over"),
        ]
        if self._cfg.replacement == "evict_first":
            m.d.comb += Cover(full & (part.head == 0) & line[-1] & loose.all(), "a useless one behind all others")


class FlushProperties(ConfiguredProperties):
    """Of the lines of places that are released the lowest is to be sent."""

    def check(self, m, part):
        size, places = self._cfg.cache_entries, range(self._cfg.active_warps)
        leaving = Cat(bit & part.valid[place * size + n] for place, bit in enumerate(part.release) for n in range(size))
        kept = leaving & ~part.worthless
        lowest = (kept & -kept)[: len(kept)]
        m.d.comb += [
            Assert((part.line & ~kept) == 0, "only a valid line of a released place is sent, and none of no worth"),
            Assert(part.line == lowest, "the lowest is sent"),
            Assert(part.dropped == (leaving & part.worthless), "those of no worth are dropped"),
            Assert((part.line & part.dropped) == 0, "a line is sent or dropped"),
            Assert(at_most_one(part.place), "one place sends"),
            Cover(part.line[-1] & part.release.all() & part.valid.all(), "the last line is the only one of worth"),
        ]
        for place in places:
            own = part.line.word_select(place, size)
            m.d.comb += Assert(part.place[place] == own.any(), "the place is that of the line")


class CheckProperties(ConfiguredProperties):
    """Sources found among lines no two of which have one register."""

    distinct = True

    def check(self, m, part):
        cfg = self._cfg
        lines, slots = range(cfg.cache_entries), range(cfg.source_slots)
        slot, line = constant(m, "slot", cfg.source_slots), constant(m, "line", cfg.cache_entries)
        tags, registers = part.tags.as_value(), part.registers.as_value()
        register = registers.word_select(slot, cfg.register_bits)
        entry = part.entries.as_value().word_select(slot, len(part.entries[0]))
        found = part.valid.bit_select(line, 1) & (tags.word_select(line, cfg.register_bits) == register)
        wanted, hit = part.wanted.bit_select(slot, 1), part.hits.bit_select(slot, 1)
        there = part.valid.bit_select(entry, 1) & (tags.word_select(entry, cfg.register_bits) == register)
        named = any_of(part.hits[n] & (part.entries[n] == line) for n in slots)
        self._promised(m, part, lines)
        m.d.comb += [
            Assert(~(wanted & found) | hit, "a source is a hit if a line has its register"),
            Assert(~hit | (wanted & (entry < len(lines)) & there), "a hit names a valid line with its register"),
            Assert(part.lines.bit_select(line, 1) == named, "the lines are those that hits name"),
            Cover(part.hits.all() & part.lines[-1] & ~part.lines[0] & part.valid.all(), "all sources hit"),
            Cover(hit & ~part.hits.all() & part.wanted.all() & part.valid.all(), "one hits, another one misses"),
        ]

    def _promised(self, m, part, lines: range) -> None:
        if self.distinct:
            pairs = [(a, b) for a in lines for b in range(a)]
            same = [part.valid[a] & part.valid[b] & (part.tags[a] == part.tags[b]) for a, b in pairs]
            m.d.comb += Assume(~any_of(same))


class TwinsProperties(CheckProperties):
    """Lines of one register."""

    distinct = False


def proof(
    part: Callable[..., wiring.Component], properties: type, size: str, wrong: dict, *, regress: bool = False, **changes
) -> Proof:
    """Proof of a part without state; ``wrong`` maps assertions to changed wires, or to properties, that break them."""
    cfg = config(**changes)

    def broken(change):
        if isinstance(change, dict):
            return lambda: properties(Miswired(part(cfg), **change), cfg, helped=False)
        return lambda: change(part(cfg), cfg)

    return Proof(
        f"{part.__module__}.{part.__name__}",
        size,
        lambda: properties(part(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()},
        reach=2,
        regress=regress,
    )


def _victim(replacement: str, wrong: dict, *, entries: int = 4, regress: bool = False) -> Proof:
    size = f"of {entries} lines, {replacement}"
    changes = {"cache_entries": entries, "replacement": replacement}
    return proof(VictimChoice, VictimProperties, size, wrong, regress=regress, **changes)


_HEADLESS = {
    "a pinned line never gives way": {"pinned": lambda pinned: pinned & ~1},
    "no line that goes before is skipped": {"head": lambda head: Const(0)},
    "the lowest empty line": {"valid": lambda valid: valid | 1},
}
_USEFUL = {"no line that goes before is skipped": {"evict_first": lambda bits: bits & ~1}}
_AGELESS = {"the longest unused line gives way": {"older": lambda older: Const(0)}}
_FLUSH = {
    "the lowest is sent": {"valid": lambda valid: valid & ~1},
    "only a valid line of a released place is sent, and none of no worth": {"release": lambda release: release | 1},
}
_CHECK = {
    "a source is a hit if a line has its register": {"valid": lambda valid: valid & ~1},
    "a hit names a valid line with its register": TwinsProperties,
}

PROOFS = (
    _victim("fifo", _HEADLESS),
    _victim("evict_first", _USEFUL),
    _victim("lru", _AGELESS),
    _victim("fifo", _HEADLESS, entries=6, regress=True),
    _victim("evict_first", _USEFUL, entries=6, regress=True),
    _victim("lru", _AGELESS, entries=6, regress=True),
    proof(FlushEngine, FlushProperties, "of 2 places, 3 lines each", _FLUSH),
    proof(
        FlushEngine,
        FlushProperties,
        "of 4 places, 6 lines each",
        _FLUSH,
        regress=True,
        warps=8,
        active_warps=4,
        cache_entries=6,
    ),
    proof(TagCheck, CheckProperties, "of 4 lines, 2 slots", _CHECK, cache_entries=4),
    proof(TagCheck, CheckProperties, "of 6 lines, 3 slots", _CHECK, regress=True, cache_entries=6, source_slots=3),
)
