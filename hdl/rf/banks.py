"""All banks of a register file that results are written to at once, with their crossbars."""

from amaranth import Cat, Const, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.rf.arrivals import apart, meets, overtakes
from warpfile.hdl.rf.bank import Bank
from warpfile.hdl.rf.contract import Members, engine_members
from warpfile.hdl.rf.engines import Engines, writers
from warpfile.hdl.rf.lanes import WriteLane
from warpfile.hdl.rf.layouts import is_in, lengths_layout, places_layout
from warpfile.hdl.rf.read_side import connect_reads, read_lanes, read_members
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import Config
from warpfile.spec.contract import client_count


class Banks(wiring.Component):
    """All banks with their crossbars, and with ``engines`` beside results and reads (:class:`Bank`).

    With ``gives.absent`` no bank sees what is to be written to an absent place, which is accepted at once. ``shares``:
    results may go elsewhere, too, and are accepted by all or none.

    Members
    -------
    result_valid : In(ports)           A result that a bank has to take.
    result_places : In(ArrayLayout), result_masks : In(ArrayLayout), result_data : In(ArrayLayout)   Per port.
    result_may : In(ports)             Results that all else takes to which they go; only with ``shares``.
    accept : Out(ports)                In the same cycle.
    lengths, result_lengths, engine_lengths : In(ArrayLayout)   Cycles that an access takes, of each slot, port, client;
        only if they differ (``varying``), otherwise all take ``bank_cycles``.
    See also :func:`read_members` and :func:`engine_members`; ``more``: ports of a kind of banks.
    """

    def __init__(
        self,
        cfg: Config,
        engines: Engines = (),
        varying: bool = False,
        *,
        shares: bool = False,
        more: Members | None = None,
    ) -> None:
        self._cfg = cfg
        self._engines = engines
        self._varying = varying
        self._shares = shares
        self._clients = client_count(engines)
        counts = {"lengths": cfg.asks.units * cfg.asks.slots, "result_lengths": cfg.write_ports}
        counts |= {"engine_lengths": self._clients} if self._clients else {}
        super().__init__(
            {
                "result_valid": In(cfg.write_ports),
                "result_places": In(places_layout(cfg, cfg.write_ports)),
                "result_masks": In(data.ArrayLayout(cfg.lanes, cfg.write_ports)),
                "result_data": In(data.ArrayLayout(cfg.data_bits, cfg.write_ports)),
                "accept": Out(cfg.write_ports),
                **read_members(cfg),
                **engine_members(cfg, engines),
                **({name: In(lengths_layout(cfg, count)) for name, count in counts.items()} if varying else {}),
                **({"result_may": In(cfg.write_ports)} if shares else {}),
                **(more or {}),
            }
        )

    def elaborate(self, platform) -> Module:
        """Banks in index order, then the lanes of both crossbars."""
        m = Module()
        self._lose(m)
        banks = self._banks(m)
        for index, bank in enumerate(banks):
            self._connect(m, index, bank)
        m.d.comb += self.accept.eq(any_of((*(bank.accept for bank in banks), *self._lost)))
        if self._clients:
            m.d.comb += self.engine_grant.eq(any_of((*(bank.taken for bank in banks), *self._engines_lost)))
        if client_count(self._engines, "reads"):
            m.d.comb += self.engine_fill.eq(any_of(bank.engine_fill for bank in banks if hasattr(bank, "engine_fill")))
        connect_reads(m, self._cfg, self, banks, self._asking(m, banks))
        self._write_lanes(m, banks)
        self._read_lanes(m, banks)
        return m

    def _banks(self, m: Module) -> list[wiring.PureInterface]:
        return [stamp(m, f"bank{index}", "register_bank", self._bank) for index in range(self._cfg.banks)]

    def _read_lanes(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        read_lanes(m, self._cfg, self, banks)

    def _asking(self, m: Module, banks: list[wiring.PureInterface]) -> list[Value]:
        """Slots whose requests count, for each bank."""
        if not self._varying:
            return [self.requests] * len(banks)
        lengths = list(self.lengths)
        asking = apart(m, self._cfg, self.requests, lengths, self.grant)
        if not overtakes(self._cfg):
            return [asking] * len(banks)
        return [asking & ~Cat(meets(bank.leaving, length) for length in lengths) for bank in banks]

    def _lose(self, m: Module) -> None:
        """What asks the banks, and what is lost because it is written nowhere; nothing where every place is one."""
        self._results: Value = self.result_valid
        self._lost: list[Value] = []
        self._offers: Value = self.engine_valid if self._clients else Const(0)
        self._engines_lost: list[Value] = []
        if self._cfg.gives.absent:
            lost = named(m, "lost", self.result_valid & Cat(place.absent for place in self.result_places))
            self._results, self._lost = self.result_valid & ~lost, [lost]
            if self._clients:
                writes = writers(self._engines, self.engine_valid, getattr(self, "engine_write", None))
                lost = named(m, "engines_lost", writes & Cat(place.absent for place in self.engine_places))
                self._offers, self._engines_lost = self.engine_valid & ~lost, [lost]

    def _connect(self, m: Module, index: int, bank: wiring.PureInterface) -> None:
        places = [self.result_places[port] for port in range(self._cfg.write_ports)]
        m.d.comb += [
            bank.writes.eq(self._results & Cat(is_in(self._cfg, place, index) for place in places)),
            bank.write_rows.eq(Cat(place.row for place in places)),
        ]
        if hasattr(bank, "masks"):
            m.d.comb += bank.masks.eq(self.result_masks.as_value())
        if self._clients:
            offers = list(self.engine_places)
            m.d.comb += [
                bank.offers.eq(self._offers & Cat(is_in(self._cfg, place, index) for place in offers)),
                bank.offer_rows.eq(Cat(place.row for place in offers)),
            ]
        if client_count(self._engines, "masked"):
            m.d.comb += bank.offer_masks.eq(self.engine_masks)
        if hasattr(bank, "offer_writes"):
            m.d.comb += bank.offer_writes.eq(self.engine_write)
        if self._shares:
            m.d.comb += bank.may.eq(self.result_may)
        if self._varying:
            m.d.comb += [bank.lengths.eq(self.lengths), bank.write_lengths.eq(self.result_lengths)]
            if self._clients:
                m.d.comb += bank.offer_lengths.eq(self.engine_lengths)

    def _write_lanes(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        accept, ports = Cat(bank.accept for bank in banks), range(self._cfg.write_ports)
        writes = self.engine_write if client_count(self._engines, "reads") else None
        taken = Cat(writers(self._engines, bank.taken, writes) for bank in banks) if self._clients else None
        lanes = [
            stamp(m, f"write_lane{lane}", "write_lane", self._write_lane, clocked=False)
            for lane in range(self._cfg.lanes)
        ]
        for number, lane in enumerate(lanes):
            m.d.comb += [
                lane.accept.eq(accept),
                lane.results.eq(Cat(self.result_data[port].word_select(number, 32) for port in ports)),
            ]
            if self._clients:
                m.d.comb += [lane.others.eq(self.engine_data[number]), lane.taken.eq(taken)]
        for index, bank in enumerate(banks):
            m.d.comb += bank.write_data.eq(Cat(lane.banks.word_select(index, 32) for lane in lanes))

    def _bank(self) -> Bank:
        return Bank(self._cfg, self._engines, self._varying, shares=self._shares)

    def _write_lane(self) -> WriteLane:
        return WriteLane(self._cfg, self._clients)
