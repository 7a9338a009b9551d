"""Write after read: may the head beat of a warp overwrite what older beats have yet to read?"""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.pending_entries import group_mask, writes
from warpfile.spec.config import Config


class WriteAfterRead(wiring.Component):
    """Compares the destinations of one warp's head beat with source slots, combinationally.

    Members
    -------
    dest : In(register_bits), dest_count : In(3)   Of the head beat; zero registers are never blocked.
    unread : In(slots)             Slots of this warp that have yet to read their register.
    registers : In(ArrayLayout)    Register of each slot.
    blocked : Out(1)               One of the destinations is among them.
    """

    def __init__(self, cfg: Config, slots: int) -> None:
        super().__init__(
            {
                "dest": In(cfg.register_bits),
                "dest_count": In(3),
                "unread": In(slots),
                "registers": In(data.ArrayLayout(cfg.register_bits, slots)),
                "blocked": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """One comparison of the aligned group per slot, then one bit within the group."""
        m = Module()
        mask = named(m, "dest_mask", group_mask(self))
        hits = []
        for register, unread in zip(self.registers, self.unread, strict=True):
            hits.append(unread & writes(self.dest, mask, register))
        m.d.comb += self.blocked.eq(any_of(hits))
        return m
