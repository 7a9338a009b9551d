"""Registers of a warp in two sets, one behind the other in their numbers: a kernel's sizes, and where a register is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import Members
from warpfile.hdl.rf.digits import bank_digit
from warpfile.hdl.rf.kernel import kernel_members, no_warp_resident
from warpfile.hdl.rf.location import base_table, begun, fast_sum, location_members
from warpfile.spec.config import Config


class SetSizes(wiring.Component):
    """Takes a kernel when no warp is resident, and keeps of its descriptor what is needed later.

    Members
    -------
    See :func:`hdl.rf.kernel.kernel_members`, and from the cycle after a kernel was taken:
    a field of the descriptor : Out   For each of ``kept``, which gives their widths.
    """

    def __init__(self, cfg: Config, kept: Mapping[str, int], members: Members | None = None) -> None:
        self._cfg = cfg
        self._kept = tuple(kept)
        fields = {name: Out(width) for name, width in kept.items()}
        super().__init__({**kernel_members(cfg), **fields, **(members or {})})

    def elaborate(self, platform) -> Module:
        """Registers for what is needed later."""
        m = Module()
        m.d.comb += [
            self.kernel_ready.eq(no_warp_resident(m, self._cfg, self)),
            self.taken.eq(self.kernel_valid & self.kernel_ready),
        ]
        with m.If(self.taken):
            m.d.sync += [getattr(self, name).eq(self.kernel[name]) for name in self._kept]
            self._begin(m)
            m.d.sync += self.launch_ready.eq(1)
        return m

    def _begin(self, m: Module) -> None:
        """What else becomes true when a kernel is taken."""


@dataclass(frozen=True)
class _Warp:
    """What the place of a register depends on beside the register; of the place of register 0 in both sets."""

    near: Value
    far: Value
    present: Value | None  #: its second set has a place; None: it always has one


class TwoSets(wiring.Component):
    """Both bases of every warp, and the lookups of a cycle. The second set begins with register ``boundary``.

    As in :class:`hdl.rf.location.Location`, and:

    Members
    -------
    the name in ``boundary`` : In    First register of the second set.
    present : In(warps)              Warps whose second set has a place; only with ``gives.absent``.
    """

    def __init__(self, cfg: Config, boundary: str, members: Members | None = None) -> None:
        self._cfg = cfg
        self._boundary_name = boundary
        own: Members = {boundary: In(dict(cfg.descriptor)[boundary])}
        if cfg.gives.absent:
            own["present"] = In(cfg.warps)
        super().__init__({**location_members(cfg), **own, **(members or {})})

    @property
    def boundary(self) -> Value:
        """First register of the second set."""
        boundary: Value = getattr(self, self._boundary_name)
        return boundary

    def elaborate(self, platform) -> Module:
        """Bases, and for each lookup an adder for either set."""
        m = Module()
        bases = base_table(m, self._cfg, self.launch_valid, self.launch)
        there = self.present if self._cfg.gives.absent else [None] * len(bases)
        warps = [_Warp(*held) for held in zip(bases, self._second(m, bases), there, strict=True)]
        if self._cfg.asks.sources:
            warp = _chosen(m, "offered", self.warp, warps)
            for register, source in zip(self.sources, self.source_places, strict=True):
                self._offered(m, warp, register, source)
        for warp, register, place in self._lookups(m, warps):
            self._place(m, warp, register, place)
        return m

    def _second(self, m: Module, bases: list[Signal]) -> list[Signal]:
        """Of every warp the place of its second set, minus ``boundary``."""
        raise NotImplementedError

    def _behind_pairs(self, m: Module, name: str, bases: list[Signal], behind: Value) -> list[Signal]:
        """Registers ``name`` for warps in even slots, which keep ``behind`` at their launch. The warp in an odd slot
        has its second set right behind its first one."""
        second = list(bases)
        for warp in range(0, len(bases), 2):
            second[warp] = Signal(self._cfg.place_bits, name=f"{name}{warp}", reset_less=True)
            launches = self.launch_valid & (self.launch.warp == warp)
            take(m, self._cfg, f"{name}{warp}", [second[warp]], (launches, [behind]))
        return second

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
        beyond = named(m, "beyond", register >= self.boundary)
        m.d.comb += [source.eq(Mux(beyond, far, near)), *_absent(warp, beyond, source)]

    def _place(self, m: Module, warp: _Warp, register: Value, place: data.View) -> None:
        """Both sets are counted through at once, since the register, which says in which it is, comes late."""
        near, far = (named(m, name, fast_sum(m, base, register)) for name, base in _ways(warp))
        beyond = named(m, "beyond", register >= self.boundary)
        number = named(m, "place", Mux(beyond, far, near))
        bits = bank_digit(self._cfg)
        m.d.comb += [place.row.eq(number[bits:]), place.bank.eq(number[:bits]), *_absent(warp, beyond, place)]


def _absent(warp: _Warp, beyond: Value, place: data.View) -> list:
    return [] if warp.present is None else [place.absent.eq(beyond & ~warp.present)]


def _ways(warp: _Warp) -> tuple[tuple[str, Value], ...]:
    return ("near", warp.near), ("far", warp.far)


def _chosen(m: Module, name: str, one_hot: Value, warps: list[_Warp]) -> _Warp:
    """One of the warps."""
    choice = named(m, f"{name}_warp", one_hot)

    def chosen(field: str) -> Value | None:
        values = [getattr(warp, field) for warp in warps]
        return None if values[0] is None else named(m, f"{name}_{field}", select(choice, values))

    return _Warp(*(chosen(field) for field in ("near", "far", "present")))
