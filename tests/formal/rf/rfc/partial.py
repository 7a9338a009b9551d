"""Proofs of what lines that know their lanes add: the lane bits, deferred look-ups, recalled lines."""

from dataclasses import replace

from amaranth import Cat, Const, Mux, Signal, Value
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one, constant
from tests.formal.rf.rfc.lines import LineProperties
from tests.formal.rf.rfc.parts import config, proof
from tests.formal.rf.rfc.queue import LaneProperties
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.rf.rfc.directory import CacheDirectory
from warpfile.hdl.rf.rfc.lane import CacheLane
from warpfile.hdl.rf.rfc.write_queue import QueueLane


class PresentProperties(ConfiguredProperties):
    """One lane of one line, which the first read port reads all the time."""

    def check(self, m, part):
        line, ports = constant(m, "line", self._cfg.lines), self._cfg.write_ports
        begun, self.written, self.whole, self.last = Signal(), Signal(), Signal(), Signal(32)
        here = part.line.bit_select(line, 1)
        writes = named(m, "writes", (part.writer & part.masks).any())
        words = [Mux(part.writer[port], part.results.word_select(port, 32), 0) for port in range(ports)]
        m.d.comb += [
            Assume(at_most_one(part.writer) & (here.any() == part.writer.any())),
            Assume(part.lines[: self._cfg.lines] == 1 << line),
            Assume(begun | ~here | part.fresh),
        ]
        with m.If(here):
            m.d.sync += [
                begun.eq(1),
                self.written.eq(writes | (self.written & ~part.fresh)),
                self.whole.eq(part.whole | (self.whole & ~part.fresh)),
            ]
            with m.If(writes):
                m.d.sync += self.last.eq(any_of(words))
        present, saved = part.present.bit_select(line, 1), part.saves[0]
        m.d.comb += [
            Assert(~begun | (present == (self.written | self.whole)), "a line has the lanes of its results"),
            Assert(~(begun & self.written) | (part.reads[:32] == self.last), "with the word of the last one"),
            Assert(saved == present, "a reader of the line is told whether it has the lane"),
            Cover(begun & ~present & self.last.any(), "a register that takes the line has not the lane"),
        ]


class RecallProperties(LineProperties):
    """The directory, which defers look-ups and recalls lines; ``lacks`` may be anything."""

    def _lacking(self, part) -> Value:
        """Held lines of the sources that are looked up which lack lanes."""
        wanted = [
            any_of(
                wanted & self._meets(part, line, part.check_warp, part.check_registers[slot])
                for slot, wanted in enumerate(part.check_valid)
            )
            for line in self.lines
        ]
        return Cat(*wanted) & part.lacks

    def _lookups(self, m, part) -> None:
        lacking = named(m, "lacking", self._lacking(part))
        m.d.comb += Assert(part.defer == lacking.any(), "a look-up is deferred iff a line of it lacks lanes")
        for slot, wanted in enumerate(part.check_valid):
            there = Cat(self._meets(part, n, part.check_warp, part.check_registers[slot]) for n in self.lines)
            hit = wanted & (there & ~self.taken).any() & ~part.defer
            m.d.comb += Assert(part.hits[slot] == hit, "no source of a deferred look-up is a hit")
        loose = named(m, "loose", lacking & ~part.pinned)
        lowest, sent, changed = (loose & -loose)[: len(loose)], part.flush, part.written | self.void
        m.d.comb += [
            Assert(~loose.any() | ((sent & ~lowest) == 0), "nothing goes before the lowest line without a reader"),
            Assert(part.recall == (loose.any() & sent.any()), "the watching look-up is told"),
            Assert(~loose.any() | part.flush_wanted, "it wants to go"),
            Assert(
                ~loose.any() | (part.flush_barred == (lowest & changed).any()), "a result that changes it holds it up"
            ),
            Cover(part.recall & (part.release & ~self._of_check(part)).any(), "a released place waits for a recall"),
            Cover(part.defer & ~loose.any(), "a recall waits for a reader"),
        ]

    def _of_check(self, part) -> Value:
        return Cat(holder.bit_select(part.check_warp, 1) for holder in self.holders)

    def _flush(self, m, part) -> None:
        """What is sent is valid, of a released place or recalled, and not what a result writes."""
        held = part.held & Cat(bit.replicate(self.size) for bit in part.release)
        dead = part.dead if self._cfg.dead_bits == "honoured" else Const(0, len(held))
        may = Mux(part.recall, part.held & ~part.pinned, held & ~dead) & ~part.written & ~self.void
        m.d.comb += [
            Assert(at_most_one(part.flush) & (part.flush.any() == part.flush_sent), "one line is sent"),
            Assert((part.flush & ~may) == 0, "a valid one of a released place, or one without a reader"),
            Assert(self._named(part), "its place and its register are named"),
            Assert(part.flush_dead == (held & dead & ~part.written & ~self.void), "dead lines are dropped at once"),
        ]


def _directory(wrong: dict, *, regress: bool = False, **changes) -> Proof:
    cfg = config(partial_results="lanes", **changes)
    return Proof(
        "hdl.rf.rfc.directory.CacheDirectory",
        f"of {cfg.active_warps} places, {cfg.cache_entries} lines each that know their lanes, {cfg.source_slots} slots",
        lambda: RecallProperties(CacheDirectory(cfg), cfg),
        {
            message: lambda change=change: RecallProperties(Miswired(CacheDirectory(cfg), **change), cfg, helped=False)
            for message, change in wrong.items()
        },
        reach=cfg.lines + 3,
        regress=regress,
    )


def _lane(part: type, properties: type, size: str, wrong: dict, **changes) -> Proof:
    return replace(proof(part, properties, size, wrong, partial_results="lanes", **changes), reach=4)


_PRESENT = {
    "a line has the lanes of its results": {"fresh": lambda fresh: fresh & 0},
    "with the word of the last one": {"results": lambda results: results ^ 1},
}
_LACKS = {"a look-up is deferred iff a line of it lacks lanes": {"lacks": lambda lacks: lacks & ~1}}
_SAVED = {"so does whether the lane is written": {"saves": lambda saves: saves | 1}}

PROOFS = (
    _lane(CacheLane, PresentProperties, "of 2 places, 2 lines each", _PRESENT, cache_entries=2),
    _lane(QueueLane, LaneProperties, "of 2 banks, 2 entries, lanes of lines", _SAVED, write_queue=2),
    _directory(_LACKS, cache_entries=2, source_slots=1),
    _directory(_LACKS, regress=True, cache_entries=2, replacement="evict_first"),
)
