"""Register file whose registers with one word in all live lanes are in banks of words (docs/schemes/scalar.md)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.copies import Latest
from warpfile.golden.rf.banks import Access
from warpfile.golden.rf.contract import Place
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.rf.scalar.alike import Alike
from warpfile.golden.rf.scalar.expansion import READS, WRITES, Expansion
from warpfile.golden.rf.scalar.probes import Probes
from warpfile.golden.rf.scalar.registers import ScalarRegisters
from warpfile.golden.scheduler.places import Places
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.scalar import ScalarConfig
from warpfile.spec.stimulus import Result


@mypyc_attr(allow_interpreted_subclasses=True)
class ScalarFile(PlainFile):
    """A plain file with a bank of words beside every bank, and a client that brings registers back from there.

    ``golden.rf.contract``: ``GatedFile``. It refuses and holds no warp. Without scalar banks it is a plain file.
    """

    def __init__(self, cfg: ScalarConfig, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, Location(cfg))
        self.refuses = self.yields = 0
        self._banks = cfg.banks
        self._forwards = cfg.asks.forwards > 0
        self.registers = ScalarRegisters(cfg.warps)
        self.expansion = Expansion(cfg.banks, self.registers)
        self.alike = Alike(cfg)
        self._scalar = 0  # ports whose result is scalar, of those that were shown last
        self.probes: Probes | None = None
        if cfg.has_scalar_banks:
            self.probes = Probes(cfg, layout, self.counters)
            # A result of some lanes must find the others in the bank.
            self._latest = Latest(cfg)

    def gate(self, heads: Heads) -> None:
        """See the contract. Head beats are for hardware, which looks at their bits beside the choice of a warp."""

    def refused(self, warp: int) -> None:
        """Nothing is refused."""
        raise AssertionError(f"warp {warp} is refused by a file that refuses nothing")

    def _in(self, scalar: bool, home: Place) -> Place:
        """The place in the bank of a home, or beside it."""
        return (home[0] + self._banks, home[1]) if scalar else home

    def place(self, warp: int, register: int) -> Place:
        """See the contract. A source that is late is where its result goes."""
        registers = self.registers
        scalar = registers.next(warp, register) if self._forwards else registers.scalar(warp, register)
        return self._in(scalar, self.location.place(warp, register))

    def destination(self, port: int, result: Result) -> Place:
        """See ``PlainFile``."""
        return self._in(bool(self._scalar >> port & 1), self.location.place(result.warp, result.register))

    def read(self, cycle: int, asking: list[int], rows: list[int], order: list[int]) -> list[Access]:
        """See the contract."""
        grants = super().read(cycle, asking, rows, order)
        if grants and self.probes is not None:
            granted = 0
            for index, _, _ in grants:
                granted |= 1 << index
            self.probes.reads(asking, granted)
        return grants

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """See the contract. A result of some lanes waits while its register is scalar."""
        if self.probes is None:
            return super().accept(cycle, results, valid, store)
        held = self._kinds(results, valid & store)
        accepted = super().accept(cycle, results, valid & ~held, store & ~held)
        stored, scalar = accepted & store, self._scalar
        for port in indices(stored):
            result = results[port]
            assert result is not None, f"port {port} has nothing that could be stored"
            if result.full:
                self.registers.becomes(result.warp, result.register, bool(scalar >> port & 1))
        self.probes.show("scalar_result", scalar)
        self.probes.show("needs_expansion", held)
        self.probes.show("scalar_write", stored & scalar)
        self.probes.show("vector_write", stored & ~scalar)
        return accepted

    def _kinds(self, results: list[Result | None], shown: int) -> int:
        """Note which of the shown results are scalar, and return those that need expansion."""
        self._scalar = held = 0
        for port in indices(shown):
            result = results[port]
            assert result is not None, f"port {port} has nothing that could be stored"
            if result.full:
                if self.alike.holds(result.data or 0, result.mask):
                    self._scalar |= 1 << port
            elif self.registers.scalar(result.warp, result.register):
                held |= 1 << port
        if held:
            first = results[held.bit_length() - 1]
            assert first is not None
            self.expansion.needed(first.warp, first.register, self.location.place(first.warp, first.register))
        return held

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        super().launched(launch)
        self.registers.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """See the contract; then the expansion moves on, and registers change their kind."""
        if self.probes is None:
            return super().edge(cycle)
        own, phase, registers = self.own, self.expansion.phase, self.registers.count
        assert own is not None
        word = super().edge(cycle)
        if phase in (READS, WRITES) and own.served:
            self.probes.show("expansion_read" if phase == READS else "expansion_write", 1)
        own.asks["expansion"] = self.expansion.edge(cycle, own.served)
        self.registers.edge()
        return word | self.probes.word(phase, registers)
