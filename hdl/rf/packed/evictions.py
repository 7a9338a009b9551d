"""Registers that collectors give back, among the results of port 0 (docs/schemes/corf.md, section 17)."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.beat import result_layout
from warpfile.hdl.naming import named
from warpfile.spec.schemes.packed import PackedConfig


class Evictions(wiring.Component):
    """Whether an eviction stands in X, which of those that X took are under way, and which result waits for one.

    Members (P: ``cfg.write_ports``)
    -------
    valid : In(1), warp, register_name : In   The eviction that the collectors present.
    stores : In(P), results : In(ArrayLayout)   Results that have to be stored.
    locate, locate_warps, locate_registers : In   Look-ups.
    accept : In(1)               W0 of port 0 takes what is in X: the eviction, if that stands there.
    moves, stored : In(1)        What is in W0 moves on to W1; what is in W1 is stored.
    held_warp, held_register, store_warp, store_register : In   Of W0 and of W1.
    stands : Out(1)              The eviction is in X of port 0.
    waiting : Out(P)             What is in X of each port and must not be served.
    waits : Out(1), results_wait : Out(P), look_ups_wait : Out(slots)   Eviction, results, look-ups wait for an eviction
                                 of their register that is under way.
    sweeps_wait : Out(warps)     Warps of which one is.
    under_way : Out(2)           W0 and W1 have an eviction; registers.
    """

    def __init__(self, cfg: PackedConfig) -> None:
        self._cfg = cfg
        ports, units, slots = cfg.write_ports, cfg.asks.units, cfg.asks.units * cfg.asks.slots
        warps = ("warp", "held_warp", "store_warp")
        super().__init__(
            {
                **{name: In(1) for name in ("valid", "accept", "moves", "stored")},
                **{name: In(cfg.warp_bits) for name in warps},
                **{name: In(cfg.register_bits) for name in ("register_name", "held_register", "store_register")},
                "stores": In(ports),
                "results": In(data.ArrayLayout(result_layout(cfg), ports)),
                "locate": In(slots),
                "locate_warps": In(data.ArrayLayout(cfg.warp_bits, units)),
                "locate_registers": In(data.ArrayLayout(cfg.register_bits, slots)),
                **{name: Out(1) for name in ("stands", "waits")},
                "sweeps_wait": Out(cfg.warps),
                **{name: Out(ports) for name in ("waiting", "results_wait")},
                "look_ups_wait": Out(slots),
                "under_way": Out(2),
            }
        )

    def elaborate(self, platform) -> Module:
        """Two bits for what is under way, and comparisons with that."""
        m = Module()
        with m.If(self.stored):
            m.d.sync += self.under_way[1].eq(0)
        with m.If(self.moves):
            m.d.sync += self.under_way.eq(self.under_way << 1)
        with m.If(self.accept):
            m.d.sync += self.under_way[0].eq(self.stands)
        names = zip(self.stores, self.results, strict=True)
        own = [(stores, result.warp == self.warp, result.register == self.register_name) for stores, result in names]
        late = any_of(stores & warp & register for stores, warp, register in own)
        results = [(result.warp, result.register) for result in self.results]
        under_way, count = (self.held_warp, self.store_warp), self._cfg.warps
        m.d.comb += [
            self.stands.eq(self.valid & ~self.stores[0]),
            self.waits.eq(self.valid & self._meets(self.warp, self.register_name).any()),
            self.waiting.eq(self.results_wait | (self.stands & (self.waits | named(m, "result_of_it", late)))),
            self.results_wait.eq(self.stores & Cat(self._meets(*result).any() for result in results)),
            self.look_ups_wait.eq(self.locate & Cat(self._meets(*place)[0] for place in self._places())),
            self.sweeps_wait.eq(select(self.under_way, [decode(warp, count) for warp in under_way])),
        ]
        return m

    def _of_warp(self, warp: Value) -> Value:
        return Cat(warp == self.held_warp, warp == self.store_warp)

    def _meets(self, warp: Value, register: Value) -> Value:
        """Whether W0 and W1 have an eviction of this register."""
        same = Cat(register == self.held_register, register == self.store_register)
        return self.under_way & self._of_warp(warp) & same

    def _places(self) -> list[tuple[Value, Value]]:
        slots = self._cfg.asks.slots
        return [(self.locate_warps[at // slots], register) for at, register in enumerate(self.locate_registers)]
