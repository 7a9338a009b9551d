"""Proof of what banks serve that choose together: as if they chose one after the other."""

from amaranth import Cat, Const, Mux
from amaranth.hdl import Assert, Cover

from tests.formal.properties import Miswired, Proof, Properties, at_most_one, passed_over, some_order
from warpfile.hdl.rf.matching import Matching

BANKS, UNITS = 4, 4


class MatchingProperties(Properties):
    """In index order each free bank serves the oldest unit that asks it and that no lower bank serves."""

    def check(self, m, part):
        some_order(m, part.older, UNITS)
        served = Const(0, UNITS)
        for bank, (asks, picked) in enumerate(zip(part.requests, part.picked, strict=True)):
            left = asks & ~served
            m.d.comb += [
                Assert(at_most_one(picked), "a bank serves one unit"),
                Assert((picked & ~left) == 0, "a unit that asks, and that no lower bank serves"),
                Assert(picked.any() == (part.free[bank] & left.any()), "a free bank serves if a request is left"),
                Assert(~passed_over(left, picked, part.older), "no older unit is passed over"),
            ]
            served = served | picked
        everybody = Cat(asks.all() for asks in part.requests).all()
        m.d.comb += [
            Cover(everybody & part.free.all() & part.picked[-1][0], "the last bank serves the youngest of all"),
            Cover(everybody & (part.free == 0b1010) & part.picked[-1].any(), "busy banks leave their units to others"),
        ]


def _both(picked):
    """A second unit at the first bank."""
    return Mux(picked[0], picked | 2, picked)


def _younger(older):
    """The order the other way round."""
    return Cat(older[UNITS * second + first] for first in range(UNITS) for second in range(UNITS))


def _wrong(**changes):
    return lambda: MatchingProperties(Miswired(Matching(UNITS, BANKS), **changes), helped=False)


PROOFS = (
    Proof(
        "hdl.rf.matching.Matching",
        f"of {BANKS} banks, {UNITS} units",
        lambda: MatchingProperties(Matching(UNITS, BANKS)),
        {
            "a bank serves one unit": _wrong(picked=_both),
            "a unit that asks, and that no lower bank serves": _wrong(requests=lambda asks: asks | 1),
            "a free bank serves if a request is left": _wrong(free=lambda free: free & ~2),
            "no older unit is passed over": _wrong(older=_younger),
        },
        reach=2,
    ),
)
