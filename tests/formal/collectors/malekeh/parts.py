"""Proofs of what caching collector units choose an entry by: the order of replacement, arbitrary numbers."""

from collections.abc import Callable

from amaranth import Cat, Const, Mux, Signal, Value
from amaranth.hdl import Assert, Assume, Cover
from amaranth.lib import wiring

from tests.formal.properties import (
    Miswired,
    Proof,
    Properties,
    at_most_one,
    past,
    some_order,
)
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.collectors.malekeh.lfsr import Lfsr
from warpfile.hdl.collectors.malekeh.victims import FirstVictim, Victims
from warpfile.spec.schemes.malekeh import MalekehConfig


def config(**changes) -> MalekehConfig:
    """A small machine."""
    small = {"warps": 2, "lanes": 1, "ports": 3, "banks": 2, "rows": 4, "register_names": 8, "payload_bits": 16}
    return MalekehConfig(**MalekehConfig.adapted(small | {"collectors": 3} | changes | {"scheduler": "oldest"}))


class ConfiguredProperties(Properties):
    """Properties of a part that was built for a configuration."""

    def __init__(self, part, cfg, *, helped=True):
        super().__init__(part, helped=helped)
        self._cfg = cfg


class VictimProperties(ConfiguredProperties):
    """Entries that give way: empty ones by index, far ones cyclically from a start, near ones by their last use."""

    def check(self, m, part):
        count = self._cfg.unit_entries
        some_order(m, part.older, count)
        m.d.comb += Assume((part.empty & part.near) == 0)
        missing, victims = self._wanted(m, part)
        given, free = Signal(count), sum(~part.locked)
        m.d.comb += given.eq(any_of(victims))
        pairs = [(a, b, self._before(part, a, b)) for a in range(count) for b in range(count) if a != b]
        for number, victim in enumerate(victims):
            served = missing[number] & (sum(missing[:number], Const(0)) < free)
            m.d.comb += [
                Assert(at_most_one(victim), "one entry per source"),
                Assert(victim.any() == served, "every source gets one while there are any"),
            ]
            for earlier in victims[:number]:
                turned = any_of(victim[a] & earlier[b] & before for a, b, before in pairs)
                m.d.comb += Assert(~turned, "earlier sources get earlier entries")
                m.d.comb += Assert((victim & earlier) == 0, "no entry is given twice")
        skipped = any_of(given[b] & ~given[a] & ~part.locked[a] & before for a, b, before in pairs)
        m.d.comb += [
            Assert((given & part.locked) == 0, "a locked entry never gives way"),
            Assert(~skipped, "no replaceable entry is skipped"),
            Cover(given[0] & part.near[0] & (part.near & ~given).any() & ~part.locked.any(), "an old near one leaves"),
            Cover(given[0] & ~part.near[0] & (part.start == count - 1) & ~part.empty.any(), "a far one after the last"),
        ]

    def _wanted(self, m, part):
        if "victim" in part.signature.members:
            return [Const(1, 1)], [part.victim]
        slots = range(self._cfg.source_slots)
        return list(part.missing), [part.victims.word_select(slot, self._cfg.unit_entries) for slot in slots]

    def _before(self, part, a: int, b: int) -> Value:
        count = self._cfg.unit_entries
        kind_a, kind_b = (Mux(part.empty[entry], 0, Mux(part.near[entry], 2, 1)) for entry in (a, b))
        way_a, way_b = ((entry + count - part.start)[: self._cfg.rank_bits] for entry in (a, b))
        same = Mux(part.empty[a], a < b, Mux(part.near[a], part.older[a * count + b], way_a < way_b))
        return (kind_a < kind_b) | ((kind_a == kind_b) & same)


class LfsrProperties(Properties):
    """A source of numbers that never stops."""

    def check(self, m, part):
        last, stepped = past(m, part.state, "state", part.state.init), past(m, part.step, "step")
        feedback = Mux(part.state[-1], part.state ^ 0xB8, part.state)
        m.d.comb += [
            Assert(part.state.any(), "never zero"),
            Assert(stepped | (part.state == last), "it rests without a step"),
            Assert(~stepped | (Cat(part.state[-1], feedback[:7]) == last), "no value comes from two"),
            Cover(stepped & part.state[-1] & part.state[0], "it feeds back"),
        ]


def _victims(
    part: Callable[..., wiring.Component], size: str, cfg: MalekehConfig, broken: dict, *, regress: bool = False
) -> Proof:
    def wrong(**changes):
        return lambda: VictimProperties(Miswired(part(cfg), **changes), cfg, helped=False)

    return Proof(
        f"hdl.collectors.malekeh.victims.{part.__name__}",
        size,
        lambda: VictimProperties(part(cfg), cfg),
        {message: wrong(**change) for message, change in broken.items()},
        reach=2,
        regress=regress,
    )


def _lfsr() -> Proof:
    def wrong(**changes):
        return lambda: LfsrProperties(Miswired(Lfsr(1), **changes), helped=False)

    return Proof(
        "hdl.collectors.malekeh.lfsr.Lfsr",
        "of 8 bits",
        lambda: LfsrProperties(Lfsr(1)),
        {"no value comes from two": wrong(state=lambda state: state | 0x80)},
        reach=6,
    )


_SMALL, _LARGE = config(unit_entries=4, source_slots=3), config(unit_entries=8, source_slots=2)

_UNLOCKED = {"a locked entry never gives way": {"locked": lambda locked: locked & ~1}}
_STARTLESS = {"no replaceable entry is skipped": {"start": lambda start: Const(0)}}

PROOFS = (
    _victims(FirstVictim, "of 4 entries", _SMALL, _STARTLESS),
    _victims(FirstVictim, "of 8 entries", _LARGE, _UNLOCKED, regress=True),
    _victims(Victims, "of 4 entries, 3 slots", _SMALL, _UNLOCKED | _STARTLESS),
    _victims(Victims, "of 8 entries, 2 slots", _LARGE, _UNLOCKED, regress=True),
    _lfsr(),
)
