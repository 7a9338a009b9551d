"""CTA barriers of the warps of one domain."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


class Barrier(wiring.Component):
    """Holds warps that arrived at a barrier until all resident warps of their CTA have arrived.

    A CTA whose resident warps all wait is released at the end of the cycle in which that is seen.

    Members
    -------
    resident : In(warps), cta : In(ArrayLayout)   CTA slot of each warp slot.
    arrive : In(warps)                            One-hot: this warp waits from the next cycle on.
    waiting : Out(warps)                          Warps that wait at a barrier.
    released : Out(warps)                         Waits in this cycle for the last time; only with places.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        ctas = data.ArrayLayout(cfg.cta_bits, cfg.warps)
        members = {"resident": In(cfg.warps), "cta": In(ctas), "arrive": In(cfg.warps), "waiting": Out(cfg.warps)}
        if cfg.has_places:
            members["released"] = Out(cfg.warps)
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """One comparison of masks per CTA slot."""
        m = Module()
        members = [self._members(m, slot) for slot in range(self._cfg.cta_slots)]
        complete = [named(m, f"complete{slot}", ~(member & ~self.waiting).any()) for slot, member in enumerate(members)]
        released = any_of(
            member & done.replicate(self._cfg.warps) for member, done in zip(members, complete, strict=True)
        )
        if self._cfg.has_places:
            m.d.comb += self.released.eq(self.waiting & released)
        m.d.sync += self.waiting.eq((self.waiting & ~released) | self.arrive)
        return m

    def _members(self, m: Module, slot: int) -> Value:
        members = Signal(self._cfg.warps, name=f"members{slot}")
        warps = range(self._cfg.warps)
        m.d.comb += members.eq(Cat(self.resident[warp] & (self.cta[warp] == slot) for warp in warps))
        return members
