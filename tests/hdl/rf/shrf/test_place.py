"""Entries to be written and to be read of a place, against plain sets, on a seeded random walk."""

import random

from tests.hdl.rf.shrf.bench import config, run
from warpfile.hdl.rf.shrf.place import PlaceEntries


def test_entries_are_marked_by_issues_until_they_are_written_or_for_the_cycle_in_which_they_are_read():
    cfg, rng, met = config(orf_entries=2, lrf="one"), random.Random(1), set()
    part, entries = PlaceEntries(cfg), range(3)

    async def bench(ctx):
        written, read = set(), set()
        for _ in range(300):
            assert ctx.get(part.to_be_written) == sum(1 << e for e in written)
            assert ctx.get(part.to_be_read) == sum(1 << e for e in read)
            met.update((e in written, e in read) for e in entries)
            issues, writes, nears = rng.random() < 0.6, set(), set()
            for e in entries:
                if e not in written:
                    (writes if e not in read and rng.random() < 0.4 else nears).add(e)
            done = {e for e in written if rng.random() < 0.4}
            for name, some in {"writes": writes, "nears": nears, "written": done}.items():
                ctx.set(getattr(part, name), sum(1 << e for e in some))
            ctx.set(part.issues, issues)
            await ctx.tick()
            written = (written - done) | (writes if issues else set())
            read = nears if issues else set()

    run(part, bench)
    assert met == {(False, False), (True, False), (False, True)}
