"""Where registers live whose homes are swapped between a fast and a slow part (docs/schemes/pilot.md, section 3)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import engine_members
from warpfile.hdl.rf.digits import bank_digit, bank_of, digits_of, of_place, of_register, place_digits, row_of, summed
from warpfile.hdl.rf.layouts import offered_layout
from warpfile.hdl.rf.location import begun, fast_sum, location_members, settle
from warpfile.hdl.rf.pilot.layouts import pair_layout
from warpfile.hdl.rf.pilot.mover import Mover, StagingLane
from warpfile.hdl.rf.pilot.swap_table import SwapTable, entry_layout
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.pilot import PilotConfig


@dataclass(frozen=True)
class _Warp:
    """What the place of a register depends on beside the register."""

    fast: Value  #: place of its home 0
    slow: Value  #: what is added to a home outside of the fast part
    version: Value


class PilotLocation(wiring.Component):
    """Swapping tables, bases and versions of all warps, and the lookups of a cycle.

    As in :class:`hdl.rf.location.Location`, and:

    Members
    -------
    clear : In(1)                 Tables have no entries from the next cycle on.
    write : In(versions), pair : In   Goes into this version of the table.
    current : In(1)               Version of a warp that is launched now.
    tables : Out(ArrayLayout)     Entries of every version.
    versions : Out(warps)         Version of every warp; zero if there is only one.
    moving : In(1), resident : In(warps), fast_cycles : In   For :class:`Mover`; these and the next with ``migrates``.
    move_warp, move_pair, move_access, moved : Out   Where it is, and whether it ends.
    engine_... : the ports of :func:`hdl.rf.contract.engine_members`, flipped.
    source_homes : Out(ArrayLayout), source_hits : Out(source_slots), result_hits : Out(ports)   Of the lookups.
    """

    def __init__(self, cfg: PilotConfig) -> None:
        self._cfg = cfg
        self._count = 2 if cfg.piloted and not cfg.migrates else 1
        table = data.ArrayLayout(entry_layout(cfg), 2 * cfg.fast_registers)
        members = {
            **location_members(cfg),
            "clear": In(1),
            "write": In(self._count),
            "pair": In(pair_layout(cfg)),
            "current": In(1),
            "tables": Out(data.ArrayLayout(table, self._count)),
            "versions": Out(cfg.warps),
            "result_hits": Out(cfg.write_ports),
        }
        if cfg.asks.sources:
            members["source_homes"] = Out(data.ArrayLayout(cfg.register_bits, cfg.source_slots))
            members["source_hits"] = Out(cfg.source_slots)
        if cfg.migrates:
            members |= _mover_members(cfg)
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Every lookup goes to all versions of the table; the version of its warp chooses."""
        m = Module()
        warps = self._warps(m)
        lookups = list(self._lookups(m, warps))
        tables = [SwapTable(self._cfg, len(lookups)) for _ in range(self._count)]
        for number, table in enumerate(tables):
            m.submodules[f"table{number}"] = table
            m.d.comb += [
                table.clear.eq(self.clear),
                table.write.eq(self.write[number]),
                table.pair.eq(self.pair),
                self.tables[number].eq(table.entries),
            ]
        self._homes = [of_register(m, self._cfg, entry.home) for table in tables for entry in table.entries]
        for index, (warp, register, place, *seen) in enumerate(lookups):
            for number, table in enumerate(tables):
                asked = warp.version == number if len(tables) > 1 else 1
                m.d.comb += [table.asked[index].eq(asked), table.registers[index].eq(register)]
            change, leaves, comes = (
                any_of(getattr(table, name)[index] for table in tables) for name in ("changes", "leaves", "comes")
            )
            home = named(m, f"home{index}", register ^ change)
            fast = named(m, f"fast{index}", comes | (~leaves & (register < self._cfg.fast_registers)))
            m.d.comb += [port.eq(value) for port, value in zip(seen, (leaves | comes, home), strict=False)]
            self._place(m, warp, home, fast, place)
            if place.shape() == offered_layout(self._cfg):
                self._count_bank(m, warp, register, place, index, tables)
        if self._cfg.migrates:
            self._move(m, warps, list(tables[0].entries)[::2])
        return m

    def _move(self, m: Module, warps: list[_Warp], pairs: list[data.View]) -> None:
        """Registers of resident warps change places."""
        m.submodules.mover = mover = Mover(self._cfg)
        chosen = _chosen(m, "moved", decode(mover.warp, self._cfg.warps), warps)
        turn, slow = decode(mover.pair, len(pairs)), mover.access[0] ^ mover.access[1]
        low, high = (select(turn, [pair[name] for pair in pairs]) for name in ("register", "home"))
        self._place(m, chosen, named(m, "moved_home", Mux(slow, high, low)), ~slow, self.engine_places[0])
        m.d.comb += [
            mover.clear.eq(self.clear),
            mover.moving.eq(self.moving),
            mover.resident.eq(self.resident),
            mover.fast_cycles.eq(self.fast_cycles),
            mover.pairs.eq(Cat(pair.valid for pair in pairs)),
            mover.grant.eq(self.engine_grant),
            self.engine_valid.eq(mover.asks),
            self.engine_write.eq(mover.access[1]),
            self.moved.eq(mover.ends),
            *(getattr(self, f"move_{name}").eq(getattr(mover, name)) for name in ("warp", "pair", "access")),
        ]
        for number in range(self._cfg.lanes):
            lane = stamp(m, f"staging_lane{number}", "staging_lane", lambda: StagingLane(self._cfg))
            m.d.comb += [
                lane.fill.eq(Cat(self.engine_fill & (mover.access == 1), self.engine_fill & (mover.access == 2))),
                lane.read.eq(self.engine_read[number]),
                lane.write.eq(mover.access[0]),
                self.engine_data[number].eq(lane.data),
            ]

    def _warps(self, m: Module) -> list[_Warp]:
        """What is held of every warp, from the cycle after its launch."""
        cfg, warps, versions = self._cfg, [], self._count > 1
        first_slow = cfg.fast_rows * cfg.banks - cfg.fast_registers
        launched = of_place(m, cfg, self.launch.base + first_slow)
        for warp in range(cfg.warps):
            base = Signal(place_digits(cfg), name=f"base{warp}", reset_less=True)
            version = Signal(name=f"version{warp}") if versions else Const(0, 1)
            launches = self.launch_valid & (self.launch.warp == warp), [launched]
            take(m, cfg, base.name, [base], launches, also=[version.eq(self.current)] if versions else [])
            m.d.comb += self.versions[warp].eq(version)
            fast = Const(digits_of(cfg, warp * cfg.fast_registers), place_digits(cfg))
            warps.append(_Warp(fast, base, version))
        return warps

    def _lookups(self, m: Module, warps: list[_Warp]) -> Iterator[tuple]:
        """Of every lookup: warp, register, the port of its place, and those of whether and where it hits."""
        cfg = self._cfg
        if cfg.asks.sources:
            warp = _chosen(m, "offered", self.warp, warps)
            for slot in range(cfg.source_slots):
                seen = self.source_hits[slot], self.source_homes[slot]
                yield warp, self.sources[slot], self.source_places[slot], *seen
        for port in range(cfg.write_ports):
            warp = _chosen(m, f"result{port}", decode(self.result_warps[port], cfg.warps), warps)
            yield warp, self.result_registers[port], self.result_places[port], self.result_hits[port]
        for index in range(cfg.warps * cfg.asks.lookups):
            warp = warps[index // cfg.asks.lookups]
            yield warp, self.lookup_registers[index], self.lookup_places[index]

    def _place(self, m: Module, warp: _Warp, home: Value, fast: Value, place: data.View) -> None:
        """Home to bank and row. Both parts are counted through at once, since which it is comes late."""
        cfg, offered = self._cfg, offered_layout(self._cfg)
        if place.shape() == offered or not cfg.banks_by_bits:
            source = place if place.shape() == offered else Signal(offered, name="source")
            parts = of_register(m, cfg, home)
            ways = (begun(m, cfg, base, parts).as_value() for base in (warp.fast, warp.slow))
            m.d.comb += source.eq(Mux(fast, *ways))
            if source is not place:
                settle(m, source, place)
            return
        near, far = (
            named(m, name, fast_sum(m, base, home)) for name, base in (("near", warp.fast), ("far", warp.slow))
        )
        number = named(m, "place", Mux(fast, near, far))
        m.d.comb += [place.row.eq(row_of(cfg, number)), place.bank.eq(bank_of(cfg, number))]

    def _count_bank(
        self, m: Module, warp: _Warp, register: Value, place: data.View, index: int, tables: list[SwapTable]
    ) -> None:
        """Bank of a source, and what its row begins with. All homes that it may have are counted from at once, since
        which it is comes last. An even entry has one in the slow part, an odd one in the fast part."""
        bits, cfg = bank_digit(self._cfg), self._cfg
        if not bits:
            return

        def low(base: Value, home: Sequence[Value]) -> Value:
            bank, carries = summed(m, cfg, bank_of(cfg, base), [bank_of(cfg, part) for part in home], f"low{index}")
            return Cat(bank, carries[-1])

        matches = [bit for table in tables for bit in table.matches[index]]
        ways = [warp.fast if number % 2 else warp.slow for number in range(2 * self._cfg.fast_registers)] * len(tables)
        own = of_register(m, cfg, register)
        stays = Mux(register < cfg.fast_registers, low(warp.fast, own), low(warp.slow, own))
        stays = named(m, f"stays{index}", stays)
        changes = [low(base, home) ^ stays for base, home in zip(ways, self._homes, strict=True)]
        counted = named(m, f"counted{index}", stays ^ select(matches, changes))
        m.d.comb += [place.bank.eq(counted[:bits]), place.carry.eq(counted[bits])]


def _mover_members(cfg: PilotConfig) -> dict[str, wiring.Member]:
    seen = (
        ("move_warp", cfg.warp_bits),
        ("move_pair", cfg.fast_registers.bit_length()),
        ("move_access", 2),
        ("moved", 1),
    )
    asked = ("moving", 1), ("resident", cfg.warps), ("fast_cycles", cfg.gives.cycles.bit_length())
    own = {name: member.flip() for name, member in engine_members(cfg, cfg.gives.engines).items()}
    return {name: Out(bits) for name, bits in seen} | {name: In(bits) for name, bits in asked} | own


def _chosen(m: Module, name: str, one_hot: Value, warps: list[_Warp]) -> _Warp:
    """One of the warps."""
    choice = named(m, f"{name}_warp", one_hot)
    return _Warp(
        named(m, f"{name}_fast", select(choice, [warp.fast for warp in warps])),
        named(m, f"{name}_slow", select(choice, [warp.slow for warp in warps])),
        named(m, f"{name}_version", select(choice, [warp.version for warp in warps])),
    )
