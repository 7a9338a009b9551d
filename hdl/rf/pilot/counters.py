"""Accesses of the pilot warp, by register (docs/schemes/pilot.md, section 6)."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.beat import beat_layout
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.hdl.scoreboard import GROUP, destination_mask
from warpfile.spec.schemes.pilot import COUNT_BITS, PilotConfig


class AccessCounters(wiring.Component):
    """One counter per register. A beat is held for a cycle, then counted.

    Members
    -------
    clear : In(1)                        All counts are 0 from the next cycle on.
    take : In(1), beat : In(beat_layout(cfg))   A beat to be counted in the next cycle.
    scan : In(register_bits), count : Out(16)   One counter, same cycle.
    counted : Out                        Accesses that are counted in this cycle.
    """

    def __init__(self, cfg: PilotConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "clear": In(1),
                "take": In(1),
                "beat": In(beat_layout(cfg)),
                "scan": In(cfg.register_bits),
                "count": Out(COUNT_BITS),
                "counted": Out((cfg.source_slots + 4).bit_length()),
            }
        )

    def elaborate(self, platform) -> Module:
        """Every counter adds 0, 1 or 2."""
        m = Module()
        names = self._cfg.register_names - 1
        reads, writes = self._accesses(m, self._hold(m))
        counts = [Signal(COUNT_BITS, name=f"count{register}") for register in range(names)]
        for count, read, write in zip(counts, reads, writes, strict=True):
            total = named(m, f"{count.name}_next", count + (read & write) + (read | write))
            with m.If(read | write):
                m.d.sync += count.eq(Mux(total[COUNT_BITS], (1 << COUNT_BITS) - 1, total[:COUNT_BITS]))
            with m.If(self.clear):
                m.d.sync += count.eq(0)
        m.d.comb += self.count.eq(select(named(m, "scanned", decode(self.scan, names)), counts))
        return m

    def _hold(self, m: Module) -> data.View:
        """Registers of the beat that was taken in the cycle before; none if none was."""
        fields = ("source_valid", "sources", "dest", "dest_count")
        beat = self.beat.shape()
        held = Signal(data.StructLayout({name: beat[name].shape for name in fields}), name="held")
        for name in fields:
            taken = self.beat[name] if name in ("sources", "dest") else Mux(self.take, self.beat[name], 0)
            m.d.sync += held[name].eq(taken)
        return held

    def _accesses(self, m: Module, held: data.View) -> tuple[Value, Value]:
        """Registers that the held beat reads, and those that it writes, without the marker."""
        names, slots = self._cfg.register_names, range(self._cfg.source_slots)
        sources = [decode(held.sources[slot], names) & held.source_valid[slot].replicate(names) for slot in slots]
        reads = named(m, "reads", any_of(sources)[: names - 1])
        writes = named(m, "writes", destination_mask(m, self._cfg, held)[: names - 1])
        known = [held.source_valid[slot] & (held.sources[slot] != self._cfg.marker) for slot in slots]
        written = [writes[place::GROUP].any() for place in range(GROUP)]  # all are in one aligned group
        m.d.comb += self.counted.eq(count_ones(known) + count_ones(written))
        return reads, writes
