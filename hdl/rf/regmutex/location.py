"""Where a register lives whose number says in which of two sets it is (docs/schemes/regmutex.md, section 6)."""

from collections.abc import Iterator
from dataclasses import dataclass

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from warpfile.hdl.arbiter import decode, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.digits import bank_digit
from warpfile.hdl.rf.location import base_table, begun, fast_sum, location_members
from warpfile.spec.schemes.regmutex import RegMutexConfig


@dataclass(frozen=True)
class _Warp:
    """What the place of a register depends on beside the register; of the place of register 0 in both sets."""

    base: Value
    extended: Value
    present: Value  #: it has a section


class RegMutexLocation(wiring.Component):
    """Both bases of every warp, and the lookups of a cycle.

    As in :class:`hdl.rf.location.Location`, and:

    Members
    -------
    base_registers : In          Registers of the base set.
    present : In(warps)          Warps whose extended set has a place.
    pool : In(place_bits), extended_registers : In   First place of the pool, and the size of a section.
    takes : In(warps), number : In(warp_bits)   This warp has that section from the next cycle on. These four only with
                                 ``sharing`` = ``pool``.
    """

    def __init__(self, cfg: RegMutexConfig) -> None:
        self._cfg = cfg
        count = In(dict(cfg.descriptor)["base_registers"])
        members = {"base_registers": count, "present": In(cfg.warps)}
        if not cfg.paired:
            members |= {"extended_registers": count, "pool": In(cfg.place_bits)}
            members |= {"takes": In(cfg.warps), "number": In(cfg.warp_bits)}
        super().__init__({**location_members(cfg), **members})

    def elaborate(self, platform) -> Module:
        """Bases, and for each lookup an adder for either set."""
        m = Module()
        warps = self._warps(m)
        if self._cfg.asks.sources:
            warp = _chosen(m, "offered", self.warp, warps)
            for register, source in zip(self.sources, self.source_places, strict=True):
                self._offered(m, warp, register, source)
        for warp, register, place in self._lookups(m, warps):
            self._place(m, warp, register, place)
        return m

    def _warps(self, m: Module) -> list[_Warp]:
        """What is held of every warp; the odd one of a pair has its section right behind its base set."""
        bases = base_table(m, self._cfg, self.launch_valid, self.launch)
        extended = self._of_pairs(m, bases) if self._cfg.paired else self._of_pool(m)
        return [_Warp(*held) for held in zip(bases, extended, self.present, strict=True)]

    def _of_pool(self, m: Module) -> list[Signal]:
        """The lowest free section is multiplied out in every cycle, before it is known whether a warp takes it."""
        first = named(m, "first", (self.pool - self.base_registers)[: self._cfg.place_bits])
        section = named(m, "section", (first + self.number * self.extended_registers)[: self._cfg.place_bits])
        extended = [Signal(self._cfg.place_bits, name=f"extended{warp}") for warp in range(self._cfg.warps)]
        for warp, place in enumerate(extended):
            with m.If(self.takes[warp]):
                m.d.sync += place.eq(section)
        return extended

    def _of_pairs(self, m: Module, bases: list[Signal]) -> list[Signal]:
        behind = named(m, "behind", (self.launch.base + self.base_registers)[: self._cfg.place_bits])
        extended = list(bases)
        for warp in range(0, len(bases), 2):
            extended[warp] = Signal(self._cfg.place_bits, name=f"extended{warp}", reset_less=True)
            launches = self.launch_valid & (self.launch.warp == warp)
            take(m, self._cfg, f"extended{warp}", [extended[warp]], (launches, [behind]))
        return extended

    def _lookups(self, m: Module, warps: list[_Warp]) -> Iterator[tuple[_Warp, Value, data.View]]:
        """Warp, register and the port of its place, of all but the offered beat's sources."""
        cfg = self._cfg
        for port in range(cfg.write_ports):
            warp = _chosen(m, f"result{port}", decode(self.result_warps[port], cfg.warps), warps)
            yield warp, self.result_registers[port], self.result_places[port]
        for index in range(cfg.warps * cfg.asks.lookups):
            yield warps[index // cfg.asks.lookups], self.lookup_registers[index], self.lookup_places[index]

    def _offered(self, m: Module, warp: _Warp, register: Value, source: data.View) -> None:
        """Likewise, but rows are not added up."""
        near, far = (begun(m, self._cfg, base, (register,)).as_value() for _, base in _ways(warp))
        beyond = named(m, "beyond", register >= self.base_registers)
        m.d.comb += [source.eq(Mux(beyond, far, near)), source.absent.eq(beyond & ~warp.present)]

    def _place(self, m: Module, warp: _Warp, register: Value, place: data.View) -> None:
        """Both sets are counted through at once, since the register, which says in which it is, comes late."""
        near, far = (named(m, name, fast_sum(m, base, register)) for name, base in _ways(warp))
        beyond = named(m, "beyond", register >= self.base_registers)
        number = named(m, "place", Mux(beyond, far, near))
        bits = bank_digit(self._cfg)
        m.d.comb += [place.row.eq(number[bits:]), place.bank.eq(number[:bits]), place.absent.eq(beyond & ~warp.present)]


def _ways(warp: _Warp) -> tuple[tuple[str, Value], ...]:
    return ("near", warp.base), ("far", warp.extended)


def _chosen(m: Module, name: str, one_hot: Value, warps: list[_Warp]) -> _Warp:
    """One of the warps."""
    choice = named(m, f"{name}_warp", one_hot)
    fields = {field: [getattr(warp, field) for warp in warps] for field in ("base", "extended", "present")}
    return _Warp(**{field: named(m, f"{name}_{field}", select(choice, values)) for field, values in fields.items()})
