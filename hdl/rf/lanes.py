"""One lane of the ways between banks, collector units and write-back ports."""

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.rf.layouts import unit_inputs
from warpfile.spec.config import Config


class CrossbarLane(wiring.Component):
    """One lane of the way from the banks to the inputs of the units, and to further ``readers`` behind them.

    Members
    -------
    banks : In(32 * banks)             Read data of each bank.
    sources : In(inputs * banks)       Per input, the bank it takes, one-hot; bit ``input * banks + bank``.
    inputs : Out(32 * inputs)          Zero where no bank is taken.
    beside : In(32 * inputs)           What comes to an input from elsewhere, zero where nothing does; only with
                                       ``beside``.
    """

    def __init__(self, cfg: Config, readers: int = 0, *, beside: bool = False) -> None:
        self._cfg, self._inputs, self._beside = cfg, unit_inputs(cfg) + readers, beside
        count = self._inputs
        members = {"banks": In(32 * cfg.banks), "sources": In(count * cfg.banks), "inputs": Out(32 * count)}
        super().__init__(members | ({"beside": In(32 * count)} if beside else {}))

    def elaborate(self, platform) -> Module:
        """AND-OR per input."""
        m = Module()
        banks = [self.banks.word_select(bank, 32) for bank in range(self._cfg.banks)]
        for index in range(self._inputs):
            chosen = self.sources.word_select(index, self._cfg.banks)
            word = select(chosen, banks)
            word = word | self.beside.word_select(index, 32) if self._beside else word
            m.d.comb += self.inputs.word_select(index, 32).eq(word)
        return m


class WriteLane(wiring.Component):
    """One lane of the way from the write-back ports, and from other writers, to the banks.

    Members
    -------
    results : In(32 * ports), accept : In(banks * ports)   Bit ``bank * ports + port``.
    others : In(32 * clients), taken : In(banks * clients)   Bit ``bank * clients + client``; only with clients.
    banks : Out(32 * banks)   What each bank is to write in this lane.
    """

    def __init__(self, cfg: Config, clients: int = 0) -> None:
        self._cfg = cfg
        self._clients = clients
        ports = cfg.write_ports
        members = {"results": In(32 * ports), "accept": In(cfg.banks * ports), "banks": Out(32 * cfg.banks)}
        if clients:
            members |= {"others": In(32 * clients), "taken": In(cfg.banks * clients)}
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """AND-OR per bank; a single writer needs no choice."""
        m = Module()
        writers = [self.results.word_select(port, 32) for port in range(self._cfg.write_ports)]
        if self._clients:
            writers += [self.others.word_select(client, 32) for client in range(self._clients)]
        for bank in range(self._cfg.banks):
            choice = self.accept.word_select(bank, self._cfg.write_ports)
            if self._clients:
                choice = Cat(choice, self.taken.word_select(bank, self._clients))
            value = select(choice, writers) if len(writers) > 1 else writers[0]
            m.d.comb += self.banks.word_select(bank, 32).eq(value)
        return m
