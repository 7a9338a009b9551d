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
from warpfile.schemes import find


class Counted(wiring.Component):
    """The bits of all warps, and their count beside them."""

    def __init__(self, cfg, bits: ScalarRegisters | None = None) -> None:
        self._bits, self._counts = bits or ScalarRegisters(cfg), ScalarCounts(cfg)
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
        met = Cat(self.bits.bit_select(number, 1) for number in clients[:-1])
        m.d.comb += Assert(part.scalar == met, "results meet the bits of the page")
        self._say_sources(m, part, clients)
        m.d.comb += [
            Cover(self.bits[:4].all() & self.bits[-1], "registers of both warps are scalar"),
            Cover(part.expanded & part.accepted.all() & part.becomes.all(), "all clients turn one"),
        ]

    def _say_sources(self, m, part, clients):
        found = self._found(part, self.bits, range(self._cfg.source_slots))
        m.d.comb += Assert(found, "so do the sources of the offered beat")

    def _found(self, part, bits, slots) -> Value:
        """The offered beat's sources in these slots are answered with these bits."""
        cfg, found = self._cfg, []
        for warp in range(cfg.warps):
            own = bits.word_select(warp, cfg.register_names)
            for slot in slots:
                bit = own.bit_select(part.sources[warp * cfg.source_slots + slot], 1)
                found.append((part.offered != 1 << warp) | (part.scalar_sources[slot] == bit))
        return Cat(found).all()

    def help(self, m, part, state):
        names = self._cfg.register_names
        for warp in range(self._cfg.warps):
            own = self.bits.word_select(warp, names)
            m.d.comb += Assert(state("bits", f"warp{warp}", "scalar_registers") == own, "the bits")


class LateProperties(BitProperties):
    """Collectors that forward: near sources of the offered beat are answered with what port 0 leaves."""

    def _say_sources(self, m, part, clients):
        near, slots = self._cfg.asks.forwards, self._cfg.source_slots
        later = Signal(len(self.bits))  # after the result of port 0 alone
        m.d.comb += later.eq(self.bits)
        with m.If(part.accepted[0] & (part.becomes[0] | part.ends[0])):
            m.d.comb += later.bit_select(clients[0], 1).eq(part.becomes[0])
        m.d.comb += [
            Assert(self._found(part, later, range(near)), "near sources meet those that port 0 leaves"),
            Assert(self._found(part, self.bits, range(near, slots)), "far sources meet those that are there"),
        ]
        self._reach(m, part, clients)

    def _reach(self, m, part, clients):
        last = self._cfg.warps - 1
        source = part.sources[last * self._cfg.source_slots]
        same = (part.warps[0] == last) & (part.registers[0] == source) & (part.offered == 1 << last)
        late, was = same & part.accepted[0], self.bits.bit_select(clients[0], 1)
        m.d.comb += [
            Cover(late & ~was & part.scalar_sources[0], "a late source becomes scalar"),
            Cover(late & was & ~part.scalar_sources[0], "a late source ceases to be"),
            Cover(same & part.becomes[0] & ~part.accepted[0] & ~part.scalar_sources[0], "its result is held"),
        ]


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


class OfSlots(ScalarRegisters):
    """The lowest so many slots are near."""

    slots = 0

    def __init__(self, cfg) -> None:
        super().__init__(cfg)
        self._near = self.slots


class NoSlot(OfSlots):
    """No source sees the result of port 0."""


class EverySlot(OfSlots):
    """Far sources see it, too."""

    slots = 4


class AnyWarp(ScalarRegisters):
    """The register alone is compared."""

    def _meets(self, m, warp, bits):
        changes = self.becomes[0] & ~self.scalar[0] | self.ends[0] & self.scalar[0]
        return Cat(changes & (source == self.registers[0]) for source in list(bits.sources)[: self._near])


class AnyRegister(ScalarRegisters):
    """The warp alone is compared."""

    def _meets(self, m, warp, bits):
        return bits.changes[0].replicate(self._near)


class AnyPort(ScalarRegisters):
    """The result of port 1 is compared, too."""

    def _meets(self, m, warp, bits):
        sources = list(bits.sources)[: self._near]
        others = Cat(bits.changes[1] & (source == self.registers[1]) for source in sources)
        return super()._meets(m, warp, bits) | others


class AnyResult(ScalarRegisters):
    """A result turns the bit that it leaves as it is, too."""

    def _meets(self, m, warp, bits):
        own = self.warps[0] == warp
        return Cat(own & (source == self.registers[0]) for source in list(bits.sources)[: self._near])


def _bits(kind=BitProperties, ports: int = 3, **changes) -> BitProperties:
    cfg = configuration(ports=ports)
    return kind(Miswired(Counted(cfg), **changes) if changes else Counted(cfg), cfg, helped=not changes)


def _late(kind=ScalarRegisters, **changes) -> LateProperties:
    small = {"warps": 2, "lanes": 2, "register_names": 8, "rows": 8, "collectors": 1, "bank_skew": "none"}
    cfg = find("sticky+scalar").configuration("tiny", **small, source_slots=4)
    part = Counted(cfg, kind(cfg))
    return LateProperties(Miswired(part, **changes) if changes else part, cfg, helped=not changes)


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
        "hdl.rf.scalar.registers.ScalarRegisters",
        "2 warps of 8 registers, 3 near slots of 4",
        _late,
        {
            "results meet the bits of the page": lambda: _late(launched=lambda value: value & 0),
            "near sources meet those that port 0 leaves": lambda: _late(NoSlot),
            "far sources meet those that are there": lambda: _late(EverySlot),
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
