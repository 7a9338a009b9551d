"""Fit, new entries and victims of a window against the sentences of the page, over random states."""

import random

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.collectors.bow.fit import SourceFit
from warpfile.hdl.collectors.bow.take import MakeRoom, TakeEntries
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.bow import BowConfig

STATES = ("free", "filling", "clean", "dirty", "evicting")
SIZES = [(2, 1), (3, 3), (6, 3), (9, 7)]


def config(entries, slots):
    values = {**PRESETS["tiny"].config.to_json(), "window_entries": entries, "source_slots": slots}
    return BowConfig(**BowConfig.adapted(values | {"window_writes": "hints"}))


def mask(bits):
    return sum(int(bit) << place for place, bit in enumerate(bits))


def check(part, bench):
    simulator = Simulator(part)
    simulator.add_testbench(bench)
    simulator.run()


class Case:
    """Random entries with registers, and a beat with distinct sources."""

    def __init__(self, rng, entries, slots):
        self.states = rng.choices(STATES, [*rng.choices((0, 1, 4), k=4), 1], k=entries)
        self.owed = [rng.random() < 0.5 for _ in self.states]
        self.stale = [state in ("clean", "dirty") and rng.random() < 0.5 for state in self.states]
        pins = [state == "filling" or rng.random() < 0.3 for state in self.states]
        self.pinned = [
            pin and state != "free" and not old for pin, state, old in zip(pins, self.states, self.stale, strict=True)
        ]
        names = rng.sample(range(2 * entries + slots), entries + slots)
        self.registers = names[:entries]
        self.sources = rng.sample(names, slots)
        self.used = [rng.random() < 0.8 for _ in self.sources]
        self.order = rng.sample(range(entries), entries)

    def drive(self, ctx, part):
        for name in STATES:
            ctx.set(part.entries[name], mask(state == name for state in self.states))
        ctx.set(part.entries.owed, mask(self.owed))
        ctx.set(part.entries.stale, mask(self.stale))

    def late(self, entry):
        return self.states[entry] == "dirty" and self.owed[entry] and self.stale[entry]

    def leaving(self, entry):
        return self.states[entry] == "evicting" or self.late(entry)

    def hit(self, source):
        for entry, state in enumerate(self.states):
            if self.registers[entry] == source and state in ("filling", "clean", "dirty") and not self.stale[entry]:
                return entry
        return None

    def usable(self, entry):
        state = self.states[entry]
        return state == "free" or (
            self.stale[entry] and (state == "clean" or (state == "dirty" and not self.owed[entry]))
        )

    @property
    def wanted(self):
        """Used sources."""
        return [source for source, used in zip(self.sources, self.used, strict=True) if used]

    @property
    def free(self):
        return sum(map(self.usable, range(len(self.states))))

    @property
    def misses(self):
        return [self.hit(source) is None for source in self.wanted].count(True)

    def of_sources(self, condition):
        """Entries with the register of a used source for which a condition holds."""
        entries = range(len(self.states))
        return mask(self.registers[entry] in self.wanted and condition(entry) for entry in entries)

    def fit(self, ctx, part):
        """Set the members of a :func:`fit_layout` input."""
        entries = range(len(self.states))
        hits = [
            used and self.hit(source) == entry
            for source, used in zip(self.sources, self.used, strict=True)
            for entry in entries
        ]
        ctx.set(part.fit.hit, mask(hits))
        ctx.set(part.fit.usable, mask(map(self.usable, entries)))
        ctx.set(part.fit.short, self.free + self.states.count("evicting") < self.misses)


@pytest.mark.parametrize(("entries", "slots"), SIZES)
def test_a_beat_fits_as_the_page_says(entries, slots):
    part, rng, seen = SourceFit(config(entries, slots)), random.Random(entries), set()

    async def bench(ctx):
        for _ in range(250):
            case = Case(rng, entries, slots)
            case.drive(ctx, part)
            ctx.set(part.used, mask(case.used))
            ctx.set(part.named, mask(register == source for source in case.sources for register in case.registers))
            leaving = case.of_sources(case.leaving)
            fits = not leaving and case.free >= case.misses
            assert ctx.get(part.fit.fits) == fits
            assert ctx.get(part.leaving) == bool(leaving)
            assert ctx.get(part.urgent) == case.of_sources(case.late)
            assert ctx.get(part.fit.short) == (case.free + case.states.count("evicting") < case.misses)
            hits = [case.hit(source) if used else None for source, used in zip(case.sources, case.used, strict=True)]
            assert ctx.get(part.fit.hit) == mask(hit == entry for hit in hits for entry in range(entries))
            missing = [used and hit is None for hit, used in zip(hits, case.used, strict=True)]
            assert ctx.get(part.fit.miss) == mask(missing)
            seen.add((fits, bool(leaving)))

    check(part, bench)
    assert seen == {(True, False), (False, True), (False, False)}


@pytest.mark.parametrize(("entries", "slots"), SIZES)
def test_misses_take_the_lowest_entries_in_slot_order(entries, slots):
    part, rng = TakeEntries(config(entries, slots)), random.Random(entries)

    async def bench(ctx):
        for _ in range(300):
            usable = rng.getrandbits(entries)
            left = [entry for entry in range(entries) if usable >> entry & 1]
            miss = [slot in rng.sample(range(slots), min(slots, rng.randint(0, len(left)))) for slot in range(slots)]
            miss = [wants and sum(miss[:slot]) < len(left) for slot, wants in enumerate(miss)]
            ctx.set(part.usable, usable)
            ctx.set(part.miss, mask(miss))
            expected = 0
            for slot, wants in enumerate(miss):
                if wants:
                    expected |= 1 << (slot * entries + left.pop(0))
            assert ctx.get(part.taken) == expected

    check(part, bench)


@pytest.mark.parametrize(("entries", "slots"), SIZES)
def test_the_victim_is_stale_if_possible_and_else_the_oldest_that_is_not_needed(entries, slots):
    part, rng, seen = MakeRoom(config(entries, slots)), random.Random(entries), set()

    async def bench(ctx):
        for _ in range(500):
            case = Case(rng, entries, slots)
            wanted = rng.random() < 0.9
            case.drive(ctx, part)
            case.fit(ctx, part)
            place = {entry: at for at, entry in enumerate(case.order)}
            ctx.set(part.older, mask(place[one] < place[two] for one in range(entries) for two in range(entries)))
            ctx.set(part.pinned, mask(case.pinned))
            late = case.of_sources(case.late)
            ctx.set(part.late, late)
            ctx.set(part.wanted, wanted)
            victim = None
            if wanted and not late and case.free + case.states.count("evicting") < case.misses:
                hits = {case.hit(source) for source in case.wanted}
                loose = [
                    entry
                    for entry in case.order
                    if case.states[entry] in ("clean", "dirty")
                    and not (case.pinned[entry] or entry in hits or case.usable(entry))
                ]
                victim = next(iter([entry for entry in loose if case.stale[entry]] + loose), None)
                if victim is not None:
                    seen.add(case.stale[victim])
            assert ctx.get(part.urgent) == (late if wanted else 0)
            assert ctx.get(part.victim) == (0 if victim is None else 1 << victim)

    check(part, bench)
    assert len(seen) == 2 or slots == 1
