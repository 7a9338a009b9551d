"""Registers that a warp waits for, in a few entries instead of a bit per name (docs/machine.md, section 4, *full*)."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, lowest_one
from warpfile.hdl.beat import beat_layout
from warpfile.hdl.naming import named
from warpfile.spec.config import Config

GROUP = 4  #: registers of the widest operand; a destination never crosses an aligned group


def group_mask(beat: Value) -> Value:
    """Registers that a beat writes within the aligned group of four of its destination."""
    ones = Cat(beat.dest_count >= count for count in range(1, GROUP + 1))
    return (ones << beat.dest[:2])[:GROUP]


def writes(dest: Value, mask: Value, register: Value) -> Value:
    """Whether a beat writes a register; ``mask``: :func:`group_mask` of the beat."""
    return (register[2:] == dest[2:]) & mask.bit_select(register[:2], 1)


class PendingEntries(wiring.Component):
    """A CAM of aligned groups of four registers, one entry per beat, with a bit per register that has yet to come.

    Members
    -------
    head : In(beat_layout(cfg))        The head beat of the warp.
    reserve : In(1), dest : In(register_bits), dest_count : In(3)   The issuing beat, if it is this warp's and executes.
    release : In(ports), registers : In(ArrayLayout)   Completed results of this warp that have a register.
    touched : Out(1)                   The head beat names a pending register.
    full : Out(1)                      Every entry is taken.
    some : Out(1)                      Some register is pending.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "head": In(beat_layout(cfg)),
                "reserve": In(1),
                "dest": In(cfg.register_bits),
                "dest_count": In(3),
                "release": In(cfg.write_ports),
                "registers": In(data.ArrayLayout(cfg.register_bits, cfg.write_ports)),
                "touched": Out(1),
                "full": Out(1),
                "some": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """Per entry its group and what is left of it; comparisons with sources, destination and results."""
        m = Module()
        count = self._cfg.pending_entries
        groups = [Signal(self._cfg.register_bits - 2, name=f"group{entry}", reset_less=True) for entry in range(count)]
        lefts = [Signal(GROUP, name=f"left{entry}") for entry in range(count)]
        taken = named(m, "taken", Cat(left.any() for left in lefts))
        takes = named(m, "takes", lowest_one(~taken) & self.reserve.replicate(count))
        reserved, wanted = named(m, "reserved", group_mask(self)), named(m, "wanted", group_mask(self.head))
        for group, left, take in zip(groups, lefts, takes, strict=True):
            with m.If(take):
                m.d.sync += group.eq(self.dest[2:])
            m.d.sync += left.eq((left & ~self._freed(group)) | (reserved & take.replicate(GROUP)))
        touches = (self._touches(group, left, wanted) for group, left in zip(groups, lefts, strict=True))
        m.d.comb += [self.touched.eq(any_of(touches)), self.full.eq(taken.all()), self.some.eq(taken.any())]
        return m

    def _freed(self, group: Value) -> Value:
        """Registers of an entry that complete."""
        results = zip(self.release, self.registers, strict=True)
        return any_of(
            decode(register[:2], GROUP) & (taken & (register[2:] == group)).replicate(GROUP)
            for taken, register in results
        )

    def _touches(self, group: Value, left: Value, wanted: Value) -> Value:
        """Whether the head beat names a register of an entry."""
        head = self.head
        reads = any_of(
            head.source_valid[slot] & (head.sources[slot][2:] == group) & left.bit_select(head.sources[slot][:2], 1)
            for slot in range(self._cfg.source_slots)
        )
        return reads | ((head.dest[2:] == group) & (left & wanted).any())
