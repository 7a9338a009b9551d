"""Entries to be written and to be read of a place, against plain sets, on seeded random walks."""

import random

from tests.hdl.rf.shrf.bench import config, run
from warpfile.hdl.rf.shrf.place import PlaceEntries


def test_entries_are_marked_by_issues_and_cleared_by_writes_and_reads():
    cfg, rng, met = config(orf_entries=2, lrf="one", collectors=3), random.Random(1), set()
    part, count = PlaceEntries(cfg), cfg.place_entries

    async def bench(ctx):
        written, readers = set(), [0] * count
        for _ in range(600):
            assert ctx.get(part.to_be_written) == sum(1 << e for e in written)
            assert ctx.get(part.to_be_read) == sum(1 << e for e, number in enumerate(readers) if number)
            issues = rng.random() < 0.6
            writes = {e for e in range(count) if rng.random() < 0.3 and e not in written and not readers[e]}
            nears = {e for e in range(count) if rng.random() < 0.5 and readers[e] < cfg.collectors} - writes
            done = {e for e in written if rng.random() < 0.4}
            read = {e for e, number in enumerate(readers) if number and rng.random() < 0.4}
            met.update({(number, e in read, issues and e in nears) for e, number in enumerate(readers)})
            for name, entries in {"writes": writes, "nears": nears, "written": done, "read": read}.items():
                ctx.set(getattr(part, name), sum(1 << e for e in entries))
            ctx.set(part.issues, issues)
            await ctx.tick()
            written = (written - done) | (writes if issues else set())
            readers = [n - (e in read) + (issues and e in nears) for e, n in enumerate(readers)]

    run(part, bench)
    # Up and down in one cycle, at every count; all units have a slot that has yet to read.
    assert {(number, True, True) for number in (1, 2)} <= met and {number for number, *_ in met} == {0, 1, 2, 3}
