"""The main banks with their latches, and the narrow crossbar (docs/schemes/ltrf.md, section 5)."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.naming import named
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rf.ltrf.narrow_lane import NarrowLane, Slices
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.structure import BANK_RAM


def main_times(cfg: LtrfConfig) -> str:
    """When data of a main bank are used, and how close its accesses are: comment lines of its SRAM."""
    cycles = cfg.bank_cycles
    return (
        f"// A read enabled in cycle t is used in cycle t + {cycles} only: a macro may take that long.\n"
        f"// Accesses are {cycles} or more cycles apart.\n"
    )


class MainBank(wiring.Component):
    """One main bank: its SRAM, with one row for reads and writes.

    Members
    -------
    read, write : In(1), row : In(row_bits)   Which access starts, if any, and its row.
    mask : In(lanes), write_data : In(data_bits)   Lanes that a write changes, and their words.
    read_data : Out(data_bits)   The row that was read last.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
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
        m.submodules.ram = ram = BankRam(self._cfg.common(), BANK_RAM, main_times(self._cfg))
        m.d.comb += [getattr(ram, name).eq(getattr(self, name)) for name in ("read", "write", "mask", "write_data")]
        m.d.comb += [ram.read_row.eq(self.row), ram.write_row.eq(self.row), self.read_data.eq(ram.read_data)]
        return m


class MainBanks(wiring.Component):
    """All main banks with their latches, the narrow crossbar and the staging registers.

    Members
    -------
    latches, read, write, main_rows, receivers, fill_beats, received, senders, back_beats
                                 As in :class:`hdl.rf.ltrf.transfers.Transfers`.
    port, beat : In              As in :class:`hdl.rf.ltrf.parked.ParkedResults`.
    result_masks, result_data : In(ArrayLayout)   Of the write-back ports.
    cache_data : In(ArrayLayout), staged : Out(ArrayLayout)   Lane-major: what the cache has read; staging registers.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        self._slices = Slices(cfg)
        channels, ports, mains, beats = cfg.interval_registers, cfg.write_ports, cfg.banks, cfg.crossbar_beats
        words = data.ArrayLayout(32 * channels, cfg.lanes)
        super().__init__(
            {
                "latches": In(channels),
                **{name: In(mains) for name in ("read", "write")},
                "main_rows": In(data.ArrayLayout(cfg.row_bits, mains)),
                "receivers": In(data.ArrayLayout(channels, mains)),
                "fill_beats": In(data.ArrayLayout(beats, mains)),
                "received": In(data.ArrayLayout(beats, channels)),
                "senders": In(data.ArrayLayout(channels + 1, mains)),
                "back_beats": In(data.ArrayLayout(beats, channels)),
                "port": In(ports),
                "beat": In(beats),
                "result_masks": In(data.ArrayLayout(cfg.lanes, ports)),
                "result_data": In(data.ArrayLayout(cfg.data_bits, ports)),
                "cache_data": In(words),
                "staged": Out(words),
            }
        )

    def elaborate(self, platform) -> Module:
        """Banks in index order, then the lanes of the crossbar."""
        m = Module()
        mask = named(m, "parked_mask", select(self.port, list(self.result_masks)))
        banks = []
        for number in range(self._cfg.banks):
            bank = stamp(m, f"bank{number}", "main_bank", lambda: MainBank(self._cfg))
            self._bank(m, number, bank, mask)
            banks.append(bank)
        receivers = [named(m, f"from{number}", Cat(way[number] for way in self.receivers)) for number in self._channels]
        beats = [*self.back_beats, self.beat]
        sent = [named(m, f"beat_in{number}", select(way, beats)) for number, way in enumerate(self.senders)]
        lanes = []
        for number in range(self._slices.count):
            lane = stamp(m, f"narrow_lane{number}", "narrow_lane", lambda: NarrowLane(self._cfg))
            m.d.comb += [
                lane.receivers.eq(Cat(receivers)),
                lane.received.eq(Cat(self._words(beat) for beat in self.received)),
                lane.sent.eq(Cat(self._words(beat) for beat in sent)),
            ]
            self._lane(m, number, lane, banks)
            lanes.append(lane)
        for number, bank in enumerate(banks):
            at = [divmod(lane, self._slices.count) for lane in range(self._cfg.lanes)]
            data_of = Cat(lanes[lane].latched[word].word_select(number, 32) for word, lane in at)
            m.d.comb += bank.write_data.eq(data_of)
        return m

    @property
    def _channels(self) -> range:
        return range(self._cfg.interval_registers)

    def _bank(self, m: Module, number: int, bank: wiring.PureInterface, parked: Value) -> None:
        """A bank, and the lanes that its input latch writes."""
        lanes, port = self._cfg.lanes, self.senders[number][-1]
        mask = Signal(lanes, name=f"mask{number}", reset_less=True)
        with m.If(self.senders[number].any()):
            m.d.sync += mask.eq(parked | (~port).replicate(lanes))
        m.d.comb += [
            bank.read.eq(self.read[number]),
            bank.write.eq(self.write[number]),
            bank.row.eq(self.main_rows[number]),
            bank.mask.eq(mask),
        ]

    def _words(self, beat: Value) -> Value:
        """A beat as the word that passes in a narrow lane."""
        slices = self._slices
        return Cat(beat[slices.beat(slices.lane(0, word))] for word in range(slices.lanes))

    def _lane(self, m: Module, number: int, lane: wiring.PureInterface, banks: list[wiring.PureInterface]) -> None:
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
            lane.fill_beats.eq(Cat(self._words(beat) for beat in self.fill_beats)),
            lane.senders.eq(self.senders),
            lane.back_beats.eq(Cat(self._words(beat) for beat in self.back_beats)),
            lane.port.eq(self.port),
            lane.port_beat.eq(self._words(self.beat)),
        ]
