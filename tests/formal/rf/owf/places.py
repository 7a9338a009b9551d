"""Proof of the places: whatever the kernel's sizes, only partners share a place, and only of shared registers."""

from amaranth import Module, Mux, Signal, Value
from amaranth.asserts import AnyConst
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Miswired, Proof
from warpfile.hdl.arbiter import decode
from warpfile.hdl.rf.owf.location import OwfLocation
from warpfile.schemes import find


class PlaceProperties(ConfiguredProperties):
    """Any sizes that fit, any warps and registers; a warp that was launched has all its registers."""

    def check(self, m: Module, part):
        cfg = self._cfg
        private, total, self.paired = (Signal(range(cfg.register_names + 1), name=n) for n in ("p", "r", "n"))
        for number in (private, total, self.paired):
            m.d.comb += number.eq(AnyConst(len(number)))
        self.launched, self.sizes = Signal(cfg.warps), (private, total)
        launches = decode(part.launch.warp, cfg.warps) & part.launch_valid.replicate(cfg.warps)
        m.d.sync += self.launched.eq(self.launched | launches)
        m.d.comb += [
            Assume((private != 0) & (private <= total) & (total <= cfg.register_names)),
            Assume((self.paired <= cfg.warps) & ~self.paired[0]),
            Assume(self.base_of(cfg.warps) <= cfg.banks * cfg.rows),
            Assume(part.private_registers == private),
            Assume(part.partnered == (part.launch.warp < self.paired)),
            *(Assume(~launches[warp] | (part.launch.base == self.base_of(warp))) for warp in range(cfg.warps)),
        ]
        self._looked_up(m, part)

    def base_of(self, slot: int) -> Value:
        """Base of a slot, by the table of the page's section 2."""
        private, total = self.sizes
        two = private + total
        alone = (self.paired >> 1) * two + (slot - self.paired) * total
        return Mux(slot < self.paired, slot // 2 * two + slot % 2 * private, alone)[: self._cfg.place_bits + 3]

    def _looked_up(self, m: Module, part) -> None:
        """Two registers of any warps: what the ports of the results say."""
        cfg, (private, total) = self._cfg, self.sizes
        (warp, register, place), (other, name, second) = (
            (
                part.result_warps[port],
                part.result_registers[port],
                part.result_places[port].row * cfg.banks + part.result_places[port].bank,
            )
            for port in (0, 1)
        )
        launched = [(decode(which, cfg.warps) & self.launched).any() for which in (warp, other)]
        both = launched[0] & launched[1] & (register < total) & (name < total)
        partners = (warp ^ other == 1) & (warp < self.paired) & (other < self.paired)
        common = partners & (register == name) & (register >= private)
        same = (warp == other) & (register == name)
        m.d.comb += [
            Assert(~both | (place != second) | same | common, "only partners share places"),
            Assert(~both | ~common | (place == second), "partners share their shared registers"),
            Cover(both & common & (private > 1) & (total == private + 2), "a register of two partners"),
            Cover(
                both & (warp >= self.paired) & (other < self.paired) & (self.paired != 0), "with and without partner"
            ),
        ]

    def help(self, m: Module, part, state):
        private, _ = self.sizes
        for warp in range(self._cfg.warps):
            base = state(f"base{warp}")
            known = self.launched[warp]
            m.d.comb += Assert(~known | (base == self.base_of(warp)), "bases are kept")
            if warp % 2 == 0:
                behind = self.base_of(warp) + Mux(warp < self.paired, private, 0)
                mask = (1 << self._cfg.place_bits) - 1
                m.d.comb += Assert(~known | (state(f"shared{warp}") == (behind & mask)), "shared bases are kept")


def _proof() -> Proof:
    cfg = find("owf").configuration("tiny", warps=4, lanes=1, register_names=8, banks=2, rows=8, source_slots=2)

    def broken(**changes):
        return lambda: PlaceProperties(Miswired(OwfLocation(cfg), **changes), cfg, helped=False)

    return Proof(
        "hdl.rf.owf.location",
        "4 warps, 16 places",
        lambda: PlaceProperties(OwfLocation(cfg), cfg),
        {
            "only partners share places": broken(private_registers=lambda value: value + 1),
            "partners share their shared registers": broken(partnered=lambda value: value & 0),
        },
    )


PROOFS = (_proof(),)
