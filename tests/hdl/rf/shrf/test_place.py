"""Entries to be written of a place, against plain sets, on a seeded random walk."""

import random

from tests.hdl.rf.shrf.bench import config, run
from warpfile.hdl.rf.shrf.place import PlaceEntries


def test_entries_are_marked_by_issues_until_they_are_written():
    cfg, rng, met = config(orf_entries=2, lrf="one"), random.Random(1), set()
    part, entries = PlaceEntries(cfg), range(3)

    async def bench(ctx):
        written = set()
        for _ in range(300):
            assert ctx.get(part.to_be_written) == sum(1 << e for e in written)
            issues = rng.random() < 0.6
            writes = {e for e in entries if e not in written and rng.random() < 0.4}
            done = {e for e in written if rng.random() < 0.4}
            met.update((e in written, e in writes and issues, e in done) for e in entries)
            for name, some in {"writes": writes, "written": done}.items():
                ctx.set(getattr(part, name), sum(1 << e for e in some))
            ctx.set(part.issues, issues)
            await ctx.tick()
            written = (written - done) | (writes if issues else set())

    run(part, bench)
    assert met == {(False, False, False), (False, True, False), (True, False, False), (True, False, True)}
