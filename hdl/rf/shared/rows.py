"""The rows of all banks: who has them, and which is free (docs/schemes/larf.md, section 6)."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, encode, lowest_one, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.hdl.rf.shared.counts import SOURCES, RowCounts
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.shared import SharedConfig


class Rows(wiring.Component):
    """Counts of all banks, and a fresh row for every home bank.

    Members (P: ``cfg.write_ports``)
    -------
    owner_places : In(ArrayLayout), single : Out(P + 2), marked : Out(P)   Places of owners: no other register has
                                 them; entries may name them.
    source_places : In(ArrayLayout)   Places of which an access may be made, the only one of a perfect hit first.
    ready : Out(3)               Of the highest port's place, then of those: they are filled.
    most : Out(1)                No more registers can have the first one.
    take : In(1), take_place : In   Place that some register has alone from now on.
    enter : In(1)                It is named by an entry from now on, and not filled.
    gain : In(1)                 The first of the source places has a register more.
    drop, unmark : In(1), drop_place : In   Place that loses a register; no entry names it any more.
    fill : In(2), fill_places : In(ArrayLayout)   Places that are filled.
    found : Out(1), fresh : Out(ArrayLayout)   Some row is free; by home bank the first one from there on.
    used, shared : Out           Rows that some register has, and that several have.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        ports, place = cfg.write_ports, location_layout(cfg)
        rows = index_bits(cfg.banks * cfg.rows + 1)
        super().__init__(
            {
                "owner_places": In(places_layout(cfg, ports + 2)),
                "single": Out(ports + 2),
                "marked": Out(ports),
                "source_places": In(places_layout(cfg, SOURCES)),
                "ready": Out(1 + SOURCES),
                "most": Out(1),
                **{name: In(1) for name in ("take", "enter", "gain", "drop", "unmark")},
                **{name: In(place) for name in ("take_place", "drop_place")},
                "fill": In(2),
                "fill_places": In(places_layout(cfg, 2)),
                "found": Out(1),
                "fresh": Out(data.ArrayLayout(place, cfg.banks)),
                **{name: Out(rows) for name in ("used", "shared")},
            }
        )

    def elaborate(self, platform) -> Module:
        """Banks, the state of rows in them, the first free row from every bank on."""
        m = Module()
        cfg, ports = self._cfg, self._cfg.write_ports
        banks = [stamp(m, f"counts{bank}", "row_counts", lambda: RowCounts(cfg)) for bank in range(cfg.banks)]
        owners, sources = ([self._at(place) for place in places] for places in (self.owner_places, self.source_places))
        for index, bank in enumerate(banks):
            self._change(m, index, bank)
        m.d.comb += [
            self.single.eq(any_of(bank.single & Cat(at[n] for at in owners) for n, bank in enumerate(banks))),
            self.marked.eq(any_of(bank.marked & Cat(at[n] for at in owners[:ports]) for n, bank in enumerate(banks))),
            self.ready.eq(
                any_of(bank.ready & Cat(at[n] for at in (owners[ports - 1], *sources)) for n, bank in enumerate(banks))
            ),
            self.most.eq(any_of(bank.most & sources[0][n] for n, bank in enumerate(banks))),
            self.used.eq(sum(bank.used for bank in banks)),
            self.shared.eq(sum(bank.shared for bank in banks)),
        ]
        self._search(m, banks)
        return m

    def _at(self, place: data.View) -> list[Value]:
        """Whether a place is in each of the banks."""
        return [place.bank == bank for bank in range(self._cfg.banks)]

    def _change(self, m: Module, index: int, bank: wiring.PureInterface) -> None:
        take, drop = self.take_place.bank == index, self.drop_place.bank == index
        m.d.comb += [
            bank.owner_rows.eq(Cat(place.row for place in self.owner_places)),
            bank.source_rows.eq(Cat(place.row for place in self.source_places)),
            bank.take.eq(self.take & take),
            bank.enter.eq(self.enter & take),
            bank.take_row.eq(self.take_place.row),
            bank.gain.eq(self.gain & (self.source_places[0].bank == index)),
            bank.drop.eq(self.drop & drop),
            bank.unmark.eq(self.unmark & drop),
            bank.drop_row.eq(self.drop_place.row),
            bank.fill.eq(self.fill & Cat(place.bank == index for place in self.fill_places)),
            bank.fill_rows.eq(Cat(place.row for place in self.fill_places)),
        ]

    def _search(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        """Registered state alone decides, so all home banks have their answer before the request is known."""
        some = named(m, "some", Cat(bank.found for bank in banks))
        m.d.comb += self.found.eq(some.any())
        for home, fresh in enumerate(self.fresh):
            first = named(m, f"first{home}", lowest_one(some.rotate_right(home)).rotate_left(home))
            row = select(first, [bank.lowest for bank in banks])
            m.d.comb += fresh.eq(Cat(encode(first, self._cfg.bank_bits), row))
