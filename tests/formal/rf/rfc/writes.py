"""Proof of what becomes of results and flushed lines: who may write a line, use a read port, go to a queue."""

from amaranth import Cat, Const, Module, Mux, Value
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import data

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Proof, at_most_one
from tests.formal.rf.rfc.parts import proof
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout
from warpfile.hdl.rf.rfc.queued_banks import WRITERS
from warpfile.hdl.rf.rfc.results import SHORT_EVENTS
from warpfile.hdl.rf.rfc.writes import RESULT_FIELDS, CacheWrites
from warpfile.spec.stimulus import Origin


class Candidate:
    """The result on the highest of some ports: whether there is one, its port, its fields."""

    def __init__(self, m: Module, kind: str, results, wanted: Value) -> None:
        self.valid = named(m, f"{kind}_there", wanted.any())
        highest = Cat(bit & ~wanted[number + 1 :].any() for number, bit in enumerate(wanted))
        self.port = named(m, f"{kind}_port", highest)
        for name in RESULT_FIELDS:
            value = Const(0, len(results[0][name]))
            for bit, result in zip(wanted, results, strict=True):
                value = Mux(bit, result[name], value)
            setattr(self, name, named(m, f"{kind}_{name}", value))


class WriteProperties(ConfiguredProperties):
    """Steps 1 and 3 of the page, with whatever the directory may say of the lines."""

    def check(self, m, part):
        self._promised(m, part)
        ports = range(self._cfg.write_ports)
        far = [part.results[port].origin >= Origin.HIT.value for port in ports]
        far = Cat(far) if self._cfg.long_results == "bypass" else Const(0, len(far))
        self.short = Candidate(m, "near", part.results, part.valid & ~far)
        self.long = Candidate(m, "far", part.results, part.valid & far)
        self.fates = self._fates(m, part)
        self._places(m, part)
        short = self._short(m, part)
        long = self._long(m, part)
        self._flush(m, part)
        accepted = Mux(short, self.short.port, 0) | Mux(long, self.long.port, 0)
        m.d.comb += Assert(part.accept == accepted, "no other result is accepted")
        self._shares(m, part)
        self._sources(m, part)
        self._covers(m, part)

    def _promised(self, m, part) -> None:
        """A victim is in the line that may be taken; without lines there is nothing to find. Queues are full or not."""
        m.d.comb += Assume(~(part.victim & part.victim_dead) & (part.line | ~(part.victim | part.victim_dead)))
        for full, place in ((part.short_full, part.short_place), (part.victim_full, part.victim_place)):
            m.d.comb += Assume(full == part.full.bit_select(place.bank, 1))
        if not self._cfg.cache_entries:
            m.d.comb += Assume(~(part.hit | part.line | part.long_met | part.flush_wanted))

    def _fates(self, m, part) -> dict[str, Value]:
        """Which rule decides over the short result: the first that fits."""
        hinted = self.short.hints[self._cfg.hint_at("no_allocate")] & int(self._cfg.allocation == "hinted")
        rules = {
            "write_hit": part.hit,
            "bypass_hint": hinted,
            "bypass_partial": Const(0) if self._cfg.keeps_lanes else ~self.short.full,
            "bypass_full": ~part.line,
            "take": Const(1, 1),
        }
        fates, others = {}, Const(1, 1)
        for name, condition in rules.items():
            fates[name] = named(m, f"fate_{name}", others & condition)
            others = others & ~condition
        return fates

    def _places(self, m, part) -> None:
        """What each writer sends where, and whether that queue is full."""
        self.evicts = named(m, "evicts", self.fates["take"] & part.victim)
        short = Mux(self.evicts, part.victim_place.as_value(), part.short_place.as_value())
        places = (short, part.long_place.as_value(), part.flush_place.as_value())
        layout = location_layout(self._cfg)
        self.banks = [data.View(layout, place).bank for place in places]
        self.full = named(m, "queues_full", Cat(part.full.bit_select(bank, 1) for bank in self.banks))
        sent = [~part.push[n] | (part.push_places[n].as_value() == place) for n, place in enumerate(places)]
        m.d.comb += Assert(Cat(sent).all(), "a result, its victim or a line goes where it lives")

    def _short(self, m, part) -> Value:
        """The short result, or the victim that it sends away. Returns whether it is accepted."""
        short, fates, evicts = self.short, self.fates, self.evicts
        queues = any_of(fates[name] for name in SHORT_EVENTS if name.startswith("bypass")) | evicts
        held = (queues & self.full[0]) | (evicts & part.reads.all())
        accepted = named(m, "short_accepted", short.valid & ~held)
        for name, fate in fates.items():
            seen, expected = getattr(part, name), accepted & fate
            expected = expected if len(seen) == 1 else Mux(expected, short.port, 0)
            m.d.comb += Assert(seen == expected, "a short result goes by the first rule that fits")
        m.d.comb += [
            Assert((part.accept & short.port).any() == accepted, "it is accepted iff its own needs are met"),
            Assert(part.push[0] == (accepted & queues), "nothing is queued for a result that is held"),
            Assert(part.evict == (accepted & evicts), "a victim of worth goes to its queue"),
            Assert(part.evict_dead == (accepted & fates["take"] & part.victim_dead), "a dead one is dropped"),
            Assert(~short.valid | (part.short_warp == short.warp), "lines are those of its warp"),
            Assert(~short.valid | (part.short_register == short.register), "the register is its own"),
        ]
        return accepted

    def _long(self, m, part) -> Value:
        """Past the cache, or into a line if it is partial. Returns whether the long result is accepted."""
        long, hit = self.long, part.long_met & ~(part.long_leaves & part.take)
        merges = hit & ~long.full
        taken = part.push[0] & (self.banks[0] == self.banks[1])
        held = Mux(merges, part.write_hit | part.take, self.full[1] | taken)
        accepted = named(m, "long_accepted", long.valid & ~held)
        m.d.comb += [
            Assert((part.accept & long.port).any() == accepted, "a long result waits for the short one alone"),
            Assert(part.push[1] == (accepted & ~merges), "it is queued unless it is merged"),
            Assert(part.merge == (accepted & merges), "it is merged if it is partial"),
            Assert(part.drop_long == (accepted & hit & long.full), "it invalidates a line if it is not"),
            Assert(~hit | (part.would_merge == part.merge), "its effect on a line is reported: merge"),
            Assert(~hit | (part.would_drop == part.drop_long), "its effect on a line is reported: drop"),
            Assert(part.long == Mux(part.push[1], long.port, 0), "its port is told: queued"),
            Assert(part.long_merge == Mux(part.merge, long.port, 0), "its port is told: merged"),
            Assert(part.long_drop == Mux(part.drop_long, long.port, 0), "its port is told: a line is invalid"),
            Assert(~long.valid | (part.long_warp == long.warp), "lines are those of its warp"),
            Assert(~long.valid | (part.long_register == long.register), "the register is its own"),
        ]
        return accepted

    def _flush(self, m, part) -> None:
        taken = [part.push[writer] & (self.banks[writer] == self.banks[2]) for writer in (0, 1)]
        ports = sum(part.reads) + part.evict < len(part.reads)
        sent = part.flush_wanted & ~part.flush_barred & ~self.full[2] & ~any_of(taken) & ports
        m.d.comb += [
            Assert(part.flush_sent == sent, "a line is sent iff the results leave it queue and port"),
            Assert(part.push[2] == part.flush_sent, "a line that is sent goes to its queue"),
        ]

    def _shares(self, m, part) -> None:
        """Queues, the write port, read ports."""
        banks, claims = self.banks, [*part.claims, Const(1, 1)]
        pairs = [(a, b) for a in range(len(WRITERS)) for b in range(a)]
        lines = sum((part.write_hit, part.take, part.merge))
        users = (part.reads, part.victim_port, part.flush_port)
        m.d.comb += [
            *(Assert(~(bit & self.full[n]), "nothing goes to a full queue") for n, bit in enumerate(part.push)),
            *(Assert(~(part.push[a] & part.push[b]) | (banks[a] != banks[b]), "one entry per queue") for a, b in pairs),
            *(
                Assert(~(part.push[a] & claims[b]) | (banks[a] != banks[b]), "its writer claims it first")
                for a, b in pairs
            ),
            *(Assert(~bit | claims[n], "its writer claims it") for n, bit in enumerate(part.push)),
            Assert(at_most_one(part.writer) & ((part.writer & ~part.accept) == 0), "one accepted result is written"),
            Assert((lines < 2) & (part.writer.any() == (lines == 1)), "one line is written"),
            *(Assert((users[a] & users[b]) == 0, "a read port has one user") for a, b in pairs),
            Assert(at_most_one(part.victim_port) & (part.victim_port.any() == part.evict), "a victim has a port"),
            Assert(at_most_one(part.flush_port) & (part.flush_port.any() | ~part.flush_sent), "a sent line has a port"),
        ]

    def _sources(self, m, part) -> None:
        """Where the data of entries and lines come from."""
        sources, short, long, ports = part.push_sources, self.short, self.long, self._cfg.write_ports
        own = Mux(part.evict, part.victim_port << ports, short.port)
        written = Mux(part.merge, long.port, Mux(part.write_hit | part.take, short.port, 0))
        hit = Mux(part.merge, long.port, Mux(part.write_hit, short.port, 0))
        for number, source in enumerate((own, long.port, part.flush_port << ports)):
            m.d.comb += Assert(~part.push[number] | (sources[number] == source), "an entry has its own data")
        m.d.comb += [
            Assert((part.writer == written) & (part.cache_write == written), "a line has its own data"),
            Assert(part.cache_write_hit == hit, "written lines that were there"),
        ]

    def _covers(self, m, part) -> None:
        short, held = self.short.valid, ~part.accept.any()
        far, lines = self._cfg.long_results == "bypass", bool(self._cfg.cache_entries)
        if far:
            m.d.comb += Cover(short & self.long.valid & held & (part.push[2] == lines), "two results are held")
        if far and lines:
            m.d.comb += Cover(part.push.all() & part.evict & part.drop_long, "victim, long result and line are sent")
        else:
            m.d.comb += Cover(sum(part.push) == 2, "two entries are sent")


