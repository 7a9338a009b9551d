"""Proof of what the sources of a beat find in a caching collector unit, and what they bring."""

import itertools

from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties, config
from tests.formal.properties import Miswired, Proof, some_order
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.collectors.malekeh.sources import SourceLookup


class SourceProperties(ConfiguredProperties):
    """What is worked out by shorter ways is what the entry of every slot says."""

    def check(self, m, part):
        entries, slots = range(self._cfg.unit_entries), range(self._cfg.source_slots)
        self._promised(m, part)
        uses = [part.uses.word_select(slot, len(entries)) for slot in slots]
        for low, high in itertools.combinations(entries, 2):
            lower = any_of(uses[a][low] & uses[b][high] for a, b in itertools.combinations(slots, 2))
            both = part.used[low] & part.used[high]
            earlier = part.earlier[len(entries) * low + high]
            m.d.comb += Assert(~both | (earlier == lower), "of two entries that of the lower slot is earlier")
        for slot, entry in itertools.product(slots, entries):
            brought = (part.taken_tags[entry] == part.registers[slot]) & part.miss[slot]
            here = part.uses[slot * len(entries) + entry]
            m.d.comb += [
                Assert(~(here & part.taken[entry]) | brought, "an entry is taken for the source that uses it"),
                Assert(~here | (part.hinted[entry] == part.hints[slot]), "an entry is as near as its source"),
            ]
        m.d.comb += [
            Assert(part.used == any_of(uses), "used are the entries of sources"),
            Assert(part.taken.any() == part.miss.any(), "entries are taken for misses"),
            Assert(part.replaces_far == part.miss_far.any(), "a far register leaves iff a miss takes its entry"),
            Cover(part.hit.any() & part.miss_near.any() & part.earlier.any(), "a miss takes a near entry beside a hit"),
        ]

    def _promised(self, m, part):
        """What unit and scoreboard see to."""
        count = self._cfg.unit_entries
        some_order(m, part.older, count)
        m.d.comb += Assume((part.empty & part.near) == 0)
        pairs = itertools.combinations(range(count), 2)
        m.d.comb += [Assume((part.tags[a] != part.tags[b]) | part.empty[a] | part.empty[b]) for a, b in pairs]
        for a, b in itertools.combinations(range(self._cfg.source_slots), 2):
            m.d.comb += Assume(~(part.valid[a] & part.valid[b]) | (part.registers[a] != part.registers[b]))


def _sources(entries: int, slots: int, *, regress: bool = False) -> Proof:
    cfg = config(unit_entries=entries, source_slots=slots)

    def wrong(**changes):
        return lambda: SourceProperties(Miswired(SourceLookup(cfg), **changes), cfg, helped=False)

    return Proof(
        "hdl.collectors.malekeh.sources.SourceLookup",
        f"of {entries} entries, {slots} slots",
        lambda: SourceProperties(SourceLookup(cfg), cfg),
        {
            "of two entries that of the lower slot is earlier": wrong(earlier=lambda earlier: earlier & ~2),
            "a far register leaves iff a miss takes its entry": wrong(replaces_far=lambda far: far & 0),
        },
        reach=2,
        regress=regress,
    )


PROOFS = (_sources(4, 3), _sources(8, 4, regress=True))
