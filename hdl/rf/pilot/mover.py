"""Which register moves next (docs/schemes/pilot.md, section 12)."""

from amaranth import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.pilot import PilotConfig


class Mover(wiring.Component):
    """Goes through warps and pairs, with four accesses for each pair of a resident warp, one after the other.

    Members
    -------
    clear : In(1)       A kernel is taken: it begins again.
    moving : In(1)      Registers move in this cycle.
    resident : In(warps), pairs : In(fast_registers)   Warps and pairs that there are.
    fast_cycles : In    Length of an access of the fast part that starts now.
    grant : In(1)       The bank serves what is asked for.
    asks : Out(1)       An access is asked for.
    warp, pair, access : Out   Whose, which, and which of its accesses: fast read, slow read, slow write, fast write.
    ends : Out(1)       Nothing is left to do.
    """

    def __init__(self, cfg: PilotConfig) -> None:
        self._cfg = cfg
        self._length = cfg.gives.cycles.bit_length()
        super().__init__(
            {
                "clear": In(1),
                "moving": In(1),
                "resident": In(cfg.warps),
                "pairs": In(cfg.fast_registers),
                "fast_cycles": In(self._length),
                "grant": In(1),
                "asks": Out(1),
                "warp": Out(cfg.warp_bits),
                "pair": Out(cfg.fast_registers.bit_length()),
                "access": Out(2),
                "ends": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """A position, and a counter for the access under way."""
        m = Module()
        cfg, wait = self._cfg, Signal(index_bits(self._cfg.gives.cycles), name="wait")
        here = named(m, "here", select(decode(self.warp, cfg.warps), list(self.resident)))
        due = named(m, "due", here & select(decode(self.pair, cfg.fast_registers), list(self.pairs)))
        idle = named(m, "idle", self.moving & ~wait.any())
        last, steps = named(m, "last_warp", self.warp == cfg.warps - 1), named(m, "steps", idle & ~due)
        slow = self.access[0] ^ self.access[1]
        m.d.comb += [self.asks.eq(idle & due), self.ends.eq(steps & last)]
        with m.If(wait.any()):
            m.d.sync += wait.eq(wait - 1)
        with m.If(self.grant):
            m.d.sync += [
                wait.eq(Mux(slow, cfg.slow_cycles, self.fast_cycles) - 1),
                self.access.eq(self.access + 1),
                self.pair.eq(self.pair + self.access.all()),
            ]
        with m.If(steps):
            m.d.sync += [self.pair.eq(0), self.warp.eq(Mux(last, 0, self.warp + 1))]
        with m.If(self.clear):
            m.d.sync += self.warp.eq(0)
        return m


class StagingLane(wiring.Component):
    """One lane of the two registers that change places.

    Members
    -------
    fill : In(2), read : In(32)    The first or the second of them is there.
    write : In(1), data : Out(32)  Which one is written: the first, or with ``write`` the second.
    """

    def __init__(self, cfg: PilotConfig) -> None:
        self._cfg = cfg
        super().__init__({"fill": In(2), "read": In(32), "write": In(1), "data": Out(32)})

    def elaborate(self, platform) -> Module:
        """Two words."""
        m = Module()
        words = [Signal(32, name=f"staged{number}", reset_less=True) for number in range(2)]
        for fill, word in zip(self.fill, words, strict=True):
            take(m, self._cfg, word.name, [word], (fill, [self.read]))
        m.d.comb += self.data.eq(Mux(self.write, words[1], words[0]))
        return m
