"""Banks with a bank of words beside each, for registers whose lanes hold one word (docs/schemes/scalar.md)."""

from amaranth import Cat, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from warpfile.hdl.arbiter import decode
from warpfile.hdl.naming import named
from warpfile.hdl.rf.banks import Banks
from warpfile.hdl.rf.engines import Engines
from warpfile.hdl.rf.location import Location
from warpfile.hdl.rf.plain import PlainFile
from warpfile.hdl.rf.scalar.alike import AlikeLanes
from warpfile.hdl.rf.scalar.banks import ScalarBanks
from warpfile.hdl.rf.scalar.counts import ScalarCounts
from warpfile.hdl.rf.scalar.expansion import Expansion
from warpfile.hdl.rf.scalar.registers import ScalarRegisters
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.scalar import ScalarConfig, scalar_probes


def scalar_file(cfg: ScalarConfig) -> PlainFile:
    """The register file; with ``scalar_values`` = ``none`` that of the baseline."""
    return ScalarFile(cfg) if cfg.has_scalar_banks else PlainFile(cfg, Location(cfg))


class ScalarFile(PlainFile):
    """A plain file whose results go to banks of words where all live lanes have one. Homes are those of the baseline.

    Ports: :func:`hdl.rf.contract.file_members`, and the probes of :func:`spec.schemes.scalar.scalar_probes`.
    """

    def __init__(self, cfg: ScalarConfig) -> None:
        self._cfg = cfg
        self._registers, self._expansion = ScalarRegisters(cfg), Expansion(cfg)
        super().__init__(cfg, Location(cfg), {probe.name: Out(probe.width) for probe in scalar_probes(cfg)})

    def elaborate(self, platform) -> Module:
        """The plain file, in which the bits of the registers choose between the two banks of a home."""
        m = super().elaborate(platform)
        m.submodules.scalars, m.submodules.expander = self._registers, self._expansion
        return m

    def _make_banks(self, engines: Engines) -> Banks:
        return ScalarBanks(self._cfg, engines)

    def _locate(self, m: Module, location: wiring.Component) -> None:
        """Bits of all head beats' sources are read beside the choice of the warp, which then chooses among them."""
        super()._locate(m, location)
        registers, warps = self._registers, self._cfg.warps
        m.d.comb += [
            registers.launched.eq(decode(self.launch.warp, warps) & self.launch_valid.replicate(warps)),
            Cat(*registers.sources).eq(Cat(register for head in self.heads for register in head.sources)),
            registers.offered.eq(self.offer_warp),
        ]
        for place, scalar in zip(self.source_places, registers.scalar_sources, strict=True):
            m.d.comb += place.twin.eq(scalar)

    def _engines(self, m: Module, location: wiring.Component, banks: Banks, engines: Engines) -> None:
        """The expansion has no other client beside it."""
        super()._engines(m, self._expansion, banks, engines)

    def _write(self, m: Module, location: wiring.Component, banks: ScalarBanks) -> None:
        """Results as in a plain file, but for the bank that they ask, and those that ask none."""
        super()._write(m, location, banks)
        registers, expansion = self._registers, self._expansion
        full, alike = Cat(result.full for result in self.results), Cat(self._alike(m, banks))
        scalar = named(m, "scalar", full & alike)
        needs = named(m, "needs", self.result_store & ~full & registers.scalar)
        m.d.comb += [
            banks.result_valid.eq(self.result_store & ~needs),
            *(place.twin.eq(bit) for place, bit in zip(banks.result_places, scalar, strict=True)),
            registers.becomes.eq(scalar),
            registers.ends.eq(full & ~scalar),
            registers.accepted.eq(banks.accept),
            registers.expanded.eq(expansion.writes),
            expansion.needs.eq(needs),
            expansion.homes.eq(location.result_places),
            *(
                named_as.eq(Cat(result.register, result.warp))
                for named_as, result in zip(expansion.results, self.results, strict=True)
            ),
        ]
        for warp, register, one in zip(
            registers.warps, registers.registers, (*expansion.results, expansion.register), strict=True
        ):
            m.d.comb += Cat(register, warp).eq(one)
        self._observe(m, banks, scalar)

    def _alike(self, m: Module, banks: ScalarBanks) -> list[Value]:
        """Of each port whether all lanes of its result have one word; that goes to the scalar banks."""
        found = []
        for port, result in enumerate(self.results):
            lanes = stamp(m, f"alike{port}", "alike_lanes", lambda: AlikeLanes(self._cfg), clocked=False)
            m.d.comb += [
                lanes.mask.eq(result.mask),
                lanes.values.eq(self.result_data[port]),
                banks.result_words[port].eq(lanes.word),
            ]
            found.append(lanes.alike)
        return found

    def _observe(self, m: Module, banks: ScalarBanks, scalar: Value) -> None:
        """Results by their kind, banks that serve sources, the expansion."""
        m.submodules.observed = counts = ScalarCounts(self._cfg)
        for name in ("launched", "warps", "rises", "falls"):
            m.d.comb += getattr(counts, name).eq(getattr(self._registers, name))
        count = self._cfg.banks
        m.d.comb += [
            self.scalar_result.eq(self.result_store & scalar),
            self.needs_expansion.eq(self._expansion.needs),
            self.scalar_write.eq(banks.accept & scalar),
            self.vector_write.eq(banks.accept & ~scalar),
            self.expansion.eq(self._expansion.phase),
            self.expansion_read.eq(self._expansion.reads),
            self.expansion_write.eq(self._expansion.writes),
            self.scalar_read.eq(banks.serves[count:]),
            self.vector_read.eq(banks.serves[:count]),
            self.scalar_registers.eq(counts.count),
        ]
