"""Proofs of what an operand window decides about beats: whether one fits, which entries it takes, who leaves for it."""

from amaranth import Cat, Const, Mux, Signal, Value
from amaranth.asserts import AnySeq
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.properties import Miswired, Proof, Properties, at_most_one, passed_over, some_order
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.collectors.bow.fit import SourceFit
from warpfile.hdl.collectors.bow.fit_after import FitAfter
from warpfile.hdl.collectors.bow.take import MakeRoom, TakeEntries
from warpfile.spec.schemes.bow import BowConfig

STATES = ("free", "filling", "clean", "dirty", "evicting")


def config(**changes) -> BowConfig:
    """A small machine."""
    small = {"warps": 2, "lanes": 1, "ports": 3, "banks": 2, "rows": 4, "register_names": 8, "payload_bits": 16}
    return BowConfig(**BowConfig.adapted(small | {"source_slots": 2, "window_entries": 4} | changes))


class WindowProperties(Properties):
    """Properties of a part of an operand window."""

    def __init__(self, part, cfg, *, helped=True):
        super().__init__(part, helped=helped)
        self._cfg, self._entries = cfg, range(cfg.window_entries)


def one_state(entries, entry: int) -> Value:
    """An entry is in exactly one state."""
    bits = Cat(getattr(entries, name)[entry] for name in STATES)
    return at_most_one(bits) & bits.any()


class FitProperties(WindowProperties):
    """A beat fits iff none of its sources is on its way out and the usable entries suffice for those not there."""

    def check(self, m, part):
        cfg, now, fit = self._cfg, part.entries, part.fit
        size, slots = cfg.window_entries, range(cfg.source_slots)
        named = [part.named.word_select(slot, size) for slot in slots]
        m.d.comb += [Assume(one_state(now, entry)) for entry in self._entries]
        for slot in slots:
            m.d.comb += Assume(at_most_one(named[slot] & ~now.free))
        missing, leaving = Const(0), Const(0)
        for slot in slots:
            held = [self._held(now, entry) & named[slot][entry] for entry in self._entries]
            gone = [self._leaves(now, entry) & named[slot][entry] for entry in self._entries]
            hit = fit.hit.word_select(slot, size)
            missing = missing + (part.used[slot] & ~any_of(held))
            leaving = leaving | (part.used[slot] & any_of(gone))
            m.d.comb += Assert(at_most_one(hit), "a source has one entry")
            m.d.comb += Assert(hit == (Cat(held) & part.used[slot].replicate(size)), "a hit is there and not stale")
            m.d.comb += Assert(fit.miss[slot] == (part.used[slot] & ~hit.any()), "a used source is a hit or a miss")
        lost = [now.stale[e] & (now.clean[e] | (now.dirty[e] & ~now.owed[e])) for e in self._entries]
        free = sum((now.free[e] | lost[e] for e in self._entries), Const(0))
        urgent = Cat(now.dirty[e] & self._leaves(now, e) & any_of(self._column(part, named, e)) for e in self._entries)
        m.d.comb += [
            Assert(fit.fits == (~leaving & (free >= missing)), "it fits iff no source leaves and free >= misses"),
            Assert(part.leaving == leaving, "a source leaves if its entry does"),
            Assert(part.urgent == urgent, "urgent are stale owed entries of its sources"),
            Assert(fit.short == (free + sum(now.evicting) < missing), "short if those that leave do not suffice"),
            *self._margins(part, leaving, free, missing),
            Assert((fit.usable & any_of(fit.hit.word_select(slot, size) for slot in slots)) == 0, "no hit is usable"),
            Cover(fit.fits & (missing == len(slots)) & ~now.free.any(), "a beat takes stale entries only"),
            Cover(~fit.fits & ~leaving & now.free.any(), "there are too few entries"),
        ]

    def _margins(self, part, leaving: Value, free: Value, missing: Value) -> list[Assert]:
        """The answers with one entry less and one more."""
        coming = free + sum(part.entries.evicting)
        less = (part.fewer.fits == (~leaving & (free > missing))) & (part.fewer.short == (coming <= missing))
        more = (part.more.fits == (~leaving & (free + 1 >= missing))) & (part.more.short == (coming + 1 < missing))
        return [Assert(less, "the answer with one entry less"), Assert(more, "the answer with one entry more")]

    def _held(self, now, entry: int) -> Value:
        return now.filling[entry] | ((now.clean[entry] | now.dirty[entry]) & ~now.stale[entry])

    def _leaves(self, now, entry: int) -> Value:
        return now.evicting[entry] | (now.dirty[entry] & now.owed[entry] & now.stale[entry])

    def _column(self, part, named, entry: int) -> list[Value]:
        return [part.used[slot] & row[entry] for slot, row in enumerate(named)]


