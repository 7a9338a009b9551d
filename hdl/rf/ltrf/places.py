"""All places of the cache (docs/schemes/ltrf.md, sections 3, 4 and 7)."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.rf.ltrf.address_table import AddressTable
from warpfile.hdl.rf.ltrf.common import Places, places_members
from warpfile.hdl.rf.ltrf.pending import candidate_layout
from warpfile.hdl.rf.ltrf.place import CachePlace
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.ltrf import LtrfConfig

#: Events and states of the places, one bit each.
PLACE_OUTPUTS = ("step_in", "step_out", "step_moves", "given_back")
#: Two look-ups of each table beside sources and results: of a step that takes a bank away, of the next candidate.
MOVES = 2


class CachePlaces(Places):
    """Places with their address tables: who starts, who saves, and what look-ups find.

    Members beside :func:`places_members`
    -------
    valid : Out(active_warps), candidates : Out(ArrayLayout), granted : In(active_warps)   Of each place.
    free : Out(ArrayLayout)      Free banks of each place in their order.
    save_set, step_register      Probes, as the :data:`PLACE_OUTPUTS`.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        count = cfg.active_warps
        observed = {"free": cfg.cache_bank_bits * cfg.interval_registers, "step_register": cfg.register_bits}
        super().__init__(
            {
                **places_members(cfg),
                "granted": In(count),
                "candidates": Out(data.ArrayLayout(candidate_layout(cfg), count)),
                **{name: Out(count) for name in ("valid", *PLACE_OUTPUTS)},
                "save_set": Out(cfg.register_names),
                **{name: Out(data.ArrayLayout(width, count)) for name, width in observed.items()},
            }
        )

    def _choose(self, m: Module, places: list) -> None:
        super()._choose(m, places)
        m.d.comb += self.save_set.eq(select(self.save, [place.saves for place in places]))

    def _table(self) -> AddressTable:
        lookups = self._cfg.source_slots + self._cfg.write_ports
        return AddressTable(self._cfg, lookups, lookups + MOVES)

    def _place(self, m: Module, number: int, table: wiring.PureInterface) -> wiring.PureInterface:
        place = stamp(m, f"place{number}", "cache_place", lambda: CachePlace(self._cfg))
        step, chosen = list(table.banks)[-MOVES:]
        m.d.comb += [
            place.granted.eq(self.granted[number]),
            self.candidates[number].eq(place.candidate),
            self.free[number].eq(place.free.as_value()),
            *(
                getattr(self, name)[number].eq(getattr(place, name))
                for name in ("valid", "step_register", *PLACE_OUTPUTS)
            ),
            table.enters.eq(place.takes),
            table.bank.eq(place.first),
            table.leaves.eq(place.leaves),
            table.drop.eq(place.drop),
            table.wanted.eq(Cat(*self._checked, *self._returning, place.leaves, place.chosen)),
            place.cached.eq(table.cached),
            place.bank.eq(step),
            place.chosen_bank.eq(chosen),
        ]
        return place
