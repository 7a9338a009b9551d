"""Tags of the lines that one active warp has in the register cache."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, encode, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.rfc.victim import LineOrder, VictimChoice, following, head_bits
from warpfile.spec.schemes.rfc import RfcConfig


def tags_layout(cfg: RfcConfig) -> data.StructLayout:
    """Tags of one place; ``older`` (``lru``) or ``head`` (else) is what the choice of a victim goes by."""
    lines = cfg.cache_entries
    return data.StructLayout(
        {
            "valid": lines,
            "registers": data.ArrayLayout(cfg.register_bits, lines),
            "dead": lines,
            "evict_first": lines,
            "pinned": lines,
            **({"older": lines**2} if cfg.replacement == "lru" else {"head": head_bits(cfg)}),
        }
    )


class CacheTags(wiring.Component):
    """Tags of one place, and what a result would find there. What happens in a cycle is seen from the next.

    Every place looks for itself, so that the place of a result is chosen beside the look-up and not before it.

    Members
    -------
    short_register, long_register : In(register_bits)   Looked up among all lines.
    met, long_met : Out(cache_entries)   Lines that have them.
    victim : Out(cache_entries)       Line that a new register would take, one-hot; zero if all are pinned.
    victim_register : Out(register_bits), victim_held, victim_dead : Out(1)   Its register; it has one; that is dead.
    take : In(cache_entries)          Line that gets ``short_register``, one-hot or zero.
    revive : In(cache_entries)        Line that is written and keeps its register.
    invalidate : In(cache_entries)    Lines that lose their register.
    ends : In(1)                      The place's warp ends: all lines lose theirs. That comes last in a cycle.
    pin : In(cache_entries)           Lines that one more source slot is to read.
    reads : In(ArrayLayout)           Line that each source slot of a unit reads now, one-hot or zero.
    kill, hasten : In(cache_entries)  Lines that become dead, and that become the first to be evicted.
    vacant : In(1)                    The place holds no warp.
    tags : Out(tags_layout(cfg))      State of all lines.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        lines = cfg.cache_entries
        super().__init__(
            {
                **{name: In(lines) for name in ("take", "revive", "invalidate", "pin", "kill", "hasten")},
                **{f"{name}_register": In(cfg.register_bits) for name in ("short", "long")},
                **{name: Out(lines) for name in ("met", "long_met", "victim")},
                "victim_register": Out(cfg.register_bits),
                **{name: Out(1) for name in ("victim_held", "victim_dead")},
                "reads": In(data.ArrayLayout(lines, cfg.source_slots)),
                "ends": In(1),
                "vacant": In(1),
                "tags": Out(tags_layout(cfg)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Registers of every line, a count of its pins, and what orders the lines."""
        m = Module()
        valid, dead = Signal(self._cfg.cache_entries), Signal(self._cfg.cache_entries)
        early = Signal(self._cfg.cache_entries)
        written = named(m, "written", self.take | self.revive)
        m.d.sync += [
            valid.eq((valid & ~self.invalidate & (~self.ends).replicate(len(valid))) | self.take),
            dead.eq((dead | self.kill) & ~written),
            early.eq((early | self.hasten) & ~written),
        ]
        m.d.comb += [
            self.tags.valid.eq(valid),
            self.tags.dead.eq(dead & valid),
            self.tags.evict_first.eq(early & valid),
        ]
        unpin = named(m, "unpin", any_of(self.reads))
        for line in range(self._cfg.cache_entries):
            register = Signal(self._cfg.register_bits, name=f"register{line}", reset_less=True)
            pins = Signal(self._cfg.pin_bits, name=f"pins{line}")
            take(m, self._cfg, register.name, [register], (self.take[line], [self.short_register]))
            m.d.sync += pins.eq(pins + self.pin[line] - unpin[line])
            m.d.comb += [self.tags.registers[line].eq(register), self.tags.pinned[line].eq(pins.any())]
        self._find(m)
        return m

    def _find(self, m: Module) -> None:
        """What is there, and what would leave; then what orders the lines."""
        tags = self.tags
        m.submodules.choice = choice = VictimChoice(self._cfg)
        held = named(m, "gives_way", choice.line & tags.valid)
        m.d.comb += [
            self.met.eq(tags.valid & Cat(register == self.short_register for register in tags.registers)),
            self.long_met.eq(tags.valid & Cat(register == self.long_register for register in tags.registers)),
            *(getattr(choice, name).eq(tags[name]) for name in ("valid", "pinned", "dead", "evict_first")),
            self.victim.eq(choice.line),
            self.victim_register.eq(select(held, list(tags.registers))),
            self.victim_held.eq(held.any()),
            self.victim_dead.eq((held & tags.dead).any()),
        ]
        self._order(m, choice)

    def _order(self, m: Module, choice: VictimChoice) -> None:
        if self._cfg.replacement == "lru":
            m.submodules.order = order = LineOrder(self._cfg)
            m.d.comb += [
                order.touches.eq(Cat(*self.reads, self.take | self.revive)),
                *(seen.eq(order.older) for seen in (choice.older, self.tags.older)),
            ]
            return
        head = Signal(head_bits(self._cfg))
        with m.If(self.vacant):
            m.d.sync += head.eq(0)
        with m.Elif(self.take.any() & choice.advances):
            m.d.sync += head.eq(encode(following(m, self.take), len(head)))
        m.d.comb += [choice.head.eq(head), self.tags.head.eq(head)]