class AfterProperties(WindowProperties):
    """What follows from the answer before a result is the answer for the entries after it."""

    def check(self, m, part):
        cfg, size, slots = self._cfg, self._cfg.window_entries, range(self._cfg.source_slots)
        m.submodules.before, m.submodules.reference = before, reference = SourceFit(cfg), SourceFit(cfg)
        named, used = Signal(size * len(slots)), Signal(len(slots))
        had = Mux(part.had, part.candidate, 0)
        m.d.comb += [
            *(named.eq(AnySeq(len(named))), used.eq(AnySeq(len(used)))),
            *(one.used.eq(used) for one in (before, reference)),
            *(before.entries.eq(part.now), before.named.eq(named)),
            *(reference.entries.eq(part.then), reference.named.eq(named & ~Cat(had for _ in slots))),
            *(Assume(getattr(part, name) == getattr(before, name)) for name in ("fit", "fewer", "more")),
        ]
        self._result(m, part, named, used, had)
        same = {name: part.after[name] == reference.fit[name] for name in ("hit", "miss", "usable", "fits", "short")}
        m.d.comb += [
            *(Assert(holds, f"{name} is that of the entries after the result") for name, holds in same.items()),
            Assert(before.leaving == reference.leaving, "no source leaves or stays because of the result"),
            Assert(before.urgent == reference.urgent, "nor is one more or less urgent"),
            Cover(~before.fit.fits & part.after.fits, "a beat fits because the result gives up its entry"),
            Cover(
                before.fit.fits & ~part.after.fits & (part.after.miss != before.fit.miss), "it takes a source's entry"
            ),
            Cover(before.fit.fits & ~part.after.fits & (part.after.miss == before.fit.miss), "it takes the last entry"),
        ]

    def _result(self, m, part, named: Value, used: Value, had: Value) -> None:
        """One entry changes at most: a new one, or that of the result's register, which no source of the beat names."""
        now, then, size = part.now, part.then, self._cfg.window_entries
        touched, live = Signal(size, name="touched"), Signal(size, name="live")
        rows = [named.word_select(slot, size) & used[slot].replicate(size) & ~now.free for slot in range(len(used))]
        m.d.comb += [
            *(touched.eq(AnySeq(size)), live.eq(any_of(rows))),
            Assume(at_most_one(touched) & ((touched & now.filling) == 0)),
            Assume(at_most_one(part.candidate) & ((part.candidate & ~(now.free | now.clean)) == 0)),
            Assume(Mux(part.had, (touched == part.candidate) & touched.any(), (touched & (live | now.free)) == 0)),
            Assume((then.evicting & ~now.evicting) == 0),
            *(Assume(at_most_one(row)) for row in rows),
            *(Assume((row & other) == 0) for number, row in enumerate(rows) for other in rows[:number]),
        ]
        for entry in self._entries:
            pairs = [(getattr(now, n)[entry], getattr(then, n)[entry]) for n in (*STATES, "owed", "stale")]
            m.d.comb += [
                *(Assume(one_state(seen, entry)) for seen in (now, then)),
                Assume(touched[entry] | Cat(one == other for one, other in pairs).all()),
                Assume(~had[entry] | then.clean[entry] | then.dirty[entry]),
                Assume(~then.filling[entry] | now.filling[entry]),
            ]


class TakeProperties(WindowProperties):
    """Sources that miss take usable entries, in order."""

    def check(self, m, part):
        size, slots = self._cfg.window_entries, range(self._cfg.source_slots)
        taken = [part.taken.word_select(slot, size) for slot in slots]
        given = Signal(size)
        m.d.comb += given.eq(any_of(taken))
        enough = sum(part.miss) <= sum(part.usable)
        for slot in slots:
            m.d.comb += [
                Assert(at_most_one(taken[slot]), "one entry per source"),
                Assert(~enough | (taken[slot].any() == part.miss[slot]), "every source that misses gets one"),
                Assert(~taken[slot].any() | part.miss[slot], "no other source gets one"),
                *(Assert((taken[slot] & taken[other]) == 0, "no entry is taken twice") for other in range(slot)),
                *(
                    Assert(~(taken[slot].any() & taken[other].any()) | (taken[slot] > taken[other]), "in slot order")
                    for other in range(slot)
                ),
            ]
        skipped = [given[high] & part.usable[low] & ~given[low] for high in self._entries for low in range(high)]
        m.d.comb += [
            Assert((given & ~part.usable) == 0, "only usable entries are taken"),
            Assert(~any_of(skipped), "the lowest ones are taken"),
            Cover(part.miss.all() & given[-1] & ~part.usable[0], "all sources miss"),
        ]


