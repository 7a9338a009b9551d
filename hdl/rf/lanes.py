"""One lane of the ways between banks, collector units and write-back ports."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from hdl.arbiter import select
from spec.config import Config


def unit_inputs(cfg: Config) -> int:
    """Crossbar outputs: one per collector unit, or one per source slot where all may be filled in one cycle."""
    return cfg.collectors * (cfg.source_slots if cfg.collect == "all" else 1)


class CrossbarLane(wiring.Component):
    """One lane of the way from the banks to the inputs of the collector units.

    Members
    -------
    banks : In(32 * banks)             Read data of each bank.
    sources : In(inputs * banks)       Per input, the bank it takes, one-hot; bit ``input * banks + bank``.
    inputs : Out(32 * inputs)          Zero where no bank is taken.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        count = unit_inputs(cfg)
        super().__init__({"banks": In(32 * cfg.banks), "sources": In(count * cfg.banks), "inputs": Out(32 * count)})

    def elaborate(self, platform) -> Module:
        """AND-OR per input."""
        m = Module()
        banks = [self.banks.word_select(bank, 32) for bank in range(self._cfg.banks)]
        for index in range(unit_inputs(self._cfg)):
            chosen = self.sources.word_select(index, self._cfg.banks)
            m.d.comb += self.inputs.word_select(index, 32).eq(select(chosen, banks))
        return m


class WriteLane(wiring.Component):
    """One lane of the way from the write-back ports to the banks.

    Members
    -------
    results : In(32 * ports), accept : In(banks * ports)   Bit ``bank * ports + port``.
    banks : Out(32 * banks)
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(
            {"results": In(32 * cfg.ports), "accept": In(cfg.banks * cfg.ports), "banks": Out(32 * cfg.banks)}
        )

    def elaborate(self, platform) -> Module:
        """AND-OR per bank; a single port needs no choice."""
        m = Module()
        ports = [self.results.word_select(port, 32) for port in range(self._cfg.ports)]
        for bank in range(self._cfg.banks):
            accept = self.accept.word_select(bank, self._cfg.ports)
            value = select(accept, ports) if self._cfg.ports > 1 else ports[0]
            m.d.comb += self.banks.word_select(bank, 32).eq(value)
        return m
