"""The main banks and the narrow crossbar in front of them (docs/schemes/ltrf.md, section 5)."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.ltrf.narrow_lane import NarrowLane, Slices
from warpfile.hdl.rf.ram import BankRam
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.structure import BANK_RAM


def main_times(cfg: LtrfConfig) -> str:
    """When data of a main bank are used, and how close its accesses are: comment lines of its SRAM."""
    cycles, beats = cfg.bank_cycles, cfg.crossbar_beats
    return (
        f"// A read enabled in cycle t is used from t + {cycles} to t + {cycles + beats - 1}; no access comes before.\n"
        f"// A row is written in {beats} cycles one after the other, other lanes in each, or in some of them;\n"
        f"// {cycles} cycles without an access follow.\n"
    )


class MainBank(wiring.Component):
    """One main bank: its SRAM, with one row for reads and writes. ``times``: its comment lines on when data are used.

    Members
    -------
    read, write : In(1), row : In(row_bits)   Which access starts, if any, and its row.
    mask : In(lanes), write_data : In(data_bits)   Lanes that a write changes, and their words.
    read_data : Out(data_bits)   The row that was read last.
    """

    def __init__(self, cfg: LtrfConfig, times: str) -> None:
        self._cfg = cfg
        self._times = times
        super().__init__(
            {
                "read": In(1),
                "write": In(1),
                "row": In(cfg.row_bits),
                "mask": In(cfg.lanes),
                "write_data": In(cfg.data_bits),
                "read_data": Out(cfg.data_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """The SRAM."""
        m = Module()
        m.submodules.ram = ram = BankRam(self._cfg.common(), BANK_RAM, self._times)
        m.d.comb += [getattr(ram, name).eq(getattr(self, name)) for name in ("read", "write", "mask", "write_data")]
        m.d.comb += [ram.read_row.eq(self.row), ram.write_row.eq(self.row), self.read_data.eq(ram.read_data)]
        return m


class MainBanks(wiring.Component):
    """All main banks, the narrow crossbar and the staging registers. Channels and the parked result say what to do.

    Members
    -------
    fills, latches, main_read, beats, mains, main_rows   As in :class:`hdl.rf.ltrf.transfers.Transfers`.
    port, beat, main_used, row   As in :class:`hdl.rf.ltrf.parked.ParkedResults`.
    result_masks, result_data : In(ArrayLayout)   Of the write-back ports.
    cache_data : In(ArrayLayout), staged : Out(ArrayLayout)   Lane-major: what the cache has read; staging registers.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        self._slices = Slices(cfg)
        channels, ports = cfg.interval_registers, cfg.write_ports
        words = data.ArrayLayout(32 * channels, cfg.lanes)
        super().__init__(
            {
                **{name: In(channels) for name in ("fills", "latches", "main_read")},
                "beats": In(data.ArrayLayout(cfg.crossbar_beats, channels)),
                "mains": In(data.ArrayLayout(cfg.banks, channels)),
                "main_rows": In(data.ArrayLayout(cfg.row_bits, channels)),
                "port": In(ports),
                "beat": In(cfg.crossbar_beats),
                "main_used": In(cfg.banks),
                "row": In(cfg.row_bits),
                "result_masks": In(data.ArrayLayout(cfg.lanes, ports)),
                "result_data": In(data.ArrayLayout(cfg.data_bits, ports)),
                "cache_data": In(words),
                "staged": Out(words),
            }
        )

    def elaborate(self, platform) -> Module:
        """Banks in index order, then the lanes of the crossbar."""
        m = Module()
        self._mask = named(m, "parked_mask", select(self.port, list(self.result_masks)))
        self._main_beats, self._saves, banks = [], [], []
        for number in range(self._cfg.banks):
            bank = stamp(m, f"bank{number}", "main_bank", lambda: MainBank(self._cfg, main_times(self._cfg)))
            self._bank(m, number, bank)
            banks.append(bank)
        self._fills = [
            named(m, f"filled{number}", main & (fills & beat.any()).replicate(self._cfg.banks))
            for number, (main, fills, beat) in enumerate(zip(self.mains, self.fills, self.beats, strict=True))
        ]
        lanes = [self._lane(m, number, banks) for number in range(self._slices.count)]
        for number, bank in enumerate(banks):
            # Every word of a narrow lane goes to all lanes that pass through it; the mask says which takes it.
            words = [lane.written[number] for lane in lanes] * self._slices.lanes
            m.d.comb += bank.write_data.eq(Cat(words))
        return m

    def _bank(self, m: Module, number: int, bank: wiring.PureInterface) -> None:
        """Who uses a bank, and what for."""
        users = named(m, f"users{number}", Cat(main[number] for main in self.mains))
        parked = self.main_used[number]
        saves = named(m, f"saves{number}", Cat(users & ~self.fills, parked))
        everybody = (*users, parked)
        beat = named(m, f"beat{number}", select(everybody, [*self.beats, self.beat]))
        rest = self._cfg.lanes // self._slices.lanes
        assert rest == self._slices.count
        masked = self._mask | (~parked).replicate(self._cfg.lanes)
        passing = Cat(beat[self._slices.beat(lane)] for lane in range(self._cfg.lanes))
        m.d.comb += [
            bank.read.eq((users & self.main_read).any()),
            bank.write.eq(saves.any() & beat.any()),
            bank.row.eq(select(everybody, [*self.main_rows, self.row])),
            bank.mask.eq(passing & masked),
        ]
        self._main_beats.append(self._words(beat))
        self._saves.append(saves)

    def _words(self, beat: Value) -> Value:
        """A beat as the word that passes in a narrow lane."""
        slices = self._slices
        return Cat(beat[slices.beat(slices.lane(0, word))] for word in range(slices.lanes))

    def _lane(self, m: Module, number: int, banks: list[wiring.PureInterface]) -> wiring.PureInterface:
        lane = stamp(m, f"narrow_lane{number}", "narrow_lane", lambda: NarrowLane(self._cfg))
        for word in range(self._slices.lanes):
            at = self._slices.lane(number, word)
            m.d.comb += [
                lane.mains[word].eq(Cat(bank.read_data.word_select(at, 32) for bank in banks)),
                lane.cached[word].eq(self.cache_data[at]),
                lane.results[word].eq(Cat(result.word_select(at, 32) for result in self.result_data)),
                self.staged[at].eq(lane.staged[word]),
            ]
        m.d.comb += [
            lane.latches.eq(self.latches),
            lane.beats.eq(Cat(self._words(beat) for beat in self.beats)),
            lane.fills.eq(Cat(self._fills)),
            lane.main_beats.eq(Cat(self._main_beats)),
            lane.saves.eq(Cat(self._saves)),
            lane.port.eq(self.port),
            lane.port_beat.eq(self._words(self.beat)),
        ]
        return lane
