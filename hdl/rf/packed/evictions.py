"""Registers that collectors give back, among the results of port 0 (docs/schemes/corf.md, section 17)."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.beat import result_layout
from warpfile.hdl.naming import named
from warpfile.spec.schemes.packed import PackedConfig

#: T, W0 and W1, by what begins the names of their members.
_STAGES = ("read", "held", "store")


class Evictions(wiring.Component):
    """Whether an eviction stands in X, which of those that X took are under way, and which result waits for one.

    Members (P: ``cfg.write_ports``)
    -------
    valid : In(1), warp, register_name : In   The eviction that the collectors present.
    stores : In(P), results : In(ArrayLayout)   Results that have to be stored.
    locate, locate_warps, locate_registers : In   Look-ups.
    accept : In(1)               T of port 0 takes what is in X: the eviction, if that stands there.
    advances, moves, stored : In(1)   What is in T moves on to W0; what is in W0 to W1; what is in W1 is stored.
    read_warp, read_register, held_warp, held_register, store_warp, store_register : In   Of T, W0, W1.
    stands : Out(1)              The eviction is in X of port 0.
    waiting : Out(P)             What is in X of each port and must not be served.
    waits : Out(1), results_wait : Out(P), look_ups_wait : Out(slots)   Eviction, results, look-ups wait for an eviction
                                 of their register that is under way; look-ups do not for that in W1.
    sweeps_wait : Out(warps)     Warps of which one is.
    under_way : Out(3)           T, W0, W1 have an eviction; registers.
    """

    def __init__(self, cfg: PackedConfig) -> None:
        self._cfg = cfg
        ports, units, slots = cfg.write_ports, cfg.asks.units, cfg.asks.units * cfg.asks.slots
        warps, registers = (tuple(f"{stage}_{name}" for stage in _STAGES) for name in ("warp", "register"))
        super().__init__(
            {
                **{name: In(1) for name in ("valid", "accept", "advances", "moves", "stored")},
                **{name: In(cfg.warp_bits) for name in ("warp", *warps)},
                **{name: In(cfg.register_bits) for name in ("register_name", *registers)},
                "stores": In(ports),
                "results": In(data.ArrayLayout(result_layout(cfg), ports)),
                "locate": In(slots),
                "locate_warps": In(data.ArrayLayout(cfg.warp_bits, units)),
                "locate_registers": In(data.ArrayLayout(cfg.register_bits, slots)),
                **{name: Out(1) for name in ("stands", "waits")},
                "sweeps_wait": Out(cfg.warps),
                **{name: Out(ports) for name in ("waiting", "results_wait")},
                "look_ups_wait": Out(slots),
                "under_way": Out(len(_STAGES)),
            }
        )

    def elaborate(self, platform) -> Module:
        """A bit per stage for what is under way, and comparisons with that."""
        m = Module()
        with m.If(self.stored):
            m.d.sync += self.under_way[2].eq(0)
        with m.If(self.moves):
            m.d.sync += self.under_way[1:].eq(self.under_way[1:] << 1)
        with m.If(self.advances):
            m.d.sync += self.under_way[:2].eq(self.under_way[:2] << 1)
        with m.If(self.accept):
            m.d.sync += self.under_way[0].eq(self.stands)
        names = zip(self.stores, self.results, strict=True)
        own = [(stores, result.warp == self.warp, result.register == self.register_name) for stores, result in names]
        late = any_of(stores & warp & register for stores, warp, register in own)
        results = [(result.warp, result.register) for result in self.results]
        self._warps, self._registers = (
            [getattr(self, f"{stage}_{name}") for stage in _STAGES] for name in ("warp", "register")
        )
        m.d.comb += [
            self.stands.eq(self.valid & ~self.stores[0]),
            self.waits.eq(self.valid & self._meets(self.warp, self.register_name).any()),
            self.waiting.eq(self.results_wait | (self.stands & (self.waits | named(m, "result_of_it", late)))),
            self.results_wait.eq(self.stores & Cat(self._meets(*result).any() for result in results)),
            self.look_ups_wait.eq(self.locate & Cat(self._meets(*place)[:2].any() for place in self._places())),
            self.sweeps_wait.eq(select(self.under_way, [decode(warp, self._cfg.warps) for warp in self._warps])),
        ]
        return m

    def _meets(self, warp: Value, register: Value) -> Value:
        """Whether T, W0 and W1 have an eviction of this register."""
        stages = zip(self._warps, self._registers, strict=True)
        return self.under_way & Cat((warp == own) & (register == name) for own, name in stages)

    def _places(self) -> list[tuple[Value, Value]]:
        slots = self._cfg.asks.slots
        return [(self.locate_warps[at // slots], register) for at, register in enumerate(self.locate_registers)]
