"""One lane of the results in flight to the banks (docs/schemes/corf.md, section 5)."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.slices import WAY_IN, WAY_OUT, needs_more, packed, unpacked
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.renamed import RenamedConfig


class ResultLane(wiring.Component):
    """One lane of X, W0 and W1 of all write-back ports; with ``gives.lead`` > 1 of T between X and W0, too.

    Members (P: ``cfg.write_ports``)
    -------
    results : In(32 * P), mask : In(P)   The values in X, and whether they have this lane.
    more : Out(3 * P)                What :func:`needs_more` gives for them, port-major; 0 where they lack this lane.
    takes : In(P)                    The stage behind X takes them; a lane that the value lacks becomes 0.
    advances : In(P)                 W0 takes what is in T; only with T.
    evicts : In(1), evict_data : In(32)   Port 0 has this in X instead, in all lanes; only with ``asks.evicts``.
    banks : In(32 * banks), merge_banks : In(ArrayLayout)   Read data, and the bank from which each port takes what
                                     W0 lacks, one-hot or none.
    ways_out : In(ArrayLayout)       Slices of the value there, as :func:`way_out` says.
    moves : In(P), ways_in : In(ArrayLayout)   They enter W1; their slices, as :func:`way_in` says.
    stores : Out(32 * P)             W1.
    """

    def __init__(self, cfg: RenamedConfig) -> None:
        self._cfg = cfg
        ports = cfg.write_ports
        self._has_t = cfg.gives.lead > 1
        members: dict[str, wiring.Member] = {"evicts": In(1), "evict_data": In(32)} if cfg.asks.evicts else {}
        members |= {"advances": In(ports)} if self._has_t else {}
        super().__init__(
            members
            | {
                "results": In(32 * ports),
                **{name: In(ports) for name in ("mask", "takes", "moves")},
                "more": Out((SLICES - 1) * ports),
                "banks": In(32 * cfg.banks),
                "merge_banks": In(data.ArrayLayout(cfg.banks, ports)),
                "ways_out": In(data.ArrayLayout(WAY_OUT, ports)),
                "ways_in": In(data.ArrayLayout(WAY_IN, ports)),
                "stores": Out(32 * ports),
            }
        )

    def elaborate(self, platform) -> Module:
        """A width detector, a packer and an unpacker per port. Where values have all slices none of them."""
        m = Module()
        for port in range(self._cfg.write_ports):
            word, own = self.results.word_select(port, 32), self.mask[port]
            value = Signal(32, name=f"value{port}", reset_less=True)
            present = Signal(name=f"present{port}", reset_less=True)
            if self._cfg.gives.slices:
                more = self.more.word_select(port, SLICES - 1)
                m.d.comb += more.eq(needs_more(word) & own.replicate(SLICES - 1))
            takes, entering = self.takes[port], (self._entering(port, word & own.replicate(32)), own)
            if self._has_t:
                takes, entering = self.advances[port], self._read(m, port, entering)
            with m.If(takes):
                m.d.sync += [value.eq(entering[0]), present.eq(entering[1])]
            with m.Elif(self.merge_banks[port].any() & ~present):
                m.d.sync += value.eq(self._old(m, port))
            self._store(m, port, value)
        return m

    def _entering(self, port: int, result: Value) -> Value:
        return Mux(self.evicts, self.evict_data, result) if self._cfg.asks.evicts and not port else result

    def _read(self, m: Module, port: int, entering: tuple[Value, Value]) -> tuple[Value, Value]:
        """T: a value, and whether it has this lane."""
        read = Signal(32, name=f"read{port}", reset_less=True)
        present = Signal(name=f"read_present{port}", reset_less=True)
        take(m, self._cfg, read.name, [read, present], (self.takes[port], entering))
        return read, present

    def _old(self, m: Module, port: int) -> Signal:
        """What the row has in this lane."""
        row, old = Signal(32, name=f"row{port}"), Signal(32, name=f"old{port}")
        banks = [self.banks.word_select(bank, 32) for bank in range(self._cfg.banks)]
        m.d.comb += row.eq(select(self.merge_banks[port], banks))
        m.d.comb += old.eq(unpacked(m, row, self.ways_out[port]) if self._cfg.gives.slices else row)
        return old

    def _store(self, m: Module, port: int, value: Signal) -> None:
        store = Signal(32, name=f"store{port}", reset_less=True)
        entering = packed(value, self.ways_in[port]) if self._cfg.gives.slices else value
        take(m, self._cfg, store.name, [store], (self.moves[port], [entering]))
        m.d.comb += self.stores.word_select(port, 32).eq(store)
