"""Sources that are copied to an entry when their bank is read (docs/schemes/shrf.md, section 5, "Requests, bring")."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import unit_inputs
from warpfile.spec.schemes.shrf import ShrfConfig


class Brings(wiring.Component):
    """The bring that is granted in a cycle, until its data are at the units ``bank_cycles`` cycles later.

    Members
    -------
    slot, grant : In(units * slots)   The bringing slot that asks, one-hot or zero; slots that are granted.
    holder : In(entry_places)         The place of its warp, one-hot.
    ref : In(near_bits), mask : In(lanes)   Its entry, and the lanes of its beat.
    written : Out(places * orf_entries)   Entry that a bring is written to in this cycle, one-hot or zero.
    inputs : Out(inputs)              Input of the units that has its data, one-hot or zero.
    lanes : Out(lanes)                Lanes that are written, zero for none.
    writes : Out(1)                   There is one.
    """

    def __init__(self, cfg: ShrfConfig) -> None:
        self._cfg = cfg
        slots = cfg.asks.units * cfg.source_slots
        super().__init__(
            {
                "slot": In(slots),
                "grant": In(slots),
                "holder": In(cfg.entry_places),
                "ref": In(cfg.gives.near_bits),
                "mask": In(cfg.lanes),
                "written": Out(cfg.entry_places * cfg.orf_entries),
                "inputs": Out(unit_inputs(cfg)),
                "lanes": Out(cfg.lanes),
                "writes": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """One register per cycle of an access."""
        m = Module()
        cfg = self._cfg
        valid, held = named(m, "granted", (self.slot & self.grant).any()), Cat(self.slot, self.holder, self.ref)
        held = Cat(held, self.mask)
        for cycle in range(cfg.bank_cycles):
            under_way = Signal(name=f"under_way{cycle}")
            kept = Signal(len(held), name=f"bring{cycle}", reset_less=True)
            m.d.sync += [under_way.eq(valid), kept.eq(held)]
            valid, held = under_way, kept
        slots, places = len(self.slot), cfg.entry_places
        slot, holder = held[:slots], held[slots : slots + places]
        entry = decode(held[slots + places :][: len(self.ref)], cfg.orf_entries)
        width = slots // len(self.inputs)
        inputs = Cat(slot.word_select(one, width).any() for one in range(len(self.inputs)))
        written = Cat(entry & place.replicate(len(entry)) for place in holder)
        m.d.comb += [
            self.writes.eq(valid),
            self.written.eq(written & valid.replicate(len(written))),
            self.inputs.eq(inputs & valid.replicate(len(inputs))),
            self.lanes.eq(held[len(held) - cfg.lanes :] & valid.replicate(cfg.lanes)),
        ]
        return m
