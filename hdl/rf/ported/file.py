"""Two banks by the parity of a register's number, without arbiter (docs/schemes/modern.md, section 10)."""

from amaranth import Cat, Module
from amaranth.lib import wiring

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.completion import complete
from warpfile.hdl.rf.contract import file_members
from warpfile.hdl.rf.lanes import WriteLane
from warpfile.hdl.rf.location import Location
from warpfile.hdl.rf.ported.bank import PlannedBank
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.ported import BANKS, PortedConfig


class PortedFile(wiring.Component):
    """Banks that grant every read, because the reader has planned it; slot p of unit b is read port p of bank b.

    Ports: :func:`file_members`. Bases are even, so the bank of register r is r mod 2. Results go to their banks at
    once, lower write-back ports before higher ones. It takes every launch and holds no warp.
    """

    def __init__(self, cfg: PortedConfig) -> None:
        self._cfg = cfg
        super().__init__(file_members(cfg))

    def elaborate(self, platform) -> Module:
        """Rows of registers, then the banks."""
        m = Module()
        m.submodules.location = location = Location(self._cfg)
        m.d.comb += [
            self.launch_ready.eq(1),
            location.launch_valid.eq(self.launch_valid),
            location.launch.eq(self.launch),
            location.warp.eq(self.offer_warp),
            location.sources.eq(self.offer.sources),
            self.source_places.eq(location.source_places),
            location.result_warps.eq(Cat(result.warp for result in self.results)),
            location.result_registers.eq(Cat(result.register for result in self.results)),
        ]
        banks = [stamp(m, f"bank{number}", "register_bank", lambda: PlannedBank(self._cfg)) for number in range(BANKS)]
        self._read(m, banks)
        self._write(m, banks, Cat(place.row for place in location.result_places))
        complete(m, self._cfg, self, 1)
        if self._cfg.has_places:
            m.d.comb += self.released.eq(self.release)
        return m

    def _read(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        ports = self._cfg.read_ports
        m.d.comb += [self.grant.eq(self.requests), *(cycles.eq(1) for cycles in self.cycles)]
        m.d.comb += self.fill.eq(Cat(bank.fill for bank in banks))
        for number, bank in enumerate(banks):
            first = number * ports
            m.d.comb += bank.reads.eq(self.requests.word_select(number, ports))
            for port in range(ports):
                m.d.comb += bank.read_rows[port].eq(self.request_places[first + port].row)
        for lane, words in enumerate(self.fill_data):
            m.d.comb += words.eq(Cat(word.word_select(lane, 32) for bank in banks for word in bank.read_data))

    def _write(self, m: Module, banks: list[wiring.PureInterface], rows) -> None:
        ports = range(self._cfg.write_ports)
        lanes = [
            stamp(m, f"write_lane{lane}", "write_lane", lambda: WriteLane(self._cfg), clocked=False)
            for lane in range(self._cfg.lanes)
        ]
        for number, bank in enumerate(banks):
            m.d.comb += [
                bank.writes.eq(self.result_store & Cat(one.register[0] == number for one in self.results)),
                bank.write_rows.eq(rows),
                bank.masks.eq(Cat(one.mask for one in self.results)),
                bank.write_data.eq(Cat(lane.banks.word_select(number, 32) for lane in lanes)),
            ]
        for number, lane in enumerate(lanes):
            m.d.comb += [
                lane.accept.eq(Cat(bank.accept for bank in banks)),
                lane.results.eq(Cat(self.result_data[port].word_select(number, 32) for port in ports)),
            ]
        m.d.comb += self.result_accept.eq(any_of(bank.accept for bank in banks))
