"""Which entries hints name, and when a head beat is held for them, against docs/schemes/shrf.md, sections 3 and 5."""

import random

import pytest

from tests.hdl.rf.shrf.bench import config, run, sources, word
from warpfile.hdl.rf.shrf.hold import HeadHold

FILES = [(3, "split"), (2, "one"), (1, "none"), (0, "one"), (0, "split"), (8, "split")]


def entry_of(cfg, slot, value):
    """The table of section 3: the entry that a source names; None for the main register file."""
    if not value:
        return None
    if value <= cfg.orf_entries:
        return value - 1
    return cfg.orf_entries + (slot if cfg.lrf == "split" else 0)


def beats(cfg, rng, count):
    """Beats that keep the rules of section 3: what the slots name, which bring, what the result names."""
    for _ in range(count):
        valid = rng.randrange(1 << cfg.source_slots)
        named, brings, taken = [], 0, set()
        for slot in range(cfg.source_slots):
            value = rng.randrange(cfg.orf_entries + 1 + (cfg.lrf != "none")) if valid >> slot & 1 else 0
            entry = entry_of(cfg, slot, value)
            if entry in taken:
                value, entry = 0, None
            taken.add(entry)
            named.append(value)
            brings |= (0 < value <= cfg.orf_entries and rng.random() < 0.4) << slot
        brought = {entry_of(cfg, slot, value) for slot, value in enumerate(named) if brings >> slot & 1}
        result = rng.choice([0, *(e + 1 for e in range(cfg.place_entries) if e not in brought)])
        yield valid, named, brings, result


@pytest.mark.parametrize(("orf", "lrf"), FILES)
def test_a_head_beat_waits_for_entries_that_are_to_be_written(orf, lrf):
    cfg, rng = config(orf_entries=orf, lrf=lrf), random.Random(f"{orf} {lrf}")
    part, seen = HeadHold(cfg), set()

    async def bench(ctx):
        for valid, named, brings, result in beats(cfg, rng, 400):
            hints = {"source_entry": sources(cfg, *named), "result_entry": result}
            hints |= {"bring": brings} if orf else {}
            buffered, executes = rng.random() < 0.9, rng.random() < 0.9
            written = rng.getrandbits(cfg.place_entries) & rng.getrandbits(cfg.place_entries)
            ctx.set(part.head, {"executes": executes, "source_valid": valid, "hints": word(cfg, **hints)})
            ctx.set(part.buffered, buffered)
            ctx.set(part.to_be_written, written)
            entries = [entry_of(cfg, slot, value) for slot, value in enumerate(named)]
            uses = {*entries, result - 1} - {None, -1}
            waits = any(written >> e & 1 for e in uses)
            assert ctx.get(part.hold) == (buffered and executes and waits)
            seen.add(bool(waits))

    run(part, bench, clocked=False)
    assert seen == {False, True}
