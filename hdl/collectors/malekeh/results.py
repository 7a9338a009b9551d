"""What accepted results do to the entries of their warp's caching collector unit."""

from amaranth import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import oldest_one, select
from warpfile.hdl.collectors.malekeh.victims import FirstVictim, entry_members
from warpfile.hdl.naming import named
from warpfile.spec.schemes.malekeh import MalekehConfig

#: What becomes of an accepted result whose warp owns a unit; each is an output with one bit per write-back port.
RESULT_EVENTS = (
    "cache_hit",
    "cache_empty",
    "cache_far",
    "cache_near",
    "far",
    "outdone",
    "met",
    "partial",
    "crowded",
)


class ResultLookup(wiring.Component):
    """One result per cycle may enter the unit if that takes no beat; the others make their register's entry empty.

    Combinational, from the entries at the start of the cycle (docs/schemes/malekeh.md, section 3, step 1). Whether a
    beat comes is known last, so that a user of ``place`` has to ask for it.

    Members
    -------
    See :func:`entry_members`.
    tags : In(ArrayLayout)            Register of each entry that is not empty.
    mine, hinted, full : In(ports)    Accepted results of the unit's warp; near ones; those that write all lanes.
    registers : In(ArrayLayout)       Per port.
    lower : In(ports ** 2)            Bit ``ports * p + q``: the result of p goes to a lower bank than that of q.
    allocate : In(1)                  The unit takes a beat.
    winner : Out(ports)               The result that comes first, one-hot.
    place : Out(unit_entries)         The entry that it enters unless the unit takes a beat, one-hot; zero if there is
                                      none.
    stale : Out(unit_entries)         Entries with a register that a result writes. They become empty, except for that
                                      which a result enters.
    RESULT_EVENTS : Out(ports) each
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                **entry_members(cfg),
                "tags": In(data.ArrayLayout(cfg.register_bits, cfg.unit_entries)),
                **{name: In(cfg.write_ports) for name in ("mine", "hinted", "full")},
                "registers": In(data.ArrayLayout(cfg.register_bits, cfg.write_ports)),
                "lower": In(cfg.write_ports**2),
                "allocate": In(1),
                "winner": Out(cfg.write_ports),
                "place": Out(cfg.unit_entries),
                "stale": Out(cfg.unit_entries),
                **{name: Out(cfg.write_ports) for name in RESULT_EVENTS},
            }
        )

    def elaborate(self, platform) -> Module:
        """Where each result would go; which of them are accepted is known last, so that it chooses at the end."""
        m = Module()
        ports, entries = range(self._cfg.write_ports), self._cfg.unit_entries
        m.submodules.first_victim = first = FirstVictim(self._cfg)
        m.d.comb += [getattr(first, name).eq(getattr(self, name)) for name in entry_members(self._cfg)]
        same = [Cat(tag == self.registers[port] for tag in self.tags) for port in ports]
        found = [named(m, f"found{port}", entries_of & ~self.empty) for port, entries_of in enumerate(same)]
        there = named(m, "there", Cat(places.any() for places in found))
        enters = named(m, "enters", self.full & ~there)
        places = [
            named(m, f"place{port}", found[port] | (first.victim & enters[port].replicate(entries))) for port in ports
        ]
        m.d.comb += self.winner.eq(oldest_one(self.mine & self.hinted, self.lower))
        m.d.comb += [
            self.place.eq(select(self.winner, places)),
            self.stale.eq(select(self.mine, found)),
        ]
        self._classify(m, there, enters, first.victim)
        return m

    def _classify(self, m: Module, there: Value, enters: Value, victim: Value) -> None:
        ports = self._cfg.write_ports
        alone = named(m, "alone", self.winner & (~self.allocate).replicate(ports))
        events = {
            "cache_hit": alone & there,
            "far": self.mine & ~self.hinted,
            "outdone": self.mine & self.hinted & ~self.winner,
            "met": self.winner & self.allocate.replicate(ports),
            "partial": alone & ~self.full & ~there,
            "crowded": alone & enters & (~victim.any()).replicate(ports),
        }
        kinds = {"empty": self.empty, "far": ~self.empty & ~self.near, "near": self.near}
        for kind, members in kinds.items():
            events[f"cache_{kind}"] = alone & enters & (victim & members).any().replicate(ports)
        for name in RESULT_EVENTS:
            m.d.comb += getattr(self, name).eq(events[name])
