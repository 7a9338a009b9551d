"""Which entries of a caching collector unit the sources of a beat use."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.collectors.malekeh.victims import Victims, entry_members
from warpfile.hdl.naming import named
from warpfile.spec.schemes.malekeh import MalekehConfig

#: What becomes of a source; each is an output with one bit per source slot.
SOURCE_EVENTS = ("hit", "miss", "miss_empty", "miss_far", "miss_near")


class SourceLookup(wiring.Component):
    """Looks the sources up among the tags and finds entries for those that are not there.

    Combinational (docs/schemes/malekeh.md, section 3, step 5). The unit is free, so nothing in it is locked before.

    Members
    -------
    See :func:`entry_members`, without ``locked``.
    tags : In(ArrayLayout)   Entries as the beat meets them.
    valid : In(source_slots), registers : In(ArrayLayout)   The sources, all different.
    victims : Out(source_slots * unit_entries)   Entries that misses take, slot-major, one-hot per slot.
    uses : Out(source_slots * unit_entries)      Entries of all sources, in the same way.
    SOURCE_EVENTS : Out(source_slots) each
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        slots, entries = cfg.source_slots, cfg.unit_entries
        super().__init__(
            {
                **{name: member for name, member in entry_members(cfg).items() if name != "locked"},
                "tags": In(data.ArrayLayout(cfg.tag_bits, entries)),
                "valid": In(slots),
                "registers": In(data.ArrayLayout(cfg.register_bits, slots)),
                "victims": Out(slots * entries),
                "uses": Out(slots * entries),
                **{name: Out(slots) for name in SOURCE_EVENTS},
            }
        )

    def elaborate(self, platform) -> Module:
        """Comparison of every source with every tag, then the sort of what no source was found in."""
        m = Module()
        slots, entries = range(self._cfg.source_slots), self._cfg.unit_entries
        found = []
        for slot in slots:
            same = Cat(tag == self.registers[slot] for tag in self.tags)
            found.append(named(m, f"found{slot}", same & self.valid[slot].replicate(entries)))
        m.submodules.sort = sort = Victims(self._cfg)
        m.d.comb += [getattr(sort, name).eq(getattr(self, name)) for name in ("empty", "near", "start", "older")]
        m.d.comb += [
            sort.locked.eq(any_of(found)),
            sort.misses.eq(self.miss),
            self.hit.eq(Cat(entries.any() for entries in found)),
            self.miss.eq(self.valid & ~self.hit),
            self.victims.eq(sort.victims),
            self.uses.eq(sort.victims | Cat(found)),
        ]
        kinds = {"empty": self.empty, "far": ~self.empty & ~self.near, "near": self.near}
        for kind, members in kinds.items():
            taken = Cat((sort.victims.word_select(slot, entries) & members).any() for slot in slots)
            m.d.comb += getattr(self, f"miss_{kind}").eq(taken)
        return m
