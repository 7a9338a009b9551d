"""Proof of the file around its banks: where the value of a register is, whatever the banks serve."""

from contextlib import ExitStack
from unittest import mock

from amaranth import Array, Cat, Module, Signal, Value
from amaranth.asserts import AnyConst, AnySeq
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib.wiring import Out

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, past
from tests.formal.rf.scalar.parts import WORD, FirstLane, configuration
from tests.hdl.unstamped import inside
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.beat import result_layout
from warpfile.hdl.rf.scalar import file, registers
from warpfile.hdl.rf.scalar.banks import ScalarBanks
from warpfile.hdl.rf.scalar.expansion import Expansion
from warpfile.hdl.rf.scalar.file import ScalarFile
from warpfile.spec.schemes.scalar import IDLE, WAITS, WRITES


class FreeBanks(ScalarBanks):
    """Banks that grant any request or none: the ports of all banks without a bank behind them."""

    def elaborate(self, platform) -> Module:
        """Nothing is promised but what the properties assume."""
        m = Module()
        for _, member, port in self.signature.flatten(self):
            if member.flow is Out:
                m.d.comb += Value.cast(port).eq(AnySeq(len(Value.cast(port))))
        return m


class FileProperties(ConfiguredProperties):
    """One register of one warp, whatever the banks serve: where its value is.

    The host holds its results, shows no two of one register, launches no warp with a result under way, and writes no
    lane that does not live. What reaches the row of the register in either bank is kept here.
    """

    def __init__(self, cfg, kind=Expansion, **changes) -> None:
        self._banks, self._kind, self._changes = FreeBanks(cfg, cfg.gives.engines), kind, changes
        super().__init__(None, cfg, helped=kind is Expansion and not changes)

    def elaborate(self, platform):
        """The file is one tree around free banks."""
        with ExitStack() as stack:
            for module in (file, registers):
                stack.enter_context(mock.patch.object(module, "stamp", inside))
            stack.enter_context(mock.patch.object(file, "Expansion", self._kind))
            stack.enter_context(mock.patch.object(file, "ScalarBanks", lambda *_: self._banks))
            self._file = ScalarFile(self._cfg)
            self.part = Miswired(self._file, **self._changes) if self._changes else self._file
            return super().elaborate(platform)

    def check(self, m, part):
        cfg = self._cfg
        self.warp, self.register = Signal(cfg.warp_bits), Signal(cfg.register_bits)
        self.live = live = Signal(cfg.lanes)
        for one in (self.warp, self.register, live):
            m.d.comb += one.eq(AnyConst(len(one)))
        m.d.comb += [Assume(live.any()), Assume(self.warp < cfg.warps)]
        self.here = [
            part.result_store[port] & (result.warp == self.warp) & (result.register == self.register)
            for port, result in enumerate(part.results)
        ]
        launched = part.launch_valid & (part.launch.warp == self.warp)
        self._promised(m, part, live, launched)
        self._served(m)
        self._kept(m, part, launched)
        offered = (part.offer_warp == 1 << self.warp) & (part.heads[self.warp].sources[0] == self.register)
        self.scalar = part.source_places[0].twin
        m.d.comb += [
            Assert(~offered | ~self.scalar | self.in_scalar_bank(), "a scalar register's bank of words has its value"),
            Assert(~offered | self.scalar | self.in_bank(), "the bank of any other register has its value"),
            Assert(~part.expansion_read | ~part.expansion_write, "the expansion has one access at a time"),
            Cover(offered & ~self.scalar & self.expanded & self.known.all(), "it was expanded and written"),
            Cover(offered & self.scalar & self.expanded, "it is scalar again"),
        ]

    def _promised(self, m, part, live, launched):
        """What the host does."""
        before = [past(m, held, f"here{port}") for port, held in enumerate(self.here)]
        taken = past(m, part.result_accept, "taken")
        for port, (result, held) in enumerate(zip(part.results, before, strict=True)):
            shown = Cat(result.mask, result.full, part.result_data[port])
            was = past(m, shown, f"shown{port}")
            m.d.comb += [
                Assume(~held | taken[port] | (self.here[port] & (shown == was))),
                Assume(~self.here[port] | ~any_of(self.here[:port])),
                Assume(~self.here[port] | ((result.mask & ~live) == 0)),
                Assume(~self.here[port] | ~result.full | (result.mask == live)),
                Assume(~self.here[port] | ~launched),
            ]

    def _served(self, m):
        """The banks take what asks them, and answer the expansion in the cycle after its read."""
        banks = self._banks
        reads = banks.engine_grant & ~banks.engine_write
        self.row = Signal(WORD)  # of the register, in its bank of words
        self.mine = self._file._expansion.register == Cat(self.register, self.warp)
        self.due = past(m, reads, "reads")
        self.answer = past(m, self.row, "row")
        m.d.comb += [
            Assume((banks.accept & ~banks.result_valid) == 0),
            Assume(~banks.engine_grant | banks.engine_valid),
            Assume(banks.engine_fill == self.due),
            Assume(~self.due | ~self.mine | (banks.engine_read[0] == self.answer)),
        ]

    def _kept(self, m, part, launched):
        """The row in both banks, and what was last written in each lane, if anything was since the launch."""
        banks, lanes = self._banks, self._cfg.lanes
        self.lanes = Signal(WORD * lanes)  # of the register, in its bank
        self.last, self.known, self.expanded = Signal(WORD * lanes), Signal(lanes), Signal()
        for port, result in enumerate(part.results):
            with m.If(self.here[port] & banks.accept[port]):
                twin = banks.result_places[port].twin
                with m.If(twin):
                    m.d.sync += self.row.eq(banks.result_words[port])
                for lane in range(lanes):
                    word = part.result_data[port].word_select(lane, WORD)
                    with m.If(result.mask[lane]):
                        m.d.sync += [self.last.word_select(lane, WORD).eq(word), self.known[lane].eq(1)]
                        with m.If(~twin):
                            m.d.sync += self.lanes.word_select(lane, WORD).eq(word)
        with m.If(banks.engine_grant & banks.engine_write & self.mine):
            m.d.sync += [self.lanes.eq(banks.engine_data.as_value()), self.expanded.eq(1)]
        with m.If(launched):
            m.d.sync += [self.known.eq(0), self.expanded.eq(0)]

    def _equal(self, word) -> Value:
        return Cat(
            ~self.known[lane] | (self.last.word_select(lane, WORD) == word(lane)) for lane in range(self._cfg.lanes)
        ).all()

    def in_scalar_bank(self) -> Value:
        """The word that is there is that of every lane that was written."""
        return self._equal(lambda lane: self.row)

    def in_bank(self) -> Value:
        """Every lane that was written is there."""
        return self._equal(lambda lane: self.lanes.word_select(lane, WORD))

    def help(self, m, part, state):
        bits = Array(state("scalars", f"warp{warp}", "scalar_registers") for warp in range(self._cfg.warps))
        scalar = bits[self.warp].bit_select(self.register, 1)
        phase, word = state("expander", "phase"), state("expander", "word")
        holds = any_of(held & ~result.full for held, result in zip(self.here, part.results, strict=True))
        mine = (phase != IDLE) & self.mine
        m.d.comb += [
            Assert((self.known & ~self.live) == 0, "lanes that live"),
            Assert(~scalar | self.in_scalar_bank(), "by the bit"),
            Assert(scalar | self.in_bank(), "by the bit, too"),
            Assert(~mine | (scalar & holds), "a result is held for the expansion"),
            Assert(~mine | (phase != WRITES) | (word == self.row), "the word of the expansion"),
            Assert(~mine | ~self.due | (self.answer == self.row), "the word that was read"),
            Assert(self.due == (phase == WAITS), "a read takes a cycle"),
        ]


def _all_full(value: Value) -> Value:
    """Results that all say that they have every live lane."""
    cfg = configuration()
    layout = result_layout(cfg)
    at, width = layout["full"].offset, layout.size
    return value | sum(1 << port * width + at for port in range(cfg.write_ports))


PROOFS = (
    Proof(
        "hdl.rf.scalar.file.ScalarFile",
        "2 lanes, banks that grant any request or none",
        lambda: FileProperties(configuration()),
        {
            "a scalar register's bank of words has its value": lambda: FileProperties(
                configuration(), results=_all_full
            ),
            "the bank of any other register has its value": lambda: FileProperties(configuration(), FirstLane),
        },
        reach=9,
    ),
)