class RoomProperties(WindowProperties):
    """Entries that leave so that a beat fits some time: those of its sources, or one victim."""

    def check(self, m, part):
        size, now, fit = self._cfg.window_entries, part.entries, part.fit
        some_order(m, part.older, size)
        m.d.comb += [Assume(one_state(now, entry)) for entry in self._entries]
        hits = any_of(fit.hit.word_select(slot, size) for slot in range(self._cfg.source_slots))
        loose = Cat((now.clean[e] | now.dirty[e]) & ~part.pinned[e] & ~hits[e] & ~fit.usable[e] for e in self._entries)
        stale, victim = loose & now.stale, part.victim
        m.d.comb += [
            Assert(at_most_one(victim), "one victim"),
            Assert((victim & part.pinned) == 0, "a pinned entry never leaves"),
            Assert((victim & hits) == 0, "no victim is a source of the beat"),
            Assert((victim & ~loose) == 0, "a victim is clean or dirty and not counted as free"),
            Assert(~victim.any() | part.wanted, "no entry leaves unless a beat waits"),
            Assert(part.urgent == Mux(part.wanted, part.late, 0), "late sources leave first, all of them"),
            Assert(~(victim.any() & part.urgent.any()), "no victim beside late sources"),
            Assert(~victim.any() | fit.short, "no victim while enough entries are in flight"),
            Assert(
                victim.any() == (part.wanted & ~part.late.any() & fit.short & loose.any()), "a victim if there is one"
            ),
            Assert(~(victim & ~stale).any() | ~stale.any(), "stale ones go first"),
            Assert(~passed_over(Mux(stale.any(), stale, loose), victim, part.older), "the lowest rank goes first"),
            Cover(victim[-1] & (stale == 0) & loose.all(), "the last entry is the oldest of all"),
            Cover(victim[0] & stale.all(), "a stale entry leaves"),
        ]


def proof(part, properties, size: str, wrong: dict, *, regress: bool = False, **changes) -> Proof:
    """Proof of a part without state; ``wrong`` maps assertions to changed wires that break them."""
    cfg = config(**changes)

    def broken(change):
        return lambda: properties(Miswired(part(cfg), **change), cfg, helped=False)

    return Proof(
        f"{part.__module__}.{part.__name__}",
        size,
        lambda: properties(part(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()},
        reach=2,
        regress=regress,
    )


_FIT = {"it fits iff no source leaves and free >= misses": {"used": lambda used: used & ~1}}
_AFTER = {
    "fits is that of the entries after the result": {"more": lambda more: Const(0)},
    "hit is that of the entries after the result": {"candidate": lambda candidate: candidate & ~1},
}
_TAKE = {"every source that misses gets one": {"miss": lambda miss: miss & ~1}}
_ROOM = {"a pinned entry never leaves": {"pinned": lambda pinned: pinned & ~1}}

PROOFS = (
    proof(SourceFit, FitProperties, "of 4 entries, 2 slots", _FIT),
    proof(SourceFit, FitProperties, "of 6 entries, 4 slots", _FIT, regress=True, window_entries=6, source_slots=4),
    proof(FitAfter, AfterProperties, "of 4 entries, 2 slots", _AFTER),
    proof(FitAfter, AfterProperties, "of 7 entries, 4 slots", _AFTER, regress=True, window_entries=7, source_slots=4),
    proof(TakeEntries, TakeProperties, "of 4 entries, 2 slots", _TAKE),
    proof(TakeEntries, TakeProperties, "of 8 entries, 4 slots", _TAKE, regress=True, window_entries=8, source_slots=4),
    proof(MakeRoom, RoomProperties, "of 4 entries, 2 slots", _ROOM),
    proof(MakeRoom, RoomProperties, "of 7 entries, 3 slots", _ROOM, regress=True, window_entries=7, source_slots=3),
)
