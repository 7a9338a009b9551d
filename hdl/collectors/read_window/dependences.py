"""What keeps a warp's head beat from issuing: results under way, and the codes of the compiler (section 8)."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.beat import beat_layout, needs_unit
from warpfile.hdl.collectors.read_window.beats import hint_of
from warpfile.hdl.collectors.read_window.counter import DependenceCounter
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.spec.schemes.modern import BARRIERS, MOST_IN_FLIGHT, ReadWindowConfig
from warpfile.spec.trace import Kind

IN_FLIGHT_BITS = 8
QUEUES = 2


class WarpDependences(wiring.Component):
    """Dependences of one warp, as registered; what happens in a cycle is seen in the next.

    Members
    -------
    head : In(beat_layout(cfg))      The warp's oldest beat, whether there is one or not.
    under_way : In(1)                A beat of the warp is issued and not dispatched.
    issue : In(1), results : In(3)   The warp issues; results that the issued beat will return.
    done : In(ports)                 Write-back ports with an accepted result of the warp.
    blocked : Out(1)                 The head beat must not issue.
    flying : Out(1)                  Results of the warp are under way.
    tick : In(1)                     Stall counts run; this and the rest only with ``control_codes``.
    stall : In(4), yields : In(1)    Codes of the issued beat.
    ups : In(ArrayLayout), downs : In(ArrayLayout)   By dependence counter: who counts it up and down.
    stalled, resting, awaits : Out(1), counting : Out(6)   Observed state; the head beat waits for a counter.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        ports = cfg.write_ports
        members: dict[str, wiring.Member] = {
            "head": In(beat_layout(cfg)),
            "under_way": In(1),
            "issue": In(1),
            "results": In(3),
            "done": In(ports),
            "blocked": Out(1),
            "flying": Out(1),
        }
        if cfg.codes:
            members |= {"tick": In(1), "stall": In(4), "yields": In(1)}
            members |= {"ups": In(data.ArrayLayout(2, BARRIERS))}
            members |= {"downs": In(data.ArrayLayout(QUEUES + ports, BARRIERS))}
            members |= {name: Out(1) for name in ("stalled", "resting", "awaits")} | {"counting": Out(BARRIERS)}
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Results under way, then codes."""
        m = Module()
        in_flight = Signal(IN_FLIGHT_BITS)
        left = named(m, "left", (in_flight - count_ones(list(self.done)))[:IN_FLIGHT_BITS])
        m.d.sync += in_flight.eq(Mux(self.issue, left + self.results, left))
        ends = self.head.kind == Kind.EXIT.value
        hazards = [
            self.head.executes & (in_flight >= MOST_IN_FLIGHT),
            (ends | (self.head.kind == Kind.BARRIER.value)) & self.under_way,
            ends & self.flying,
        ]
        if self._cfg.codes:
            hazards += self._codes(m)
        m.d.comb += [self.flying.eq(in_flight.any()), self.blocked.eq(any_of(hazards))]
        return m

    def _codes(self, m: Module) -> list[Value]:
        """Stall, yield, counters."""
        stall, rest, full = Signal(4), Signal(), []
        with m.If(self.tick):
            m.d.sync += rest.eq(self.issue & self.yields & (self.stall <= 1))
            with m.If(self.issue):
                m.d.sync += stall.eq(Mux(self.stall.any(), self.stall - 1, 0))
            with m.Elif(self.stalled):
                m.d.sync += stall.eq(stall - 1)
        values = []
        for number in range(BARRIERS):
            m.submodules[f"counter{number}"] = counter = DependenceCounter(len(self.downs[number]))
            values.append(counter.value)
            m.d.comb += [
                counter.up.eq(self.ups[number]),
                counter.down.eq(self.downs[number]),
                self.counting[number].eq(counter.waits),
            ]
            full.append(counter.full)
        hints = self.head.hints
        m.d.comb += [
            self.stalled.eq(stall.any()),
            self.resting.eq(rest),
            self.awaits.eq(
                (hint_of(self._cfg, "wait_mask", hints) & self.counting).any() | self._leaves_more(m, values)
            ),
        ]
        named_full = [
            any_of(bit & (hint_of(self._cfg, name, hints) == number) for number, bit in enumerate(full))
            for name in ("write_barrier", "read_barrier")
        ]
        return [self.stalled, self.resting, self.awaits, needs_unit(self.head) & any_of(named_full)]

    def _leaves_more(self, m: Module, values: list[Value]) -> Value:
        """A DEPBAR.LE, which is beside, waits for the counter of which it leaves some."""
        hints = self.head.hints
        counter = decode(hint_of(self._cfg, "write_barrier", hints), BARRIERS)
        value = named(m, "left", select(counter, values))
        return self.head.port.all() & (value > hint_of(self._cfg, "positions", hints))
