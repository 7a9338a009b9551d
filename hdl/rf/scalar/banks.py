"""All banks, each with a bank of words beside it (docs/schemes/scalar.md, section 4)."""

from dataclasses import replace

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.rf.bank import Bank
from warpfile.hdl.rf.banks import Banks
from warpfile.hdl.rf.engines import Engines
from warpfile.hdl.rf.lanes import CrossbarLane, WriteLane
from warpfile.hdl.rf.layouts import unit_inputs
from warpfile.hdl.rf.read_side import crossbar_sources, read_lanes
from warpfile.hdl.rf.scalar.bank import ScalarBank
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.scalar import ScalarConfig
from warpfile.spec.structure import WORD_BITS


class ScalarBanks(Banks):
    """Banks, and behind them scalar banks, with a crossbar of one lane for these.

    What a scalar bank reads comes beside what the banks read, to all lanes of a unit. The engine, of one client, reads
    scalar banks and writes the others; nothing else of it is built.

    Members
    -------
    As in :class:`Banks`; ``engine_read`` has the word in all lanes, and:
    result_words : In(ArrayLayout)   Per port what a scalar bank is to write.
    serves : Out(2 * banks)          Banks that serve a source slot, scalar banks last.
    """

    def __init__(self, cfg: ScalarConfig, engines: Engines) -> None:
        self._cfg = cfg
        words = data.ArrayLayout(WORD_BITS, cfg.write_ports)
        super().__init__(cfg, engines, more={"result_words": In(words), "serves": Out(2 * cfg.banks)})

    def _banks(self, m: Module) -> list[wiring.PureInterface]:
        cfg, engines = self._cfg, self._engines
        scalar = [
            stamp(m, f"scalar_bank{index}", "scalar_bank", lambda: ScalarBank(cfg, engines))
            for index in range(cfg.banks)
        ]
        banks = [*super()._banks(m), *scalar]
        m.d.comb += self.serves.eq(Cat(bank.chosen.any() for bank in banks))
        return banks

    def _bank(self) -> Bank:
        return Bank(self._cfg, tuple(replace(engine, reads=False) for engine in self._engines))

    def _write_lanes(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        """Results and the expansion to the banks; to the scalar banks a word of each result."""
        count = self._cfg.banks
        super()._write_lanes(m, banks[:count])
        lane = stamp(m, "word_write_lane", "scalar_write_lane", lambda: WriteLane(self._cfg), clocked=False)
        m.d.comb += [lane.results.eq(self.result_words), lane.accept.eq(Cat(bank.accept for bank in banks[count:]))]
        for index, bank in enumerate(banks[count:]):
            m.d.comb += bank.write_data.eq(lane.banks.word_select(index, WORD_BITS))

    def _read_lanes(self, m: Module, banks: list[wiring.PureInterface]) -> None:
        """One lane from the scalar banks to the inputs of the units and to the expansion; beside it all others."""
        count, width = self._cfg.banks, WORD_BITS * unit_inputs(self._cfg)
        sources, readers = crossbar_sources(m, self._cfg, banks[count:])
        word = stamp(
            m,
            "word_crossbar_lane",
            "scalar_crossbar_lane",
            lambda: CrossbarLane(self._cfg, readers),
            clocked=False,
        )
        m.d.comb += [
            word.sources.eq(sources),
            word.banks.eq(Cat(bank.read_data for bank in banks[count:])),
            *(lane.eq(word.inputs[width:]) for lane in self.engine_read),
        ]
        read_lanes(m, self._cfg, self, banks[:count], word.inputs[:width])
