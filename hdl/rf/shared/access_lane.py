"""One lane of the access port (docs/schemes/larf.md, sections 4 and 7)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.spec.schemes.shared import ADDRESS_BITS, BASE_BITS, SharedConfig

STAGES = 4  #: of the access port


class AccessLane(wiring.Component):
    """Operands of the accesses in one lane, the address of the one in the first stage, and the way to that of the next
    lane.

    Members
    -------
    takes : In(4), words : In(32 * source_slots)   Stages that take the operands of the stage before, the first one
                                 those of the access that comes.
    straight : In(1)             The last stage takes those, too, if it takes any.
    operands : Out(32 * source_slots)   Those of the last stage.
    registers : In(2)            Of the first stage: how many of them are the address, from the first on.
    address : Out(48)            That, without the offset.
    next_address : In(48)        That of the next lane.
    stride : Out(32), next_stride : In(32)   From this lane to the next one, and from there to the one behind.
    level, even : Out(1)         The next lane has the same bits above 32; the next stride is this one.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        width = 32 * cfg.source_slots
        super().__init__(
            {
                "takes": In(STAGES),
                "straight": In(1),
                "words": In(width),
                "operands": Out(width),
                "registers": In(2),
                "next_address": In(ADDRESS_BITS),
                "address": Out(ADDRESS_BITS),
                "stride": Out(BASE_BITS),
                "next_stride": In(BASE_BITS),
                **{name: Out(1) for name in ("level", "even")},
            }
        )

    def elaborate(self, platform) -> Module:
        """A register per stage, a subtraction, two comparisons."""
        m = Module()
        stages = [Signal(len(self.words), name=f"stage{stage}", reset_less=True) for stage in range(1, STAGES + 1)]
        comes = [self.words, *stages[:-2], Mux(self.straight, self.words, stages[-2])]
        for stage, takes, words in zip(stages, self.takes, comes, strict=True):
            take(m, self._cfg, stage.name, [stage], (takes, [words]))
        low, high = stages[0][:BASE_BITS], stages[0][BASE_BITS:ADDRESS_BITS]
        pair = named(m, "pair", self.registers[1])
        m.d.comb += [
            self.operands.eq(stages[-1]),
            self.address.eq(Cat(low & self.registers.any().replicate(len(low)), Mux(pair, high, 0))),
            self.stride.eq((self.next_address[:BASE_BITS] - self.address[:BASE_BITS])[:BASE_BITS]),
            self.level.eq(self.address[BASE_BITS:] == self.next_address[BASE_BITS:]),
            self.even.eq(self.stride == self.next_stride),
        ]
        return m
