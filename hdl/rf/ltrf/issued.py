"""What a beat that issues means for the registers of its place (docs/schemes/ltrf.md, section 6)."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.beat import beat_layout
from warpfile.hdl.rf.ltrf.registers import set_of
from warpfile.hdl.scoreboard import destination_mask
from warpfile.spec.schemes.ltrf import LtrfConfig


class IssuedBeat(wiring.Component):
    """Registers of the beat that issued in the cycle before.

    The choice of a beat is late, and its registers are not needed so soon: its place cannot save them, or take a step,
    before the cycle after the next one.

    Members
    -------
    issues : In(active_warps), offer : In(beat_layout(cfg))   The beat, and the place whose warp issues it.
    place : Out(active_warps)    Its place, if it executes; what follows is of no meaning without one.
    written, arrives : Out(names)   Its destinations; those of a load that overwrites them.
    dies : Out(names)            Sources that it reads for the last time; only with ``liveness``.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        names, places = cfg.register_names, cfg.active_warps
        dies = {"dies": Out(names)} if cfg.liveness else {}
        super().__init__(
            {
                "issues": In(places),
                "offer": In(beat_layout(cfg)),
                "place": Out(places),
                "written": Out(names),
                "arrives": Out(names),
                **dies,
            }
        )

    def elaborate(self, platform) -> Module:
        """Only what is needed of the beat is held."""
        m = Module()
        cfg = self._cfg
        held = Signal(data.StructLayout({"dest": cfg.register_bits, "dest_count": self.offer.dest_count.shape()}))
        overwrites = Signal()
        m.d.sync += [
            self.place.eq(self.issues & self.offer.executes.replicate(cfg.active_warps)),
            held.dest.eq(self.offer.dest),
            held.dest_count.eq(self.offer.dest_count),
            overwrites.eq(self.offer.long & self.offer.full),
        ]
        m.d.comb += self.written.eq(destination_mask(m, cfg, held))
        m.d.comb += self.arrives.eq(self.written & overwrites.replicate(cfg.register_names))
        if cfg.liveness:
            self._die(m)
        return m

    def _die(self, m: Module) -> None:
        cfg, slots = self._cfg, self._cfg.source_slots
        sources = Signal(data.ArrayLayout(cfg.register_bits, slots), reset_less=True)
        dead, at = Signal(slots), cfg.hint_at("dead")
        hints = self.offer.hints[at : at + slots]
        m.d.sync += [
            sources.eq(self.offer.sources),
            dead.eq(hints & self.offer.source_valid & self.offer.converged.replicate(slots)),
        ]
        masks = [set_of(m, f"source{slot}", source, dead[slot]) for slot, source in enumerate(sources)]
        m.d.comb += self.dies.eq(any_of(masks))
