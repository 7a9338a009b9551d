"""What becomes of a load that was searched for (docs/schemes/larf.md, section 9)."""

from amaranth import Cat, Module, Mux
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.hdl.rf.shared.counts import SOURCES
from warpfile.hdl.rf.shared.merge import job_layout
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.shared import DOUBLE, MISS, PERFECT, SINGLE, SharedConfig


class Act(wiring.Component):
    """Decides anew in every cycle of E. Combinational.

    Members
    -------
    acting, tired : In(1)        An access is in E; it has waited long enough for the merge slot.
    perfect, lower, upper, both : In(1), alive, ready : In(2), places, covers, distances : In(ArrayLayout)   What was
                                 found (:class:`hdl.rf.shared.address_table.AddressTable`); the rows are filled.
    mask : In(lanes)             Lanes of the access.
    most : In(1)                 The first row can be shared by no more registers.
    answered : In(1), old : In(location_layout), mapped, single, busy : In(1)   The mapping of the destination is known,
                                 and this is it; only it has that row; the merge slot has yet to read it.
    idle, room : In(1)           The merge slot is; the list of absorbed loads has a free entry.
    found : In(1), fresh : In(location_layout)   A free row.
    acts, absorbs : Out(1)       It does; the load never leaves.
    lacks : Out(1)               It would, if there were a free row.
    waits : Out(1)               It waits for the merge slot.
    shares, merges : Out(1)      It gets the first row; a row that is merged.
    enters : Out(1)              Its vector enters the table, with this row, which it has alone from now on.
    writes : Out(1)              The mapping changes.
    drops, ends : Out(1)         It had a row, which it has no more; the entry of that ends, whatever else happens.
    place : Out(location_layout)   Row of the destination from then on.
    job : Out(job_layout(cfg))   For the merge slot.
    outcome : Out(3), lost, fallback : Out(1)   Probes.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        inputs = (
            "acting",
            "tired",
            "perfect",
            "lower",
            "upper",
            "both",
            "most",
            "answered",
            "mapped",
            "single",
            "busy",
        )
        inputs += ("idle", "room", "found")
        outputs = ("acts", "absorbs", "lacks", "waits", "shares", "merges", "enters", "writes", "drops", "ends")
        outputs += ("lost", "fallback")
        place = location_layout(cfg)
        super().__init__(
            {
                **{name: In(1) for name in inputs},
                **{name: Out(1) for name in outputs},
                **{name: In(SOURCES) for name in ("alive", "ready")},
                "places": In(places_layout(cfg, SOURCES)),
                "covers": In(data.ArrayLayout(cfg.lanes, SOURCES)),
                "distances": In(data.ArrayLayout(index_bits(cfg.lanes), SOURCES)),
                "mask": In(cfg.lanes),
                **{name: In(place) for name in ("old", "fresh")},
                "place": Out(place),
                "job": Out(job_layout(cfg)),
                "outcome": Out(3),
            }
        )

    def elaborate(self, platform) -> Module:
        """The class as it is now, whether it acts, what that changes."""
        m = Module()
        used = Cat(self.lower | self.both, self.upper | self.both)
        merges = named(m, "could_merge", self.lower | self.upper | self.both)
        usable = named(m, "usable", ~(used & ~(self.alive & self.ready)).any())
        hit = named(m, "hit", self.perfect & self.alive[0] & ~self.most)
        full = named(m, "slot_full", merges & usable & ~self.idle)
        made = named(m, "made", merges & usable & self.idle)
        free = named(m, "free", self.answered & ~(self.mapped & self.busy) & (self.room | ~(hit | made)))
        keeps = named(m, "keeps", self.mapped & self.single & ~hit)
        same = named(m, "same", self.mapped & (self.old.as_value() == self.places[0].as_value()))
        moves = named(m, "moves", ~keeps & ~(hit & same))
        m.d.comb += [
            self.waits.eq(self.acting & full & ~self.tired),
            self.lacks.eq(self.acting & free & ~(full & ~self.tired) & ~hit & ~keeps & ~self.found),
            self.acts.eq(self.acting & free & ~(full & ~self.tired) & (hit | keeps | self.found)),
            self.absorbs.eq(hit | made),
            self.shares.eq(self.acts & hit & ~same),
            self.merges.eq(self.acts & made),
            self.enters.eq(self.acts & ~hit),
            self.writes.eq(self.acts & moves),
            self.drops.eq(self.acts & moves & self.mapped),
            self.ends.eq(self.acts & keeps),
            self.place.eq(Mux(hit, self.places[0], Mux(keeps, self.old, self.fresh))),
            self.lost.eq(self.acts & ((self.perfect & ~hit) | (merges & ~usable))),
            self.fallback.eq(self.acts & full),
        ]
        misses = ~(hit | made)
        codes = (hit, PERFECT), (made & ~self.both, SINGLE), (made & self.both, DOUBLE), (misses, MISS)
        outcome = sum(Mux(bit, code, 0) for bit, code in codes)
        m.d.comb += self.outcome.eq(Mux(self.acts, outcome, 0))
        self._job(m)
        return m

    def _job(self, m: Module) -> None:
        """The only source is the first one."""
        places, distances = self.places, self.distances
        m.d.comb += [
            self.job.places.eq(Cat(Mux(self.upper, places[1].as_value(), places[0].as_value()), places[1].as_value())),
            self.job.distances.eq(Cat(Mux(self.upper, distances[1], distances[0]), distances[1])),
            self.job.covers.eq(Cat(Mux(self.upper, self.mask, self.covers[0]), self.covers[1])),
            self.job.double.eq(self.both),
            self.job.target.eq(self.place),
            self.job.mask.eq(self.mask),
        ]