_NARROW = {
    "nothing goes to a full queue": {"full": lambda full: full & ~1},
    "one entry per queue": {"long_place": lambda place: place ^ 1},
    "a read port has one user": {"reads": lambda reads: reads & ~1},
    "one line is written": {"take": lambda take: take | 1},
    "its effect on a line is reported: merge": {"would_merge": lambda merges: merges & 0},
    "its effect on a line is reported: drop": {"would_drop": lambda drops: drops & 0},
}
_BLIND = {"nothing goes to a full queue": {"full": lambda full: full & ~1}}
_SIZES = {"banks": 4, "warps": 2}
_ALLOCATE = {"long_results": "allocate", "suspend": "never"}


def _writes(size: str, wrong: dict, *, regress: bool = False, **changes) -> Proof:
    return proof(CacheWrites, WriteProperties, size, wrong, regress=regress, **_SIZES, **changes)


PROOFS = (
    _writes("of 3 ports, 4 banks", _NARROW, allocation="hinted"),
    _writes("of 3 ports, 4 banks, lines know their lanes", _BLIND, regress=True, partial_results="lanes"),
    _writes("of 3 ports, 4 banks, loads enter", _BLIND, regress=True, **_ALLOCATE),
    _writes("of 3 ports, 4 banks, no lines", _BLIND, regress=True, cache_entries=0),
)
