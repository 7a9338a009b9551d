"""Which slices are free, and which port takes which (docs/schemes/corf.md, section 6)."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.hdl.rf.packed.free_bank import FreeBank
from warpfile.hdl.rf.packed.search import Search
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.packed import PackedConfig


class Allocation(wiring.Component):
    """The free slices of all banks, and what each port would find if it were the one that searches.

    One searches per cycle, but who does is known late, so every port looks. What is found is known in the same cycle,
    and taken at its end.

    Members, all of the results in W0 and by port (P: ``cfg.write_ports``)
    -------
    sizes : In(ArrayLayout), homes : In(ArrayLayout)   Bytes, one-hot, and the bank that comes first.
    old_places, old_masks : In(ArrayLayout)   What they have.
    with_partner : In(P), partner_places, partner_masks : In(ArrayLayout)   They have a partner, and where that is; only
                                     with ``pairs``.
    sides : In(ArrayLayout)          Sides of their registers; only with ``sides``.
    found : Out(P), places, masks : Out(ArrayLayout)   What each would find.
    searching : In(P), takes : In(1)   One-hot or none: the one that searches; it takes what it would find.
    freed : In(ArrayLayout)          Slices of the old places that become free.
    release_place : In(location_layout), release_mask : In(4)   Slices that the release gives back.
    used_rows, reserved_rows : Out   Rows that are not wholly free, and rows that are reserved.
    """

    def __init__(self, cfg: PackedConfig) -> None:
        self._cfg = cfg
        self._pairs = cfg.allocation == "pairs"
        ports, rows = cfg.write_ports, index_bits(cfg.banks * cfg.rows + 1)
        places, masks = places_layout(cfg, ports), data.ArrayLayout(SLICES, ports)
        members: dict[str, wiring.Member] = {
            **{name: In(masks) for name in ("sizes", "old_masks", "freed")},
            "homes": In(data.ArrayLayout(cfg.bank_bits, ports)),
            "old_places": In(places),
            "found": Out(ports),
            "places": Out(places),
            "masks": Out(masks),
            "searching": In(ports),
            "takes": In(1),
            "release_place": In(location_layout(cfg)),
            "release_mask": In(SLICES),
            "used_rows": Out(rows),
        }
        if self._pairs:
            members |= {"with_partner": In(ports), "partner_places": In(places), "partner_masks": In(masks)}
            members["reserved_rows"] = Out(rows)
        if cfg.allocation == "sides":
            members["sides"] = In(data.ArrayLayout(2, ports))
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Banks, what they say to the searches, what these say to them."""
        m = Module()
        banks = [stamp(m, f"slices{bank}", "free_bank", lambda: FreeBank(self._cfg)) for bank in range(self._cfg.banks)]
        searches = [self._search(m, port, banks) for port in range(self._cfg.write_ports)]
        m.d.comb += [
            self.found.eq(Cat(search.found for search in searches)),
            self.places.eq(Cat(search.place for search in searches)),
            self.masks.eq(Cat(search.mask for search in searches)),
            self.used_rows.eq(sum(bank.used_rows for bank in banks)),
        ]
        taken = named(m, "taken", select(self.searching, [Cat(search.place, search.mask) for search in searches]))
        takes = [self._change(m, index, bank, taken) for index, bank in enumerate(banks)]
        if self._pairs:
            self._reserve(m, banks, searches, takes)
        return m

    def _search(self, m: Module, port: int, banks: list[wiring.PureInterface]) -> wiring.PureInterface:
        """What one port would find."""
        search = stamp(m, f"search{port}", "search", lambda: Search(self._cfg), clocked=False)
        place = self.old_places[port]
        m.d.comb += [
            search.size.eq(self.sizes[port]),
            search.home.eq(self.homes[port]),
            search.old_place.eq(place),
            search.old_mask.eq(self.old_masks[port]),
            search.own_free.eq(_of_bank(place, [bank.own_free[port] for bank in banks])),
            search.found_rows.eq(Cat(bank.found for bank in banks)),
            search.lowest.eq(Cat(bank.lowest for bank in banks)),
            search.anchors.eq(Cat(bank.anchors for bank in banks)),
        ]
        if self._pairs:
            partner = self.partner_places[port]
            m.d.comb += [
                search.paired.eq(self.with_partner[port]),
                search.partner_place.eq(partner),
                search.partner_mask.eq(self.partner_masks[port]),
                search.partner_free.eq(_of_bank(partner, [bank.partner_free[port] for bank in banks])),
            ]
        if self._cfg.allocation == "sides":
            m.d.comb += search.side.eq(self.sides[port])
        return search

    def _change(self, m: Module, index: int, bank: wiring.PureInterface, taken: Value) -> Value:
        """What is freed and taken in one bank; ``taken``: bank, row and slices. Returns whether some are taken."""
        places = [*self.old_places, self.release_place]
        here = [place.bank == index for place in places]
        freed = [mask & bit.replicate(SLICES) for mask, bit in zip((*self.freed, self.release_mask), here, strict=True)]
        bits = self._cfg.bank_bits
        takes = named(m, f"takes{index}", self.takes & (taken[:bits] == index))
        m.d.comb += [
            bank.rows.eq(Cat(place.row for place in places)),
            bank.freed.eq(Cat(freed)),
            bank.row.eq(taken[bits:-SLICES]),
            bank.taken.eq(taken[-SLICES:] & takes.replicate(SLICES)),
        ]
        return takes

    def _reserve(
        self,
        m: Module,
        banks: list[wiring.PureInterface],
        searches: list[wiring.PureInterface],
        takes: list[Value],
    ) -> None:
        """Which row is kept for a partner from now on, and which is not any more."""
        makes = named(m, "makes", (self.searching & Cat(search.reserve for search in searches)).any())
        ends = self.searching & Cat(search.unreserve for search in searches)
        ends = named(m, "ends", ends & self.takes.replicate(len(ends)))
        for index, bank in enumerate(banks):
            here = Cat(place.bank == index for place in self.partner_places)
            m.d.comb += [
                bank.reserve.eq(makes & takes[index]),
                bank.partners.eq(Cat(place.row for place in self.partner_places)),
                bank.unreserve.eq(ends & here),
            ]
        m.d.comb += self.reserved_rows.eq(sum(bank.reserved_rows for bank in banks))


def _of_bank(place: data.View, values: list[Value]) -> Value:
    """What the bank of a place says."""
    return any_of(value & (place.bank == bank).replicate(len(value)) for bank, value in enumerate(values))
