"""Proof of the scheduler's classes: an owner that may issue goes first, a sharer last."""

from amaranth import Signal
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one, choice
from warpfile.hdl.scheduler.owners_first.scheduler import OwnersFirst
from warpfile.schemes import find


class ChoiceProperties(ConfiguredProperties):
    """Any owners and sharers; no warp is both."""

    def check(self, m, part):
        neither, last = ~(part.owners | part.sharers), Signal(self._cfg.warps)
        with m.If(part.taken):
            m.d.sync += last.eq(part.grant & ~part.exit)
        owners, others, sharers = (part.eligible & mask for mask in (part.owners, neither, part.sharers))
        classes = (owners, others, sharers)
        m.d.comb += [
            Assume((part.owners & part.sharers) == 0),
            Assume(at_most_one(part.launch)),
        ]
        choice(m, part.eligible, part.grant)
        m.d.comb += [
            Assert(~owners.any() | (part.grant & owners).any(), "an owner goes first"),
            Assert(owners.any() | ~others.any() | (part.grant & others).any(), "a sharer goes last"),
            *(
                Assert(
                    ~(part.grant & one).any() | ~(last & one).any() | (part.grant == last), "the last issuer goes on"
                )
                for one in classes
            ),
            Cover((last & sharers).any() & (part.grant & owners).any(), "an owner goes before the last issuer"),
            Cover((last & others).any() & (part.grant == last) & sharers.any(), "the last issuer goes on"),
        ]
        self.last = last

    def help(self, m, part, state):
        m.d.comb += Assert((state("last") == self.last) & at_most_one(self.last), "one warp issued last")
        older = [state("ages", f"first{a}_older{b}") for a, b in ((0, 1), (1, 2), (0, 2))]
        cycle = (older[0] & older[1] & ~older[2]) | (~older[0] & ~older[1] & older[2])
        m.d.comb += Assert(~cycle, "ages are an order")


def _proof() -> Proof:
    cfg = find("owf").configuration("tiny", warps=3, lanes=1)

    def broken(**changes):
        return lambda: ChoiceProperties(Miswired(OwnersFirst(cfg), **changes), cfg, helped=False)

    return Proof(
        "hdl.scheduler.owners_first",
        "3 warps",
        lambda: ChoiceProperties(OwnersFirst(cfg), cfg),
        {
            "an owner goes first": broken(owners=lambda value: value & ~1),
            "a sharer goes last": broken(sharers=lambda value: value & ~1),
            "the last issuer goes on": broken(taken=lambda value: value & 0),
        },
    )


PROOFS = (_proof(),)
