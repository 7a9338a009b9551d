"""Proofs of shared registers: one owner of what two partners share, and all owners of two CTAs in one of them."""

from amaranth import Array, Cat, Signal, Value
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof, at_most_one
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.rf.owf.owners import Owners
from warpfile.schemes import find

#: Per shape: warps, CTA slots, warps of a CTA, slots with partners.
SHAPES = {"4 warps, 2 CTAs": (4, 2, 2, 4), "5 warps, 4 CTAs": (5, 4, 1, 4)}


def home_of(slot: int, members: int, paired: int) -> int:
    """CTA slot of a warp slot, by the table of the page's section 2."""
    return slot // (2 * members) * 2 + slot % 2 if slot < paired else slot // members


class OwnerProperties(ConfiguredProperties):
    """Warps in their home slots. One beat issues in a cycle, of a warp that is resident and not held."""

    def __init__(self, part, shape, cfg, *, helped=True):
        super().__init__(part, cfg, helped=helped)
        _, _, self._members, self._paired = shape

    def check(self, m, part):
        warps = range(self._cfg.warps)
        self.resident = Signal(len(warps))
        m.d.sync += self.resident.eq((self.resident & ~part.exits) | part.launched)
        self.homes = homes = [home_of(slot, self._members, self._paired) for slot in warps]
        m.d.comb += [
            Assume(at_most_one(part.launched) & at_most_one(part.issued)),
            Assume((part.launched & self.resident) == 0),
            Assume(((part.names_shared | part.issued) & ~self.resident) == 0),
            Assume((part.issued & part.hold) == 0),
            Assume((part.exits & (~part.issued | part.names_shared)) == 0),
            *(
                Assume(~part.launched[slot] | ((part.cta == homes[slot]) & (part.partnered == (slot < self._paired))))
                for slot in warps
            ),
        ]
        self._sound(m, part, homes)

    def _sound(self, m, part, homes) -> None:
        pairs = [(slot, slot + 1) for slot in range(0, self._paired, 2)]
        partners = any_of(part.owner[a] & part.owner[b] for a, b in pairs)
        owning = [any_of(part.owner[slot] for slot, home in enumerate(homes) if home == cta) for cta in (0, 1)]
        free = Cat(~any_of(part.owner[slot] for slot, cta in enumerate(homes) if cta == home ^ 1) for home in homes)
        touches = part.names_shared & part.paired
        m.d.comb += [
            Assert(~partners, "two partners are not both owners"),
            Assert(~(owning[0] & owning[1]), "all owners of two CTAs are in one of them"),
            Assert(
                (part.hold & (part.owner | ~touches | free)) == 0, "only a warp whose partner CTA has an owner waits"
            ),
            Assert((touches & ~part.owner & ~free & ~part.hold) == 0, "and every such warp does"),
            Assert((part.owner & ~(self.resident & part.paired)) == 0, "an owner is resident and has a partner"),
            Assert(part.paired == (self.resident & ((1 << self._paired) - 1)), "partners are in paired slots"),
            Assert(~part.stray, "the error flag stays clear"),
            Cover(self._all_own(part, homes) & part.hold.any(), "all warps of a CTA are owners, and another one waits"),
            Cover(part.takes & part.issued[1] & self._waited(m, part), "who has waited becomes an owner"),
        ]

    def _all_own(self, part, homes) -> Value:
        return Cat(part.owner[slot] for slot, home in enumerate(homes) if home == 0).all()

    def _waited(self, m, part) -> Signal:
        waited = Signal()
        m.d.sync += waited.eq((waited | part.hold[1]) & ~part.exits[1])
        return waited

    def help(self, m, part, state):
        for slot, home in enumerate(self.homes):
            cta = state(f"cta{slot}")
            m.d.comb += Assert(~self.resident[slot] | (cta == home), "CTA slots are kept")


class StrayProperties(ConfiguredProperties):
    """Any slots, CTA slots and issues: whatever the host does, the error flag tells of two owners of one thing."""

    def check(self, m, part):
        warps, ever = self._cfg.warps, Signal()
        both = any_of(part.owner[slot] & part.owner[slot + 1] for slot in range(0, warps - 1, 2))
        m.d.sync += ever.eq(ever | both)
        self.resident = Signal(warps)
        self.ctas = Array(Signal(self._cfg.cta_bits, name=f"kept{slot}") for slot in range(warps))
        for slot in range(warps):
            with m.If(part.launched[slot]):
                m.d.sync += self.ctas[slot].eq(part.cta)
        m.d.sync += self.resident.eq((self.resident & ~part.exits) | part.launched)
        owned = [
            any_of(part.owner[other] & (self.ctas[other] == (self.ctas[slot] ^ 1)) for other in range(warps))
            for slot in range(warps)
        ]
        m.d.comb += [
            Assume((part.launched & self.resident) == 0),
            Assume((part.names_shared & ~self.resident) == 0),
            Assume(at_most_one(part.issued)),
            Assume(part.cta < self._cfg.cta_slots),
            Assert(part.stray == ever, "the error flag is set after two partners were owners, and stays"),
            Assert(
                part.hold == (part.names_shared & part.paired & ~part.owner & Cat(owned)),
                "CTA slots of a launch decide who waits",
            ),
            Assert((part.owner & ~part.paired) == 0, "an owner has a partner"),
            Cover(part.stray & ~part.owner.any(), "the flag stays without owners"),
        ]

    def help(self, m, part, state):
        m.d.comb += Assert((part.paired & ~self.resident) == 0, "and is resident")
        for slot in range(self._cfg.warps):
            kept = state(f"cta{slot}") == self.ctas[slot]
            m.d.comb += Assert(~self.resident[slot] | kept, "CTA slots are kept")


def configuration(warps: int, ctas: int):
    """A small machine."""
    return find("owf").configuration("tiny", warps=warps, ctas=ctas, lanes=1, register_names=8)


def proof(size: str) -> Proof:
    """Proof for warps in home slots; per assertion the wires that are changed to break it."""
    shape = SHAPES[size]
    cfg = configuration(*shape[:2])
    wrong = {
        "two partners are not both owners": {"hold": lambda value: value & 0},
        "all owners of two CTAs are in one of them": {"cta": lambda value: value & 0},
        "only a warp whose partner CTA has an owner waits": {"hold": lambda value: value | 1},
        "and every such warp does": {"hold": lambda value: value & ~1},
        "an owner is resident and has a partner": {"exits": lambda value: value & 0},
    }
    return Proof(
        "hdl.rf.owf.owners",
        size,
        lambda: OwnerProperties(Owners(cfg), shape, cfg),
        {
            text: lambda own=own: OwnerProperties(Miswired(Owners(cfg), **own), shape, cfg, helped=False)
            for text, own in wrong.items()
        },
        reach=12,
    )


def _stray(**changes) -> StrayProperties:
    cfg = configuration(4, 4)
    return StrayProperties(Miswired(Owners(cfg), **changes) if changes else Owners(cfg), cfg, helped=not changes)


PROOFS = (
    *(proof(size) for size in SHAPES),
    Proof(
        "hdl.rf.owf.owners",
        "4 warps, any slots and CTAs",
        _stray,
        {
            "the error flag is set after two partners were owners, and stays": lambda: _stray(
                stray=lambda value: value & 0
            ),
            "CTA slots of a launch decide who waits": lambda: _stray(cta=lambda value: value & 1),
        },
        reach=12,
    ),
)
