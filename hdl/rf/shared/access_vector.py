"""Operands of the accesses in the port, and the vector of addresses of the first one (docs/schemes/larf.md, section 7,
state V).
"""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import encode, named_prefix_or, reverse, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.shared.access_lane import STAGES, AccessLane
from warpfile.hdl.rf.shared.notes import note_layout
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.shared import ADDRESS_BITS, STRIDE_BITS, SharedConfig

BYTE_BITS = STRIDE_BITS + 2  #: of a stride in bytes


class AccessVector(wiring.Component):
    """The lanes of the access port. Of the access in the first stage, in the same cycle, what it points at.

    Members
    -------
    takes : In(4), straight : In(1), words : In(ArrayLayout)   Stages that take operands, as in :class:`AccessLane`.
    operands : Out(ArrayLayout)  Those of the last stage.
    mask : In(lanes), note : In(note_layout(cfg))   Of the access in the first stage.
    start : Out(48), stride : Out(10)   Address of the lowest lane of its mask; bytes from lane to lane.
    length : Out                 How far the highest lane is from the lowest one.
    regular : Out(1)             All lanes of the mask, without a hole, are that stride apart, and it is not too great.
    from_first : Out(1)          The mask has lane 0.
    suits : Out(1)               Stride and start are those of a vector that can be tracked.
    """

    def __init__(self, cfg: SharedConfig) -> None:
        self._cfg = cfg
        words = data.ArrayLayout(cfg.data_bits, cfg.source_slots)
        super().__init__(
            {
                "takes": In(STAGES),
                "straight": In(1),
                "words": In(words),
                "operands": Out(words),
                "mask": In(cfg.lanes),
                "note": In(note_layout(cfg)),
                "start": Out(ADDRESS_BITS),
                "stride": Out(BYTE_BITS),
                "length": Out(index_bits(cfg.lanes)),
                **{name: Out(1) for name in ("regular", "from_first", "suits")},
            }
        )

    def elaborate(self, platform) -> Module:
        """That all strides are that of the first lane is known from neighbours, without it."""
        m = Module()
        lanes, mask, numbers = self._lanes(m), self.mask, index_bits(self._cfg.lanes)
        below = named_prefix_or(m, "below", mask)
        turned = named_prefix_or(m, "from_above", named(m, "turned", reverse(mask)))
        above = named(m, "above", reverse(turned))
        first, highest = named(m, "first", mask & ~(below << 1)[: len(mask)]), named(m, "highest", mask & ~(above >> 1))
        pairs = named(m, "pairs", mask & (mask >> 1))
        uneven = pairs & (pairs >> 1) & ~Cat(lane.even for lane in lanes)
        broken = (~mask & below & above) | uneven | (pairs & ~Cat(lane.level for lane in lanes))
        stride = named(m, "first_stride", select(first & pairs, [lane.stride for lane in lanes]))
        address = named(m, "address", select(first, [lane.address for lane in lanes]))
        words = named(m, "stride_words", stride[2:BYTE_BITS])
        wide = stride[BYTE_BITS:].any() | (words.all() & stride[:2].any())
        odd = stride[:2].any() | self.start[:2].any()
        if self._cfg.strides == "powers":
            odd |= (words & (words - 1)[: len(words)]).any()
        m.d.comb += [
            self.start.eq((address + self.note.address_offset)[:ADDRESS_BITS]),
            self.stride.eq(stride),
            self.length.eq(encode(highest, numbers) - encode(first, numbers)),
            self.regular.eq(mask.any() & ~broken.any() & ~wide),
            self.from_first.eq(mask[0]),
            self.suits.eq(~odd),
        ]
        return m

    def _lanes(self, m: Module) -> list[wiring.PureInterface]:
        """Operands by lane, and of each the way to the next."""
        count, words = self._cfg.lanes, data.ArrayLayout(32, self._cfg.lanes)
        slots = [data.View(words, slot) for slot in self.words]
        lanes = [stamp(m, f"lane{lane}", "access_lane", lambda: AccessLane(self._cfg)) for lane in range(count)]
        for number, lane in enumerate(lanes):
            behind = lanes[(number + 1) % count]
            m.d.comb += [
                lane.takes.eq(self.takes),
                lane.straight.eq(self.straight),
                lane.words.eq(Cat(slot[number] for slot in slots)),
                lane.registers.eq(self.note.address_registers),
                lane.next_address.eq(behind.address),
                lane.next_stride.eq(behind.stride),
            ]
        for slot, target in enumerate(self.operands):
            m.d.comb += target.eq(Cat(lane.operands.word_select(slot, 32) for lane in lanes))
        return lanes
