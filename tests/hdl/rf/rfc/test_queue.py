"""Write queues against a plain list, on seeded random walks."""

import random

import pytest
from amaranth.sim import Simulator

from warpfile.hdl.rf.rfc.write_queue import QueueLane, WriteQueue, queue_sources
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.rfc import READ_PORTS, RfcConfig


def config(**changes):
    return RfcConfig(**RfcConfig.adapted({**PRESETS["tiny"].config.to_json(), **changes} | {"scheduler": "two_level"}))


def run(part, bench):
    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("depth", (1, 2, 3, 4))
def test_a_write_queue_is_a_queue_that_can_be_searched(depth):
    cfg = config(write_queue=depth, rows=8, collectors=2, source_slots=2)
    part, rng, waiting, met = WriteQueue(cfg), random.Random(depth), [], set()

    async def bench(ctx):
        entries = {}
        for _ in range(400):
            assert ctx.get(part.count) == len(waiting)
            assert (ctx.get(part.full), ctx.get(part.filled)) == (len(waiting) == depth, bool(waiting))
            looked_up = [rng.randrange(8) for _ in range(4)]
            for slot, row in enumerate(looked_up):
                ctx.set(part.rows[slot], row)
            found = sum(1 << slot for slot, row in enumerate(looked_up) if row in waiting)
            assert ctx.get(part.found) == found
            if waiting:
                assert ctx.get(part.head_row) == waiting[0]
                assert entries[ctx.get(part.head)] == waiting[0]
            push, pop = len(waiting) < depth and rng.random() < 0.6, bool(waiting) and rng.random() < 0.5
            met.add((len(waiting), push, pop))
            row = rng.randrange(8)
            ctx.set(part.push, push)
            ctx.set(part.row, row)
            ctx.set(part.pop, pop)
            entry = ctx.get(part.entry)
            await ctx.tick()
            if pop:
                waiting.pop(0)
            if push:
                waiting.append(row)
                entries[entry] = row

    run(part, bench)
    assert {size for size, _, _ in met} == set(range(depth + 1))
    assert depth == 1 or (1, True, True) in met


@pytest.mark.parametrize("ports", (1, 3))
def test_a_lane_of_the_queues_keeps_words_and_write_enables(ports):
    cfg = config(write_queue=2, banks=2, ports=ports)
    part, rng = QueueLane(cfg), random.Random(ports)
    held = {}

    async def bench(ctx):
        for _ in range(200):
            words = [rng.getrandbits(32) for _ in range(queue_sources(cfg))]
            lanes = [rng.getrandbits(1) for _ in range(ports)] + [1] * READ_PORTS
            ctx.set(part.results, sum(word << 32 * n for n, word in enumerate(words[:ports])))
            ctx.set(part.reads, sum(word << 32 * n for n, word in enumerate(words[ports:])))
            ctx.set(part.masks, sum(lane << n for n, lane in enumerate(lanes[:ports])))
            heads, entries, sources, filled = 0, 0, 0, {}
            for bank in range(2):
                entry, source, head = rng.randrange(3), rng.randrange(len(words)), rng.randrange(2)
                heads |= 1 << 2 * bank + head
                if entry < 2:
                    entries |= 1 << 2 * bank + entry
                    sources |= 1 << len(words) * bank + source
                    filled[bank, entry] = words[source], lanes[source]
            ctx.set(part.heads, heads)
            ctx.set(part.entries, entries)
            ctx.set(part.sources, sources)
            for bank in range(2):
                head = 0 if heads >> 2 * bank & 1 else 1
                if (bank, head) in held:
                    seen = ctx.get(part.banks) >> 32 * bank & 0xFFFFFFFF, ctx.get(part.enable) >> bank & 1
                    assert seen == held[bank, head]
            await ctx.tick()
            held.update(filled)

    run(part, bench)
    assert len(held) == 4
