"""Emptying the cache of places that the scheduler takes back (docs/schemes/rfc.md, section 3, step 3)."""

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one
from warpfile.hdl.naming import named
from warpfile.spec.schemes.rfc import RfcConfig


class FlushEngine(wiring.Component):
    """The line that goes next, and those that need not go. Combinational; lines are place-major.

    Members
    -------
    release : In(active_warps)              Places that are to be let go.
    valid, worthless : In(lines)            Lines that hold a register; of these, those whose value is not to be kept.
    place : Out(active_warps), line : Out(lines)   One-hot, zero if there is nothing to be sent.
    dropped : Out(lines)                    Lines that need not be sent.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "release": In(cfg.active_warps),
                **{name: In(cfg.lines) for name in ("valid", "worthless")},
                "place": Out(cfg.active_warps),
                **{name: Out(cfg.lines) for name in ("line", "dropped")},
            }
        )

    def elaborate(self, platform) -> Module:
        """First the place, then its lowest line."""
        m = Module()
        lines, places = self._cfg.cache_entries, range(self._cfg.active_warps)
        leaving = named(m, "leaving", self.valid & Cat(bit.replicate(lines) for bit in self.release))
        kept = named(m, "kept", leaving & ~self.worthless)
        waits = named(m, "waits", Cat(kept.word_select(place, lines).any() for place in places))
        first = named(m, "first", lowest_one(waits))
        sent = Cat(lowest_one(kept.word_select(place, lines)) & first[place].replicate(lines) for place in places)
        m.d.comb += [
            self.line.eq(sent),
            self.place.eq(first),
            self.dropped.eq(leaving & self.worthless),
        ]
        return m
