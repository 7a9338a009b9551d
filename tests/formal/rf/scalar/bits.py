"""Proofs of the bits that say which registers are scalar, and of their count."""

from unittest import mock

from amaranth import Cat, Module, Mux, Signal, Value
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one
from tests.formal.rf.scalar.parts import configuration
from tests.hdl.unstamped import inside
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.scalar import registers
from warpfile.hdl.rf.scalar.counts import ScalarCounts
from warpfile.hdl.rf.scalar.registers import ScalarRegisters


class Counted(wiring.Component):
    """The bits of all warps, and their count beside them."""

    def __init__(self, cfg) -> None:
        self._bits, self._counts = ScalarRegisters(cfg), ScalarCounts(cfg)
        super().__init__({**self._bits.signature.members, "count": self._counts.signature.members["count"]})

    def elaborate(self, platform) -> Module:
        """All wires of the bits straight through."""
        m = Module()
        m.submodules.bits, m.submodules.counts = bits, counts = self._bits, self._counts
        for name, member in bits.signature.members.items():
            outer, inner = Value.cast(getattr(self, name)), Value.cast(getattr(bits, name))
            m.d.comb += inner.eq(outer) if member.flow is In else outer.eq(inner)
        m.d.comb += [getattr(counts, name).eq(getattr(bits, name)) for name in ("launched", "warps", "rises", "falls")]
        m.d.comb += self.count.eq(counts.count)
        return m


class BitProperties(ConfiguredProperties):
    """Any results, launches and expansions, against a bit per register by the page's table."""

    def elaborate(self, platform):
        """The bits are in one tree."""
        with mock.patch.object(registers, "stamp", inside):
            return super().elaborate(platform)

    def check(self, m, part):
        cfg, ports = self._cfg, self._cfg.write_ports
        names = cfg.register_names
        self.bits = Signal(cfg.warps * names)  # by the page
        clients = [
            Mux(warp < cfg.warps, warp, 0) * names + register
            for warp, register in zip(part.warps, part.registers, strict=True)
        ]
        happens = [*part.accepted, part.expanded]
        m.d.comb += [Assume(warp < cfg.warps) for warp in part.warps]
        m.d.comb += [Assume((part.becomes & part.ends) == 0), Assume(at_most_one(part.launched))]
        m.d.comb += Assume(~part.expanded | self.bits.bit_select(clients[-1], 1))
        for client, number in enumerate(clients):
            others = any_of(happens[other] & (clients[other] == number) for other in range(client))
            m.d.comb += Assume(~happens[client] | ~others)
        for port in range(ports):
            with m.If(part.accepted[port] & (part.becomes[port] | part.ends[port])):
                m.d.sync += self.bits.bit_select(clients[port], 1).eq(part.becomes[port])
        with m.If(part.expanded):
            m.d.sync += self.bits.bit_select(clients[-1], 1).eq(0)
        for warp in range(cfg.warps):
            with m.If(part.launched[warp]):
                m.d.sync += self.bits.word_select(warp, names).eq(0)
        self._say(m, part, clients)

    def _say(self, m, part, clients):
        cfg = self._cfg
        slots, sources = range(cfg.source_slots), []
        for warp in range(cfg.warps):
            own = [part.sources[warp * cfg.source_slots + slot] for slot in slots]
            found = Cat(self.bits.word_select(warp, cfg.register_names).bit_select(one, 1) for one in own)
            sources.append((part.offered != 1 << warp) | (part.scalar_sources == found))
        met = Cat(self.bits.bit_select(number, 1) for number in clients[:-1])
        m.d.comb += [
            Assert(part.scalar == met, "results meet the bits of the page"),
            Assert(Cat(sources).all(), "so do the sources of the offered beat"),
            Cover(self.bits[:4].all() & self.bits[-1], "registers of both warps are scalar"),
            Cover(part.expanded & part.accepted.all() & part.becomes.all(), "all clients turn one"),
        ]

    def help(self, m, part, state):
        names = self._cfg.register_names
        for warp in range(self._cfg.warps):
            own = self.bits.word_select(warp, names)
            m.d.comb += Assert(state("bits", f"warp{warp}", "scalar_registers") == own, "the bits")


class CountProperties(BitProperties):
    """Their count, too."""

    def _say(self, m, part, clients):
        super()._say(m, part, clients)
        m.d.comb += Assert(part.count == sum(self.bits), "the count is that of the bits")

    def help(self, m, part, state):
        super().help(m, part, state)
        names = self._cfg.register_names
        for warp in range(self._cfg.warps):
            own = self.bits.word_select(warp, names)
            m.d.comb += Assert(state("counts", f"count{warp}") == sum(own), "the counts")


def _bits(kind=BitProperties, ports: int = 3, **changes) -> BitProperties:
    cfg = configuration(ports=ports)
    return kind(Miswired(Counted(cfg), **changes) if changes else Counted(cfg), cfg, helped=not changes)


PROOFS = (
    Proof(
        "hdl.rf.scalar.registers.ScalarRegisters",
        "2 warps of 8 registers",
        _bits,
        {
            "results meet the bits of the page": lambda: _bits(launched=lambda value: value & 0),
            "so do the sources of the offered beat": lambda: _bits(offered=lambda value: value[::-1]),
        },
    ),
    Proof(
        "hdl.rf.scalar.counts.ScalarCounts",
        "2 warps of 8 registers, one port",
        lambda: _bits(CountProperties, 1),
        {"the count is that of the bits": lambda: _bits(CountProperties, 1, count=lambda value: value & 3)},
        regress=True,
    ),
)
