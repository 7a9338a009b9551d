"""Whether all lanes of a result have one word (docs/schemes/scalar.md, section 6)."""

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.spec.schemes.scalar import ScalarConfig
from warpfile.spec.structure import WORD_BITS


class AlikeLanes(wiring.Component):
    """Compares the lanes of one result.

    It goes bit by bit, without a lane to compare with: no bit is set in one lane and clear in another. The OR of the
    lanes is their word then, so none has to be chosen.

    Members
    -------
    mask : In(lanes), values : In(data_bits)   Lanes that are written, and the values of all lanes.
    alike : Out(1)   There is a lane in ``mask``, and all of them have one word. In the same cycle.
    word : Out(32)   That word if they are alike; otherwise no value.
    """

    def __init__(self, cfg: ScalarConfig) -> None:
        self._cfg = cfg
        super().__init__({"mask": In(cfg.lanes), "values": In(cfg.data_bits), "alike": Out(1), "word": Out(WORD_BITS)})

    def elaborate(self, platform) -> Module:
        """Per bit two trees over the lanes, then one over the bits."""
        m = Module()
        words = [self.values.word_select(lane, WORD_BITS) for lane in range(self._cfg.lanes)]
        differs = []
        for bit in range(WORD_BITS):
            column = Cat(word[bit] for word in words)
            ones, zeros = named(m, f"ones{bit}", self.mask & column), named(m, f"zeros{bit}", self.mask & ~column)
            m.d.comb += self.word[bit].eq(ones.any())
            differs.append(ones.any() & zeros.any())
        m.d.comb += self.alike.eq(self.mask.any() & ~named(m, "differs", Cat(differs)).any())
        return m
