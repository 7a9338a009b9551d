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
    "partial",
    "crowded",
)


class ResultLookup(wiring.Component):
    """One result per cycle may enter the unit; the others make their register's entry empty.

    Combinational, from the entries at the start of the cycle (docs/schemes/malekeh.md, section 3, step 1).

    Members
    -------
    See :func:`entry_members`.
    tags : In(ArrayLayout)            Register of each entry.
    mine, hinted, full : In(ports)    Accepted results of the unit's warp; near ones; those that write all lanes.
    registers : In(ArrayLayout)       Per port.
    lower : In(ports ** 2)            Bit ``ports * p + q``: the result of p goes to a lower bank than that of q.
    winner : Out(ports)               The result that comes first, one-hot.
    place : Out(unit_entries)         The entry that it enters, one-hot; zero if it enters none.
    stale : Out(unit_entries)         Entries with a register that a result writes.
    invalidate : Out(unit_entries)    Entries that become empty: the stale ones, but for that of ``place``.
    RESULT_EVENTS : Out(ports) each
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                **entry_members(cfg),
                "tags": In(data.ArrayLayout(cfg.tag_bits, cfg.unit_entries)),
                **{name: In(cfg.write_ports) for name in ("mine", "hinted", "full")},
                "registers": In(data.ArrayLayout(cfg.register_bits, cfg.write_ports)),
                "lower": In(cfg.write_ports**2),
                "winner": Out(cfg.write_ports),
                "place": Out(cfg.unit_entries),
                "stale": Out(cfg.unit_entries),
                "invalidate": Out(cfg.unit_entries),
                **{name: Out(cfg.write_ports) for name in RESULT_EVENTS},
            }
        )

    def elaborate(self, platform) -> Module:
        """Where each result would go; which of them are accepted is known last, so that it chooses at the end."""
        m = Module()
        ports, entries = range(self._cfg.write_ports), self._cfg.unit_entries
        m.submodules.first_victim = first = FirstVictim(self._cfg)
        m.d.comb += [getattr(first, name).eq(getattr(self, name)) for name in entry_members(self._cfg)]
        found = [named(m, f"found{port}", Cat(tag == self.registers[port] for tag in self.tags)) for port in ports]
        there = named(m, "there", Cat(places.any() for places in found))
        enters = named(m, "enters", self.full & ~there)
        places = [
            named(m, f"place{port}", found[port] | (first.victim & enters[port].replicate(entries))) for port in ports
        ]
        m.d.comb += self.winner.eq(oldest_one(self.mine & self.hinted, self.lower))
        m.d.comb += [
            self.place.eq(select(self.winner, places)),
            self.stale.eq(select(self.mine, found)),
            self.invalidate.eq(self.stale & ~self.place),
        ]
        self._classify(m, there, enters, first.victim)
        return m

    def _classify(self, m: Module, there: Value, enters: Value, victim: Value) -> None:
        events = {
            "cache_hit": self.winner & there,
            "far": self.mine & ~self.hinted,
            "outdone": self.mine & self.hinted & ~self.winner,
            "partial": self.winner & ~self.full & ~there,
            "crowded": self.winner & enters & (~victim.any()).replicate(self._cfg.write_ports),
        }
        kinds = {"empty": self.empty, "far": ~self.empty & ~self.near, "near": self.near}
        for kind, members in kinds.items():
            enters_here = enters & (victim & members).any().replicate(self._cfg.write_ports)
            events[f"cache_{kind}"] = self.winner & enters_here
        for name in RESULT_EVENTS:
            m.d.comb += getattr(self, name).eq(events[name])
