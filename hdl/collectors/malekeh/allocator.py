"""Which caching collector unit takes the offered beat (docs/schemes/malekeh.md, section 3, step 5)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, lowest_one, oldest_one
from warpfile.hdl.naming import named
from warpfile.spec.schemes.malekeh import THRESHOLD_BITS, WAIT_BITS, MalekehConfig

#: Why a unit takes the beat or none does; each is an output.
CHOICES = ("take_own", "take_empty", "take_far", "take_near", "refuse_wait", "refuse_busy")


class DepartureOrder(wiring.Component):
    """Order in which the units dispatched last, as a triangle of bits.

    Several may dispatch in one cycle; the one on the highest port counts as the most recent.

    Members
    -------
    leaves : In(ArrayLayout)          Unit that dispatches on each port, one-hot or zero.
    older : Out(collectors ** 2)      Bit ``collectors * a + b``: a dispatched before b. Zero on the diagonal.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        units = cfg.collectors
        super().__init__({"leaves": In(data.ArrayLayout(units, cfg.ports)), "older": Out(units**2)})

    def elaborate(self, platform) -> Module:
        """One register per pair of units."""
        m = Module()
        units, ports = self._cfg.collectors, range(self._cfg.ports)
        leaving = named(m, "leaving", any_of(self.leaves))
        for first in range(units):
            for second in range(first + 1, units):
                order = Signal(name=f"first{first}_older{second}", init=1)
                lower = any_of(self.leaves[low][first] & any_of(self.leaves[high][second] for high in ports[low + 1 :])
                               for low in ports)  # fmt: skip
                with m.If(leaving[first]):
                    m.d.sync += order.eq(lower)
                with m.Elif(leaving[second]):
                    m.d.sync += order.eq(1)
                m.d.comb += self.older[first * units + second].eq(order)
                m.d.comb += self.older[second * units + first].eq(~order)
        return m


class UnitAllocator(wiring.Component):
    """The own unit, else an empty one, else one without near registers, else after a wait the least recently used.

    Members
    -------
    wanted : In(1)                    A beat that needs a unit is offered.
    own, busy, empty, near : In(collectors)   Unit of the beat's warp; holds a beat; no register; a near register.
    older : In(collectors ** 2)       Order of the last dispatches.
    threshold : In(THRESHOLD_BITS)
    allocate : Out(collectors)        Unit that takes the beat, one-hot in the same cycle; zero if it is refused.
    CHOICES : Out(1) each             One of them is set if a beat is wanted.
    wait_count : Out(WAIT_BITS)       Refusals for the sake of near registers since another unit was last taken.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        units = cfg.collectors
        super().__init__(
            {
                "wanted": In(1),
                **{name: In(units) for name in ("own", "busy", "empty", "near")},
                "older": In(units**2),
                "threshold": In(THRESHOLD_BITS),
                "allocate": Out(units),
                **{name: Out(1) for name in CHOICES},
                "wait_count": Out(WAIT_BITS),
            }
        )

    def elaborate(self, platform) -> Module:
        """One candidate of each kind, the kind that is first, and the count of the waits."""
        m = Module()
        free = named(m, "free", ~self.busy)
        empty = named(m, "free_empty", free & self.empty)
        far = named(m, "free_far", free & ~self.near)
        late = named(m, "late", self.wait_count > self.threshold)
        elsewhere = named(m, "elsewhere", self.wanted & ~self.own.any())
        # Whose beat it is comes late: which other unit would take it is known before.
        used = lowest_one(far) | (oldest_one(free, self.older) & (~far.any() & late).replicate(len(free)))
        other = named(m, "other", Mux(empty.any(), lowest_one(empty), used))
        near_only = named(m, "near_only", elsewhere & free.any() & ~far.any())
        m.d.comb += [
            self.take_own.eq(self.wanted & self.own.any()),
            self.take_empty.eq(elsewhere & empty.any()),
            self.take_far.eq(elsewhere & ~empty.any() & far.any()),
            self.take_near.eq(near_only & late),
            self.refuse_wait.eq(near_only & ~late),
            self.refuse_busy.eq(elsewhere & ~free.any()),
            self.allocate.eq(
                (self.own | (other & (~self.own.any()).replicate(len(free)))) & self.wanted.replicate(len(free))
            ),
        ]
        with m.If(self.refuse_wait):  # not above the threshold, so it never comes near its largest value
            m.d.sync += self.wait_count.eq(self.wait_count + 1)
        with m.Elif(self.take_empty | self.take_far | self.take_near):
            m.d.sync += self.wait_count.eq(0)
        return m
