"""Looking registers up among the lines of one place."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import encode
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.rfc import RfcConfig


def entry_bits(cfg: RfcConfig) -> int:
    """Width of the number of a line in its place."""
    return index_bits(cfg.cache_entries)


class TagCheck(wiring.Component):
    """Compares the sources of one beat with the tags of one place, combinationally.

    Members
    -------
    wanted : In(source_slots), registers : In(ArrayLayout)   The sources.
    valid : In(cache_entries), tags : In(ArrayLayout)      Lines with a register, and the register.
    hits : Out(source_slots), entries : Out(ArrayLayout)   Which sources are there, and where.
    lines : Out(cache_entries)                             All lines that are hit.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        lines, slots = cfg.cache_entries, cfg.source_slots
        super().__init__(
            {
                "wanted": In(slots),
                "registers": In(data.ArrayLayout(cfg.register_bits, slots)),
                "valid": In(lines),
                "tags": In(data.ArrayLayout(cfg.register_bits, lines)),
                "hits": Out(slots),
                "entries": Out(data.ArrayLayout(entry_bits(cfg), slots)),
                "lines": Out(lines),
            }
        )

    def elaborate(self, platform) -> Module:
        """One comparator per source and line."""
        m = Module()
        found = []
        for slot, register in enumerate(self.registers):
            same = Cat(valid & (tag == register) for valid, tag in zip(self.valid, self.tags, strict=True))
            found.append(same & self.wanted[slot].replicate(len(self.valid)))
            m.d.comb += [
                self.hits[slot].eq(found[slot].any()),
                self.entries[slot].eq(encode(found[slot], entry_bits(self._cfg))),
            ]
        m.d.comb += self.lines.eq(Cat(Cat(slot[line] for slot in found).any() for line in range(len(self.valid))))
        return m
