"""Proof that no port of a memory of the renaming table serves two look-ups, whatever the order of the units is."""

from amaranth import Cat, Module
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.formal.properties import Miswired, Proof, Properties, at_most_one, some_order
from warpfile.hdl.count import count_ones
from warpfile.hdl.renaming.ports import Access, FreePorts

COUNT, MEMORIES = 4, 2


class LookUps(wiring.Component):
    """Look-ups of as many units, each of one memory, after one access that may take a port."""

    earlier: In(MEMORIES)
    wants: In(COUNT)
    memory: In(COUNT)
    older: In(COUNT**2)
    served: Out(COUNT)
    first: Out(COUNT * MEMORIES)
    second: Out(COUNT * MEMORIES)

    def elaborate(self, platform) -> Module:
        m = Module()
        free = FreePorts(m, MEMORIES)
        free.single(Access(self.earlier.any(), self.earlier, self.earlier))
        slots = [Access(self.wants[at], Cat(~bit, bit), self.wants) for at, bit in enumerate(self.memory)]
        before = [[self.older[other * COUNT + own] for other in range(COUNT)] for own in range(COUNT)]
        served = free.ordered(slots, before)
        m.d.comb += [
            self.served.eq(Cat(one.any for one in served)),
            self.first.eq(Cat(one.first[:MEMORIES] for one in served)),
            self.second.eq(Cat(one.second[:MEMORIES] for one in served)),
        ]
        return m


class PortProperties(Properties):
    """Any look-ups, in any order of their units."""

    def check(self, m, part):
        some_order(m, part.older, COUNT)
        m.d.comb += Assume(at_most_one(part.earlier))
        for memory in range(MEMORIES):
            for name in ("first", "second"):
                takers = getattr(part, name)[memory::MEMORIES]
                taken = at_most_one(Cat(takers, part.earlier[memory])) if name == "first" else at_most_one(takers)
                m.d.comb += Assert(taken, "a port serves one")
            here = Cat(part.memory[at] == memory for at in range(COUNT)) & part.wants
            m.d.comb += Cover(here.all() & part.earlier[memory], "all want what is left of one memory")
            for own in range(COUNT):
                older = Cat(part.older[other * COUNT + own] for other in range(COUNT)) & here
                left = count_ones([*older, part.earlier[memory]]) < 2
                served = ~here[own] | (part.served[own] == left)
                m.d.comb += Assert(served, "who has fewer than two before it is served, and nobody else")
        m.d.comb += Assert((part.served & ~part.wants) == 0, "who wants nothing is not served")


def _ages_lost() -> PortProperties:
    """What an order that nobody drives would do."""
    return PortProperties(Miswired(LookUps(), older=lambda value: value & 0))


PROOFS = (
    Proof(
        "hdl.renaming.ports",
        f"{COUNT} look-ups of {MEMORIES} memories",
        lambda: PortProperties(LookUps()),
        {
            "a port serves one": _ages_lost,
            "who has fewer than two before it is served, and nobody else": _ages_lost,
            "who wants nothing is not served": lambda: PortProperties(
                Miswired(LookUps(), served=lambda value: value | 1)
            ),
        },
        reach=1,
    ),
)
