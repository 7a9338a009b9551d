"""Proofs of a bank's write queue: its order, what it says of the rows that wait, and the lanes beside it."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one, constant
from tests.formal.rf.rfc.parts import any_number, config
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.rfc.write_queue import QueueLane, WriteQueue, queue_sources
from warpfile.spec.schemes.rfc import READ_PORTS


class QueueProperties(ConfiguredProperties):
    """A queue beside a plain list of what waits: rows, and the entries that they were pushed into."""

    def check(self, m, part):
        depth = self._cfg.write_queue
        self.count = Signal(range(depth + 1))
        self.rows = [Signal(len(part.row), name=f"row_of{n}") for n in range(depth)]
        self.entries = [Signal(depth, name=f"entry_of{n}") for n in range(depth)]
        m.d.comb += [Assume(~part.push | (self.count < depth)), Assume(~part.pop | (self.count != 0))]
        self._list(m, part)
        waiting = [self.count > n for n in range(depth)]
        pairs = list(zip(waiting, self.rows, strict=True))
        found = Cat(any_of(waits & (row == wanted) for waits, row in pairs) for wanted in part.rows)
        used = any_of(Mux(waits, entry, 0) for waits, entry in zip(waiting, self.entries, strict=True))
        left = Signal()
        m.d.sync += left.eq(left | (part.full & part.pop))
        m.d.comb += [
            Assert(part.count == self.count, "no entry is lost or made up"),
            Assert(part.filled == (self.count != 0), "filled while an entry waits"),
            Assert(part.full == (self.count == depth), "full without room for one more"),
            Assert(~part.filled | (part.head_row == self.rows[0]), "rows come in order and unchanged"),
            Assert(~part.filled | (part.head == self.entries[0]), "the head is the entry that was pushed first"),
            Assert(at_most_one(part.entry) & (part.full | ~(part.entry & used).any()), "a push takes an unused entry"),
            Assert(part.found == found, "a row is found iff it waits"),
            Cover(left & part.full & part.found.all(), "it is full again"),
        ]

    def _list(self, m: Module, part) -> None:
        """What a list of the entries would be after a pop, then a push."""
        depth, left = self._cfg.write_queue, Signal(range(self._cfg.write_queue + 1))
        m.d.comb += left.eq(self.count - part.pop)
        m.d.sync += self.count.eq(left + part.push)
        for listed, new in ((self.rows, part.row), (self.entries, part.entry)):
            for n, value in enumerate(listed):
                behind = listed[n + 1] if n + 1 < depth else value
                m.d.sync += value.eq(Mux(part.push & (left == n), new, Mux(part.pop, behind, value)))

    def help(self, m, part, state):
        depth = self._cfg.write_queue
        held = any_of(Mux(self.count > n, entry, 0) for n, entry in enumerate(self.entries))
        m.d.comb += [
            Assert(self.count <= depth, "there is room for all"),
            Assert(at_most_one(part.head) & part.head.any(), "the head is an entry"),
            Assert(state("held") == held, "entries that wait are held"),
        ]
        for n, entry in enumerate(self.entries):
            here = self.count > n
            turned = part.head.rotate_left(n)
            same = [~turned[index] | (state(f"row{index}") == self.rows[n]) for index in range(depth)]
            m.d.comb += Assert(~here | (entry == turned), "entries wait in a ring")
            m.d.comb += Assert(~here | Cat(same).all(), "an entry has its row")
            m.d.comb += Assert((self.count != n) | (part.entry == turned), "the next entry is behind the last")
        m.d.comb += Assert((self.count != depth) | (part.entry == part.head), "the ring is closed")


class LaneProperties(ConfiguredProperties):
    """One entry of one bank from the cycle in which it is filled to the next in which it is."""

    def check(self, m, part):
        cfg, width, sources = self._cfg, self._cfg.banks * self._cfg.write_queue, queue_sources(self._cfg)
        bank, entry = constant(m, "bank", cfg.banks), constant(m, "entry", cfg.write_queue)
        index = (bank * cfg.write_queue + entry)[: (width - 1).bit_length()]
        source = any_number(m, "source", sources)
        self.filled, self.kept = Signal(), Signal(33)
        chosen = part.sources.word_select(bank, sources)
        words = Cat(part.results, part.reads)
        saved = part.saves if cfg.keeps_lanes else ~Const(0, READ_PORTS)
        lane = Cat(part.masks, saved).bit_select(source, 1)
        m.d.comb += [
            Assume(chosen == 1 << source),
            Assume(part.heads.word_select(bank, cfg.write_queue) == 1 << entry),
        ]
        with m.If(part.entries.bit_select(index, 1)):
            m.d.sync += [self.filled.eq(1), self.kept.eq(Cat(words.word_select(source, 32), lane))]
        out = Cat(part.banks.word_select(bank, 32), part.enable.bit_select(bank, 1))
        m.d.comb += [
            Assert(~self.filled | (out[:32] == self.kept[:32]), "a word waits with its entry"),
            Assert(~self.filled | (out[32] == self.kept[32]), "so does whether the lane is written"),
            Cover(self.filled & part.enable.any() & (source >= cfg.write_ports) & part.banks.any(), "a word comes out"),
        ]


def _proof(part: type[wiring.Component], properties: type, size: str, wrong: dict, reach: int, **changes) -> Proof:
    regress = changes.pop("regress", False)
    cfg = config(**changes)

    def broken(change):
        return lambda: properties(Miswired(part(cfg), **change), cfg, helped=False)

    return Proof(
        f"hdl.rf.rfc.write_queue.{part.__name__}",
        size,
        lambda: properties(part(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()},
        reach=reach,
        regress=regress,
    )


def _queue(depth: int, wrong: dict, *, regress: bool = False) -> Proof:
    changes = {"write_queue": depth, "source_slots": 1}
    return _proof(WriteQueue, QueueProperties, f"of {depth}", wrong, depth + 4, regress=regress, **changes)


def _some(bit: Value) -> Value:
    return bit & AnySeq(1)


_QUEUE = {
    "no entry is lost or made up": {"push": _some},
    "rows come in order and unchanged": {"row": lambda row: row ^ 1},
    "a row is found iff it waits": {"rows": lambda rows: rows & ~1},
}
_LANE = {"so does whether the lane is written": {"masks": lambda masks: masks | 1}}

PROOFS = (
    _queue(4, _QUEUE),
    _queue(1, _QUEUE, regress=True),
    _queue(3, _QUEUE, regress=True),
    _queue(6, _QUEUE, regress=True),
    _proof(QueueLane, LaneProperties, f"of 2 banks, 2 entries, {READ_PORTS} read ports", _LANE, 4, write_queue=2),
)
