"""One bank of the cache: registers in flight to the main banks (docs/schemes/ltrf.md, section 5)."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import places_layout
from warpfile.hdl.rf.ltrf.fills import Fills
from warpfile.hdl.rf.ltrf.write_backs import WriteBacks
from warpfile.spec.schemes.ltrf import PARTS, LtrfConfig

FILL_PORTS = ("asked", "pick", "asks", "place", "home", "ready", "granted", "last", "last_place", "stores", "row")
BACK_PORTS = ("pick", "phase", "place", "home", "reads", "first", "served", "latches", "asks", "granted", "beat")


class CacheSide(wiring.Component):
    """Fills and write-backs of one bank of the cache, and what steps have to do with it.

    Members
    -------
    steps : In(active_warps * parts), homes : In(ArrayLayout)   Steps with this bank whose register has to be moved, by
                                 place and part, and the places of all those registers in the main banks.
    out : In(active_warps)       The steps of the place are steps out.
    nearly : In(banks)           Main banks that can be asked soon.
    leaving, coming : Out(active_warps)   Places whose register here has yet to be read, to be filled.
    working : Out(active_warps)  Places that have something under way here.
    fill_asks : Out(1), fill_asked : Out(active_warps)   A fill asks its main bank; the places whose fill was picked.
    fill_home : Out(location)    Main bank and row of that fill.
    fill_ready : Out(1), fill_granted : In(1)   It may be granted; it is.
    fill_last : In(1), fill_last_place : In(place_count_bits)   The last beat of a fill of this place arrives.
    fill_stores : Out(1), fill_row : Out(place_count_bits)   The row of a place is written with what has arrived.
    back_reads : Out(1), back_first : Out(1), back_served : In(1)   A write-back asks to read the row in the cache; goes
                                 before all others; does read it.
    back_latches : Out(1)        The staging register takes what the cache has read.
    back_asks : Out(1), back_granted : In(1)   The write-back asks its main bank, and may send.
    back_home : Out(location)    Main bank and row of that write-back.
    back_beat : Out(crossbar_beats)   The beat of it that passes, one-hot or none.
    (Both as in :class:`Fills` and :class:`WriteBacks`.)
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        self._fills, self._backs = Fills(cfg), WriteBacks(cfg)
        places = cfg.active_warps
        fills, backs = self._fills.signature.members, self._backs.signature.members
        super().__init__(
            {
                "steps": In(places * PARTS),
                "homes": In(places_layout(cfg.common(), places * PARTS)),
                "out": In(places),
                "nearly": In(cfg.banks),
                **{name: Out(places) for name in ("leaving", "coming", "working")},
                **{f"fill_{name}": fills[name] for name in FILL_PORTS},
                **{f"back_{name}": backs[name] for name in BACK_PORTS},
            }
        )

    def elaborate(self, platform) -> Module:
        """Which steps are of which kind; then both parts."""
        m = Module()
        places = self._cfg.active_warps
        m.submodules.fills, m.submodules.backs = fills, backs = self._fills, self._backs
        steps = [self.steps.word_select(place, PARTS) for place in range(places)]
        moved = named(m, "moved", Cat(step.any() for step in steps))
        homes = Signal(self._fills.homes.shape(), name="moved_homes")
        for place, step in enumerate(steps):
            chosen = [self.homes[place * PARTS + part].as_value() for part in range(PARTS)]
            m.d.comb += homes[place].eq(select(step, chosen))
        able = [(decode(home.bank, self._cfg.banks) & self.nearly).any() for home in fills.kept]
        m.d.comb += [
            fills.enters.eq(moved & ~self.out),
            backs.leaves.eq(moved & self.out),
            fills.homes.eq(homes),
            backs.homes.eq(homes),
            fills.blocked.eq(backs.valid),
            fills.able.eq(Cat(able)),
            self.leaving.eq(backs.valid),
            self.coming.eq(fills.valid),
            self.working.eq(backs.valid | fills.valid | backs.place_used),
        ]
        for kind, part, names in (("fill", fills, FILL_PORTS), ("back", backs, BACK_PORTS)):
            for name in names:
                outer, inner = getattr(self, f"{kind}_{name}"), getattr(part, name)
                flow = part.signature.members[name].flow
                m.d.comb += inner.eq(outer) if flow is In else outer.eq(inner)
        return m
