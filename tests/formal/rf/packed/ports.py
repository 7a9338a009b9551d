"""Proof that no port of a memory of the renaming table serves two look-ups, whatever the order of the units is."""

from amaranth import Cat, Const, Module, Value
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.formal.properties import Miswired, Proof, Properties, at_most_one, some_order
from warpfile.hdl.count import count_ones
from warpfile.hdl.renaming.ports import Access, FreePorts

UNITS, WIDTH, MEMORIES = 3, 2, 2
COUNT = UNITS * WIDTH


class LookUps(wiring.Component):
    """Look-ups of some units, each of one memory, after one access that may take a port."""

    earlier: In(MEMORIES)
    wants: In(COUNT)
    memory: In(COUNT)
    older: In(UNITS**2)
    served: Out(COUNT)
    first: Out(COUNT * MEMORIES)
    second: Out(COUNT * MEMORIES)

    def elaborate(self, platform) -> Module:
        m = Module()
        free = FreePorts(m, MEMORIES)
        free.single(Access(self.earlier.any(), self.earlier, self.earlier))
        slots = [Access(self.wants[at], Cat(~bit, bit), self.wants) for at, bit in enumerate(self.memory)]
        older = [[self.older[other * UNITS + own] for other in range(UNITS)] for own in range(UNITS)]
        units = free.ordered([slots[at : at + WIDTH] for at in range(0, COUNT, WIDTH)], older)
        served = [one for unit in units for one in unit]
        m.d.comb += [
            self.served.eq(Cat(one.any for one in served)),
            self.first.eq(Cat(one.first[:MEMORIES] for one in served)),
            self.second.eq(Cat(one.second[:MEMORIES] for one in served)),
        ]
        return m


def _before(part, other: int, own: int) -> Value:
    """Whether a look-up comes before another one: that of an older unit, or a lower one of the same."""
    if other // WIDTH == own // WIDTH:
        return Const(other < own, 1)
    return part.older[other // WIDTH * UNITS + own // WIDTH]


class PortProperties(Properties):
    """Any look-ups, in any order of their units."""

    def check(self, m, part):
        some_order(m, part.older, UNITS)
        m.d.comb += Assume(at_most_one(part.earlier))
        for memory in range(MEMORIES):
            for name in ("first", "second"):
                takers = getattr(part, name)[memory::MEMORIES]
                taken = at_most_one(Cat(takers, part.earlier[memory])) if name == "first" else at_most_one(takers)
                m.d.comb += Assert(taken, "a port serves one")
            here = Cat(part.memory[at] == memory for at in range(COUNT)) & part.wants
            m.d.comb += Cover(here.all() & part.earlier[memory], "all request the ports left of one memory")
            for own in range(COUNT):
                before = Cat(_before(part, other, own) for other in range(COUNT)) & here
                left = count_ones([*before, part.earlier[memory]]) < 2
                served = ~here[own] | (part.served[own] == left)
                m.d.comb += Assert(served, "those with fewer than two before them are served, and no others")
        m.d.comb += Assert((part.served & ~part.wants) == 0, "a client without a request is not served")


def _ages_lost() -> PortProperties:
    """What an order without a driver would do."""
    return PortProperties(Miswired(LookUps(), older=lambda value: value & 0))


PROOFS = (
    Proof(
        "hdl.renaming.ports",
        f"{UNITS} units of {WIDTH} look-ups, {MEMORIES} memories",
        lambda: PortProperties(LookUps()),
        {
            "a port serves one": _ages_lost,
            "those with fewer than two before them are served, and no others": _ages_lost,
            "a client without a request is not served": lambda: PortProperties(
                Miswired(LookUps(), served=lambda value: value | 1)
            ),
        },
        reach=1,
    ),
)
