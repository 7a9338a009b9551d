"""All places, with address tables in four parts (docs/schemes/ltrf.md, section 14)."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import Out

from warpfile.hdl.arbiter import any_of, decode
from warpfile.hdl.count import at_least_before
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import places_layout
from warpfile.hdl.rf.ltrf.banks.parts import PartedTable, by_name, by_part
from warpfile.hdl.rf.ltrf.banks.place import BankPlace
from warpfile.hdl.rf.ltrf.common import Places, places_members
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.ltrf import PARTS, LtrfConfig

#: Events of the places, a bit per part.
STEPS = ("step_in", "step_out", "step_moves")


class BankPlaces(Places):
    """Places whose registers take steps, four in a cycle.

    Members beside :func:`places_members`
    -------
    steps, homes, out : Out      As in :class:`hdl.rf.ltrf.banks.engine.BankEngine`.
    step_register                A probe, as the :data:`STEPS`.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        parts = cfg.active_warps * PARTS
        super().__init__(
            {
                **places_members(cfg),
                "steps": Out(data.ArrayLayout(cfg.interval_registers, parts)),
                "homes": Out(places_layout(cfg.common(), parts)),
                "out": Out(cfg.active_warps),
                **{name: Out(parts) for name in STEPS},
                "step_register": Out(data.ArrayLayout(cfg.register_bits, parts)),
            }
        )

    def _order(self, registers: Value) -> Value:
        return by_part(registers)

    def _names(self, registers: Value) -> Value:
        return by_name(registers)

    def _table(self) -> PartedTable:
        return PartedTable(self._cfg, self._cfg.source_slots + self._cfg.write_ports)

    def _place(self, m: Module, number: int, table: wiring.PureInterface) -> wiring.PureInterface:
        place = stamp(m, f"place{number}", "bank_place", lambda: BankPlace(self._cfg))
        count = self._cfg.interval_registers
        order = [(number * count // self._cfg.active_warps + bank) % count for bank in range(count)]
        m.d.comb += [
            table.takes.eq(place.takes),
            table.leaves.eq(place.leaves),
            table.drop.eq(place.drop),
            table.registers.eq(place.registers),
            table.enters.eq(place.entered_step & ~place.out.replicate(PARTS)),
            table.entered_banks.eq(place.banks),
            table.wanted.eq(Cat(*self._checked, *self._returning)),
            place.cached.eq(table.cached),
            place.vacant.eq(Cat(first_free(m, f"free{number}", place.occupied, order))),
            self.out[number].eq(place.out),
            *(getattr(self, name).word_select(number, PARTS).eq(getattr(place, name)) for name in STEPS),
        ]
        self._enter(m, number, place, table)
        return place

    def _enter(self, m: Module, number: int, place: wiring.PureInterface, table: wiring.PureInterface) -> None:
        """Steps of the cycle before, by bank of the cache."""
        count, freed = self._cfg.interval_registers, []
        for part in range(PARTS):
            bank = named(m, f"bank{number}_{part}", Mux(place.out, table.step_banks[part], place.banks[part]))
            banks = decode(bank, count) & place.entered_step[part].replicate(count)
            stepped = named(m, f"stepped{number}_{part}", banks)
            freed.append(stepped & place.out.replicate(count))
            at = number * PARTS + part
            m.d.comb += [
                self.steps[at].eq(stepped & place.moves[part].replicate(count)),
                self.homes[at].eq(place.homes[part]),
                self.step_register[at].eq(place.step_registers[part]),
            ]
        m.d.comb += place.freed.eq(any_of(freed))


def first_free(m: Module, name: str, occupied: Value, order: Sequence[int]) -> list[Value]:
    """The first, the second, ... free bank, as many as there are parts, in this order; each one-hot or none."""
    free = [~occupied[bank] for bank in order]
    *before, _ = at_least_before(m, name, free, PARTS)
    found = []
    for place in range(PARTS):
        there = {
            bank: value & _at_least(counts, place) & ~_at_least(counts, place + 1)
            for bank, value, counts in zip(order, free, before, strict=True)
        }
        found.append(named(m, f"{name}_{place}", Cat(there[bank] for bank in range(len(order)))))
    return found


def _at_least(counts: list[Value], many: int) -> Value:
    """Whether so many are set, of bits of which it is known for 1, 2, ..."""
    return counts[many - 1] if 0 < many <= len(counts) else Const(not many, 1)
