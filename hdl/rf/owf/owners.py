"""Which warps own what they share, and which wait for owners of another CTA (docs/schemes/owf.md, sections 3 to 5)."""

from collections.abc import Iterator

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode
from warpfile.hdl.naming import named
from warpfile.spec.schemes.owf import OwfConfig


class Owners(wiring.Component):
    """A bit per warp that owns what it shares with its partner, and the CTA slots of the warps.

    ``owner``, ``paired`` and ``stray`` are registers; ``hold`` depends on them and ``names_shared`` alone.

    Members
    -------
    launched : In(warps)         One-hot, the warp that is launched; resident from the next cycle.
    cta : In(cta_bits)           Its CTA slot.
    partnered : In(1)            Its slot has a partner.
    names_shared : In(warps)     The warp has a head beat, which names a register that is shared if the slot is paired.
    issued : In(warps)           One-hot, the warp whose head beat issues; zero if none does.
    exits : In(warps)            One-hot, the warp whose EXIT issues.
    owner : Out(warps)           The warp owns what it shares.
    paired : Out(warps)          The warp is resident and has a partner slot.
    hold : Out(warps)            Its head beat must not issue: the CTA of its partner has an owner.
    takes : Out(1)               The issuing beat makes its warp an owner.
    stray : Out(1)               Two partners were owners at a time; until reset.
    """

    def __init__(self, cfg: OwfConfig) -> None:
        self._cfg = cfg
        inputs, outputs = ("launched", "names_shared", "issued", "exits"), ("owner", "paired", "hold")
        members = {"cta": In(cfg.cta_bits), "partnered": In(1), "takes": Out(1), "stray": Out(1)}
        masks = {**{name: In(cfg.warps) for name in inputs}, **{name: Out(cfg.warps) for name in outputs}}
        super().__init__({**masks, **members})

    def elaborate(self, platform) -> Module:
        """Owners and partners; whose CTA is closed is known from registers, before the head beats are."""
        m = Module()
        touches = named(m, "touches", self.names_shared & self.paired)
        claims = named(m, "claims", self.issued & touches)
        m.d.comb += [
            self.hold.eq(touches & ~self.owner & self._closed(m)),
            self.takes.eq((claims & ~self.owner).any()),
        ]
        m.d.sync += [
            self.owner.eq((self.owner | claims) & ~self.exits),
            self.paired.eq((self.paired & ~self.exits) | (self.launched & self.partnered.replicate(self._cfg.warps))),
        ]
        with m.If(any_of(one & other for one, other in zip(self.owner[::2], self.owner[1::2], strict=False))):
            m.d.sync += self.stray.eq(1)
        return m

    def _closed(self, m: Module) -> Value:
        """Warps of whose partner CTA some warp is an owner."""
        cfg = self._cfg
        members = list(self._members(m))
        owning = [
            named(m, f"owning{slot}", any_of(owner & cta[slot] for owner, cta in zip(self.owner, members, strict=True)))
            for slot in range(cfg.cta_slots)
        ]
        partners = Cat(owning[slot ^ 1] if slot ^ 1 < cfg.cta_slots else Const(0, 1) for slot in range(cfg.cta_slots))
        return named(m, "closed", Cat((cta & partners).any() for cta in members))

    def _members(self, m: Module) -> Iterator[Value]:
        """The CTA slot of every warp, one-hot."""
        for warp in range(self._cfg.warps):
            cta = Signal(self._cfg.cta_bits, name=f"cta{warp}", reset_less=True)
            with m.If(self.launched[warp]):
                m.d.sync += cta.eq(self.cta)
            yield named(m, f"of_cta{warp}", decode(cta, self._cfg.cta_slots))
