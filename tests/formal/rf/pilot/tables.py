"""Proofs of the swapping table: whatever a hot list says, its map is a permutation that is its own inverse."""

from amaranth import Cat, Module, Signal
from amaranth.asserts import AnyConst
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.pilot.layouts import hot_layout
from warpfile.hdl.rf.pilot.pairing import Pairing
from warpfile.hdl.rf.pilot.swap_table import SwapTable, entry_layout
from warpfile.spec.schemes.pilot import PilotConfig


def config(**changes) -> PilotConfig:
    """A small machine with eight register names."""
    small = {"warps": 3, "lanes": 1, "ports": 1, "banks": 2, "rows": 16, "register_names": 8, "payload_bits": 16}
    small |= {"collectors": 2, "source_slots": 2, "fast_registers": 2, "epoch": 5, "epoch_threshold": 2}
    return PilotConfig(**PilotConfig.adapted(small | changes))


class Installed(wiring.Component):
    """A table with what writes it, and a register that is looked up there and back."""

    def __init__(self, cfg, table=SwapTable, pairing=Pairing):
        self._table, self._pairing = table(cfg, 2), pairing(cfg)
        name = cfg.register_bits
        super().__init__(
            {
                "clear": In(1),
                "hot": In(hot_layout(cfg)),
                "turn": In(cfg.fast_registers),
                "register": In(name),
                "home": Out(name),
                "back": Out(name),
                "leaves": Out(1),
                "comes": Out(1),
                "entries": Out(data.ArrayLayout(entry_layout(cfg), 2 * cfg.fast_registers)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.table, m.submodules.pairing = table, pairing = self._table, self._pairing
        m.d.comb += [
            pairing.hot.eq(self.hot),
            pairing.turn.eq(self.turn),
            pairing.entries.eq(table.entries),
            table.clear.eq(self.clear),
            table.write.eq(pairing.write & ~self.clear),
            table.pair.eq(pairing.pair),
            table.asked.eq(3),
            table.registers[0].eq(self.register),
            self.home.eq(self.register ^ table.changes[0]),
            table.registers[1].eq(self.home),
            self.back.eq(self.home ^ table.changes[1]),
            self.leaves.eq(table.leaves[0]),
            self.comes.eq(table.comes[0]),
            self.entries.eq(table.entries),
        ]
        return m


class TableProperties(ConfiguredProperties):
    """One list, each of its places once at most since the table was cleared, in any order."""

    def check(self, m, part):
        fast = self._cfg.fast_registers
        self.list = Signal(hot_layout(self._cfg))
        self.done = Signal(fast)
        with m.If(part.clear):
            m.d.sync += self.done.eq(0)
        with m.Else():
            m.d.sync += self.done.eq(self.done | part.turn)
        m.d.comb += [
            self.list.eq(AnyConst(len(self.list.as_value()))),
            Assume(part.hot.as_value() == self.list.as_value()),
            Assume(at_most_one(part.turn) & ((part.turn & self.done) == 0)),
        ]
        places = list(enumerate(self.list))
        m.d.comb += [
            Assume(~(one.valid & other.valid & (one.register == other.register)))
            for a, one in places
            for b, other in places
            if a < b
        ]
        wanted = [one.valid & (one.register == part.register) for one in self.list]
        named, moved = any_of(wanted), any_of(bit & self.done[place] for place, bit in enumerate(wanted))
        was, now = part.register < fast, part.home < fast
        m.d.comb += [
            Assert(part.back == part.register, "the map is its own inverse"),
            Assert(~moved | now, "a hot register whose turn is over is in the fast part"),
            Assert(~(named & was) | (part.home == part.register), "one that is there stays"),
            Assert(named | was | (part.home == part.register), "a slow register that is not hot stays"),
            Assert(part.leaves == (was & ~now), "registers that leave the fast part are reported"),
            Assert(part.comes == (now & ~was), "registers that enter the fast part are reported"),
            Cover(Cat(entry.valid for entry in part.entries).all(), "the table is full"),
            Cover(
                self.done.all() & Cat(one.valid for one in self.list).all() & ~part.entries[0].valid,
                "no register moves",
            ),
        ]

    def help(self, m, part, state):
        fast = self._cfg.fast_registers
        pairs = [(part.entries[2 * place], part.entries[2 * place + 1]) for place in range(fast)]
        for number, one in enumerate(self.list):
            there = any_of(far.valid & (far.register == one.register) for _, far in pairs)
            moves = one.valid & (one.register >= fast) & self.done[number]
            m.d.comb += Assert(~moves | there, "who had a turn is there")
        for place, (near, far) in enumerate(pairs):
            held = near.valid
            listed = any_of(
                one.valid & (one.register == far.register) & self.done[number] for number, one in enumerate(self.list)
            )
            stays = any_of(one.valid & (one.register == near.register) for one in self.list)
            m.d.comb += [
                Assert(near.valid == far.valid, "entries come in pairs"),
                Assert((near.register == far.home) & (far.register == near.home), "of two registers"),
                Assert(~held | ((near.register < fast) & (far.register >= fast)), "one of each part"),
                Assert(~held | (listed & ~stays), "the one hot, the other not"),
            ]
            for lower, other in pairs[:place]:
                m.d.comb += [
                    Assert(~held | lower.valid, "lower pairs first"),
                    Assert(~held | ((near.register != lower.register) & (far.register != other.register)), "each once"),
                ]


def proof(size: str, regress: bool, **changes) -> Proof:
    """Proof for a number of fast registers."""
    cfg = config(**changes)
    blind = {"pairing": lambda own: Miswired(Pairing(own), entries=lambda value: value & 0)}
    idle = {"pairing": lambda own: Miswired(Pairing(own), write=lambda value: value & 0)}
    partial = {"pairing": lambda own: Miswired(Pairing(own), hot=lambda value: value[: len(value) // 2])}
    wrong = {
        "the map is its own inverse": blind,
        "a hot register whose turn is over is in the fast part": idle,
        "one that is there stays": partial,
    }
    return Proof(
        "hdl.rf.pilot.swap_table",
        size,
        lambda: TableProperties(Installed(cfg), cfg),
        {
            text: lambda parts=parts: TableProperties(Installed(cfg, **parts), cfg, helped=False)
            for text, parts in wrong.items()
        },
        reach=6,
        regress=regress,
    )


PROOFS = (proof("2 of 8 registers", False, fast_registers=2), proof("3 of 8 registers", True, fast_registers=3))
