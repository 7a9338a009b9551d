"""One lane of the access port (docs/schemes/larf.md, sections 4 and 7)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.spec.schemes.shared import ADDRESS_BITS, BASE_BITS, SharedConfig


class AccessLane(wiring.Component):
    """Operands of an access in one lane, its address, and the way to that of the next lane.

    Members
    -------
    enter : In(1), words : In(32 * source_slots)   Operands of the access that enters.
    operands : Out(32 * source_slots)   Those of the access in the port.
    registers : In(2)            How many of them are the address, from the first on.
    address : Out(48)            That, without the offset.
    next_address : In(48)        That of the next lane.
    stride : Out(32), next_stride : In(32)   From this lane to the next one, and from there to the one behind.
    level, even : Out(1)         The next lane has the same bits above 32; the next stride is this one.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        width = 32 * cfg.source_slots
        super().__init__(
            {
                "enter": In(1),
                "words": In(width),
                "operands": Out(width),
                "registers": In(2),
                **{name: In(ADDRESS_BITS) for name in ("next_address",)},
                "address": Out(ADDRESS_BITS),
                "stride": Out(BASE_BITS),
                "next_stride": In(BASE_BITS),
                **{name: Out(1) for name in ("level", "even")},
            }
        )

    def elaborate(self, platform) -> Module:
        """A register, a subtraction, two comparisons."""
        m = Module()
        kept = Signal(len(self.words), name="kept", reset_less=True)
        with m.If(self.enter):
            m.d.sync += kept.eq(self.words)
        low, high = kept[:BASE_BITS], kept[BASE_BITS:ADDRESS_BITS]
        pair = named(m, "pair", self.registers[1])
        m.d.comb += [
            self.operands.eq(kept),
            self.address.eq(
                Cat(
                    low & self.registers.any().replicate(len(low)),
                    Mux(pair, high, 0),
                )
            ),
            self.stride.eq((self.next_address[:BASE_BITS] - self.address[:BASE_BITS])[:BASE_BITS]),
            self.level.eq(self.address[BASE_BITS:] == self.next_address[BASE_BITS:]),
            self.even.eq(self.stride == self.next_stride),
        ]
        return m
