"""Which entries of a caching collector unit the sources of a beat use."""

from amaranth import Cat, Const, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, select
from warpfile.hdl.collectors.malekeh.slot_order import SlotOrder
from warpfile.hdl.collectors.malekeh.victims import Victims, entry_members
from warpfile.hdl.naming import named
from warpfile.spec.schemes.malekeh import MalekehConfig

#: What becomes of a source; each is an output with one bit per source slot.
SOURCE_EVENTS = ("hit", "miss", "miss_empty", "miss_far", "miss_near")


class SourceLookup(wiring.Component):
    """Looks the sources of the owner's next beat up among the tags and finds entries for those that are not there.

    Combinational, from the entries at the start of the cycle (docs/schemes/malekeh.md, section 3, step 5). The unit is
    free, so nothing in it is locked before.

    Members
    -------
    See :func:`entry_members`, without ``locked``.
    tags : In(ArrayLayout)   Registers of the entries that are not empty.
    valid, hints : In(source_slots), registers : In(ArrayLayout)   The sources, all different; near ones.
    uses : Out(source_slots * unit_entries)      Entries of all sources, slot-major, one-hot per slot.
    used, hinted : Out(unit_entries)          Entries of sources; those of them whose register is near.
    replaces_far : Out(1)                        A miss takes an entry with a far register.
    taken : Out(unit_entries), taken_tags : Out(ArrayLayout)   Entries that misses take, and what for; else zero.
    earlier : Out(unit_entries ** 2)             Of two entries of sources, whose slot is lower (:class:`SlotOrder`).
    SOURCE_EVENTS : Out(source_slots) each
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        slots, entries = cfg.source_slots, cfg.unit_entries
        super().__init__(
            {
                **{name: member for name, member in entry_members(cfg).items() if name != "locked"},
                "tags": In(data.ArrayLayout(cfg.register_bits, entries)),
                **{name: In(slots) for name in ("valid", "hints")},
                "registers": In(data.ArrayLayout(cfg.register_bits, slots)),
                "uses": Out(slots * entries),
                **{name: Out(entries) for name in ("used", "hinted", "taken")},
                "taken_tags": Out(data.ArrayLayout(cfg.register_bits, entries)),
                "replaces_far": Out(1),
                "earlier": Out(entries**2),
                **{name: Out(slots) for name in SOURCE_EVENTS},
            }
        )

    def elaborate(self, platform) -> Module:
        """Comparison of every source with every tag, then the sort of what no source was found in."""
        m = Module()
        slots = range(self._cfg.source_slots)
        found = [named(m, f"found{slot}", self._found(slot)) for slot in slots]
        missing = named(m, "missing", self.valid & ~Cat(places.any() for places in found))
        m.submodules.sort = sort = Victims(self._cfg)
        names = ("empty", "near", "start", "older")
        m.d.comb += [getattr(sort, name).eq(getattr(self, name)) for name in names]
        m.d.comb += [sort.locked.eq(any_of(found)), sort.missing.eq(missing)]
        m.submodules.slot_order = order = SlotOrder(self._cfg)
        m.d.comb += [order.found.eq(Cat(found)), order.missing.eq(missing)]
        m.d.comb += [order.taken.eq(self.taken), order.before.eq(sort.before), order.order.eq(sort.order)]
        m.d.comb += [
            self.miss.eq(missing),
            self.hit.eq(self.valid & ~missing),
            self.earlier.eq(order.earlier),
            self.uses.eq(sort.victims | Cat(found)),
            self.used.eq(any_of(found) | self.taken),
        ]
        self._take(m, sort, found)
        self._classify(m, sort)
        return m

    def _found(self, slot: int) -> Value:
        same = Cat(tag == self.registers[slot] for tag in self.tags)
        return same & ~self.empty & self.valid[slot].replicate(self._cfg.unit_entries)

    def _take(self, m: Module, sort: Victims, found: list[Value]) -> None:
        """What comes into the entries: the k-th missing source into the k-th replaceable entry."""
        slots, entries = self._cfg.source_slots, self._cfg.unit_entries
        sources = [Cat(register, hint, Const(1, 1)) for register, hint in zip(self.registers, self.hints, strict=True)]
        numbers = [sort.numbers[number::slots][number:] for number in range(slots)]
        wanted = [named(m, f"wanted{k}", select(number, sources[k:])) for k, number in enumerate(numbers)]
        for entry in range(entries):
            order = sort.order.word_select(entry, entries)[:slots]
            source = named(m, f"source{entry}", select(order, wanted))
            hinted = any_of(places[entry] & hint for places, hint in zip(found, self.hints, strict=True))
            m.d.comb += [
                self.taken_tags[entry].eq(source[:-2]),
                self.hinted[entry].eq(source[-2] | hinted),
                self.taken[entry].eq(source[-1]),
            ]

    def _classify(self, m: Module, sort: Victims) -> None:
        far = named(m, "far", ~self.empty & ~self.near)
        entries, slots = self._cfg.unit_entries, self._cfg.source_slots
        reached = [
            sort.numbers[number::slots].any() & (sort.order[number::entries] & far).any() for number in range(slots)
        ]
        m.d.comb += self.replaces_far.eq(any_of(reached))
        kinds = {"empty": self.empty, "far": far, "near": self.near}
        for kind, members in kinds.items():
            victims = [sort.victims.word_select(slot, entries) for slot in range(slots)]
            taken = Cat((victim & members).any() for victim in victims)
            m.d.comb += getattr(self, f"miss_{kind}").eq(taken)
