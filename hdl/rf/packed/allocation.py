"""Which slices are free, and who takes which (docs/schemes/corf.md, section 6)."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import location_layout, places_layout
from warpfile.hdl.rf.packed.free_bank import FreeBank
from warpfile.hdl.rf.packed.search import Search
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.packed import SLICES, PackedConfig


class Allocation(wiring.Component):
    """The free slices of all banks and the search. What is found is known in the same cycle, and taken at its end.

    Members (P: ``cfg.write_ports``)
    -------
    searching : In(P)                The result that searches, one-hot.
    size : In(4), home : In(bank_bits)   Of that result; likewise what follows of this name in
                                     :class:`hdl.rf.packed.search.Search`: paired, partner_place, partner_mask, side.
    old_places, old_masks : In(ArrayLayout)   Old places of all results.
    found : Out(1), place : Out(location_layout), mask : Out(4), missed : Out(1)   See there.
    takes : In(1)                    What is found is taken.
    freed : In(ArrayLayout)          Slices of the old places that become free.
    release_place : In(location_layout), released : In(4)   Slices that the release gives back.
    used_rows, reserved_rows : Out   Rows that are not wholly free, and rows that are reserved.
    """

    def __init__(self, cfg: PackedConfig) -> None:
        self._cfg = cfg
        self._pairs, self._sides = cfg.allocation == "pairs", cfg.allocation == "sides"
        ports, place, rows = cfg.write_ports, location_layout(cfg), index_bits(cfg.banks * cfg.rows + 1)
        members: dict[str, wiring.Member] = {
            "searching": In(ports),
            "size": In(SLICES),
            "home": In(cfg.bank_bits),
            "old_places": In(places_layout(cfg, ports)),
            **{name: In(data.ArrayLayout(SLICES, ports)) for name in ("old_masks", "freed")},
            **{name: Out(1) for name in ("found", "missed")},
            "place": Out(place),
            "mask": Out(SLICES),
            "takes": In(1),
            "release_place": In(place),
            "released": In(SLICES),
            "used_rows": Out(rows),
        }
        if self._pairs:
            members |= {"paired": In(1), "partner_place": In(place), "partner_mask": In(SLICES)}
            members["reserved_rows"] = Out(rows)
        if self._sides:
            members["side"] = In(2)
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Banks, what they say to the search, what the search says to them."""
        m = Module()
        banks = [stamp(m, f"slices{bank}", "free_bank", lambda: FreeBank(self._cfg)) for bank in range(self._cfg.banks)]
        m.submodules.search = search = Search(self._cfg)
        m.d.comb += [
            search.size.eq(self.size),
            search.home.eq(self.home),
            search.old_place.eq(self._own(self.old_places)),
            search.old_mask.eq(self._own(self.old_masks)),
            search.own_free.eq(any_of(bank.own_free for bank in banks)),
            search.own_reserved.eq(any_of(bank.own_reserved for bank in banks)),
            search.found_rows.eq(Cat(bank.found for bank in banks)),
            search.lowest.eq(Cat(bank.lowest for bank in banks)),
            search.anchors.eq(Cat(bank.anchors for bank in banks)),
            *(getattr(self, name).eq(getattr(search, name)) for name in ("found", "place", "mask")),
            self.used_rows.eq(sum(bank.used_rows for bank in banks)),
        ]
        for index, bank in enumerate(banks):
            self._change(m, index, bank, search)
        if self._pairs:
            self._partners(m, banks, search)
        if self._sides:
            m.d.comb += [search.side.eq(self.side), self.missed.eq(search.missed)]
        return m

    def _own(self, values: data.View) -> Value:
        """What belongs to the result that searches."""
        values = [Value.cast(value) for value in values]
        return any_of(value & bit.replicate(len(value)) for bit, value in zip(self.searching, values, strict=True))

    def _change(self, m: Module, index: int, bank: wiring.PureInterface, search: Search) -> None:
        """What is read, freed and taken in one bank."""
        places = [*self.old_places, self.release_place]
        masks = [*self.freed, self.released]
        here = Cat(place.bank == index for place in places)
        takes = named(m, f"takes{index}", self.takes & (search.place.bank == index))
        m.d.comb += [
            bank.rows.eq(Cat(place.row for place in places)),
            bank.freed.eq(Cat(mask & bit.replicate(SLICES) for mask, bit in zip(masks, here, strict=True))),
            bank.own.eq(self.searching & here[: len(self.searching)]),
            bank.row.eq(search.place.row),
            bank.taken.eq(search.mask & takes.replicate(SLICES)),
        ]
        if self._pairs:
            own = named(m, f"partner_here{index}", self.partner_place.bank == index)
            m.d.comb += [
                bank.reserve.eq(takes & search.reserve),
                bank.partner.eq(self.partner_place.row),
                bank.unreserve.eq(self.takes & search.unreserve & own),
            ]

    def _partners(self, m: Module, banks: list[wiring.PureInterface], search: Search) -> None:
        free = Signal(SLICES, name="partner_free")
        for index, bank in enumerate(banks):
            with m.If(self.partner_place.bank == index):
                m.d.comb += free.eq(bank.partner_free)
        same = ("paired", "partner_place", "partner_mask")
        m.d.comb += [
            *(getattr(search, name).eq(getattr(self, name)) for name in same),
            search.partner_free.eq(free),
            self.reserved_rows.eq(sum(bank.reserved_rows for bank in banks)),
        ]
