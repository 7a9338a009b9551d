"""Banked register file: the banks and the ways of the data to collector units and from write-back ports."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.bank import Bank
from warpfile.hdl.rf.lanes import CrossbarLane, WriteLane, unit_inputs
from warpfile.hdl.rf.location import location_layout
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import Config


class BankedRegisterFile(wiring.Component):
    """All banks with their crossbars.

    ``clients`` write whole registers besides the write-back ports (:class:`Bank`).

    Members
    -------
    result_valid : In(ports)           A result with a register.
    result_places : In(ArrayLayout), result_masks : In(ArrayLayout), result_data : In(ArrayLayout)   Per port.
    accept : Out(ports)                In the same cycle.
    offers : In(clients), offer_places : In(ArrayLayout), taken : Out(clients)   Only with clients, as the next.
    offer_data : In(ArrayLayout)       Lane-major: lane, then client.
    requests : In(collectors * slots), places : In(ArrayLayout)    Location of every asking slot.
    older : In(collectors ** 2)
    grant, fill : Out(collectors * slots)
    fill_data : Out(data_bits * unit_inputs(cfg))   Lane-major: lane, then input.
    """

    def __init__(self, cfg: Config, clients: int = 0) -> None:
        self._cfg = cfg
        self._clients = clients
        slots = cfg.collectors * cfg.source_slots
        place = location_layout(cfg)
        members = {
            "result_valid": In(cfg.ports),
            "result_places": In(data.ArrayLayout(place, cfg.ports)),
            "result_masks": In(data.ArrayLayout(cfg.lanes, cfg.ports)),
            "result_data": In(data.ArrayLayout(cfg.data_bits, cfg.ports)),
            "accept": Out(cfg.ports),
            "requests": In(slots),
            "places": In(data.ArrayLayout(place, slots)),
            "older": In(cfg.collectors**2),
            "grant": Out(slots),
            "fill": Out(slots),
            "fill_data": Out(data.ArrayLayout(32 * unit_inputs(cfg), cfg.lanes)),
        }
        if clients:
            members |= {
                "offers": In(clients),
                "offer_places": In(data.ArrayLayout(place, clients)),
                "offer_data": In(data.ArrayLayout(32 * clients, cfg.lanes)),
                "taken": Out(clients),
            }
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Banks in index order, then the lanes of both crossbars."""
        m = Module()
        banks = []
        passed_over = Const(0, self._cfg.collectors)
        for index in range(self._cfg.banks):
            bank = stamp(m, f"bank{index}", "register_bank", lambda: Bank(self._cfg, self._clients))
            self._connect(m, index, bank, passed_over)
            if self._cfg.collect == "one":
                passed_over = passed_over | bank.chosen
            banks.append(bank)
        m.d.comb += [
            self.accept.eq(any_of(bank.accept for bank in banks)),
            self.grant.eq(any_of(bank.grant for bank in banks)),
            self.fill.eq(any_of(bank.fill for bank in banks)),
        ]
        if self._clients:
            m.d.comb += self.taken.eq(any_of(bank.taken for bank in banks))
        self._write_lanes(m, banks)
        self._read_lanes(m, banks)
        return m

    def _connect(self, m: Module, index: int, bank: wiring.PureInterface, passed_over: Value) -> None:
        ports, slots = range(self._cfg.ports), range(len(self.requests))
        here = Cat(self.result_places[port].bank == index for port in ports)
        asked = Cat(self.places[slot].bank == index for slot in slots)
        m.d.comb += [
            bank.writes.eq(self.result_valid & here),
            bank.write_rows.eq(Cat(self.result_places[port].row for port in ports)),
            bank.masks.eq(self.result_masks.as_value()),
            bank.requests.eq(self.requests & asked),
            bank.passed_over.eq(passed_over),
            bank.older.eq(self.older),
            bank.rows.eq(Cat(self.places[slot].row for slot in slots)),
        ]
        if self._clients:
            offers = [self.offer_places[client] for client in range(self._clients)]
            m.d.comb += [
                bank.offers.eq(self.offers & Cat(place.bank == index for place in offers)),
                bank.offer_rows.eq(Cat(place.row for place in offers)),
            ]

    def _write_lanes(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        accept = Cat(bank.accept for bank in banks)
        taken = Cat(bank.taken for bank in banks) if self._clients else None
        lanes = [stamp(m, f"write_lane{lane}", "write_lane", self._write_lane, clocked=False) for lane in self._lanes]
        for number, lane in enumerate(lanes):
            m.d.comb += [
                lane.accept.eq(accept),
                lane.results.eq(Cat(self.result_data[port].word_select(number, 32) for port in range(self._cfg.ports))),
            ]
            if self._clients:
                m.d.comb += [lane.others.eq(self.offer_data[number]), lane.taken.eq(taken)]
        for index, bank in enumerate(banks):
            m.d.comb += bank.write_data.eq(Cat(lane.banks.word_select(index, 32) for lane in lanes))

    def _read_lanes(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        width = len(self.fill) // unit_inputs(self._cfg)
        sources = Signal(unit_inputs(self._cfg) * self._cfg.banks)
        taken = [bank.fill.word_select(index, width).any() for index in range(unit_inputs(self._cfg)) for bank in banks]
        m.d.comb += sources.eq(Cat(*taken))
        for number in self._lanes:
            lane = stamp(m, f"crossbar_lane{number}", "crossbar_lane", lambda: CrossbarLane(self._cfg), clocked=False)
            m.d.comb += [
                lane.sources.eq(sources),
                lane.banks.eq(Cat(bank.read_data.word_select(number, 32) for bank in banks)),
                self.fill_data[number].eq(lane.inputs),
            ]

    @property
    def _lanes(self) -> range:
        return range(self._cfg.lanes)

    def _write_lane(self) -> WriteLane:
        return WriteLane(self._cfg, self._clients)
