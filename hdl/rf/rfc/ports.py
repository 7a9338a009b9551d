"""Who uses the read ports of the register cache."""

from amaranth import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one
from warpfile.hdl.naming import named
from warpfile.spec.schemes.rfc import READ_PORTS


class ReadPorts(wiring.Component):
    """Source slots have the port of their number; a victim, then a line to be flushed, take the lowest that is left.

    Members
    -------
    reads : In(READ_PORTS)           Ports that source slots use.
    evict, flush : In(1)             A victim is read, only where a port is left; a line wants to be flushed.
    victim_left, flush_left : Out(1) A port is left for it.
    victim_port, flush_port : Out(READ_PORTS)   One-hot, zero if nothing is read.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "reads": In(READ_PORTS),
                **{name: In(1) for name in ("evict", "flush")},
                **{name: Out(1) for name in ("victim_left", "flush_left")},
                **{name: Out(READ_PORTS) for name in ("victim_port", "flush_port")},
            }
        )

    def elaborate(self, platform) -> Module:
        """Both ports of both cases. Whether there is a victim comes last."""
        m = Module()
        free = named(m, "free", ~self.reads)
        first = named(m, "first", lowest_one(free))
        second = named(m, "second", lowest_one(free & ~first))
        wanted = self.flush.replicate(READ_PORTS)
        m.d.comb += [
            self.victim_left.eq(free.any()),
            self.victim_port.eq(first & self.evict.replicate(READ_PORTS)),
            self.flush_left.eq(Mux(self.evict, second.any(), first.any())),
            self.flush_port.eq(Mux(self.evict, second & wanted, first & wanted)),
        ]
        return m
