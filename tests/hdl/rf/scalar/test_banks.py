"""Banks and their scalar banks: each serves on its own, scalar banks come last, a word goes to all lanes."""

import pytest

from tests.hdl.rf.packed.bench import run
from tests.hdl.rf.scalar.bench import config, whole
from warpfile.hdl.rf.scalar.banks import ScalarBanks

WORDS = (0x11, 0x22, 0x33, 0x44)


async def store(ctx, part) -> None:
    """A result of all lanes in bank 0, and a word in its scalar bank, both in row 3 and in one cycle."""
    for port in range(2):
        ctx.set(part.result_places[port], {"bank": 0, "row": 3, "twin": port})
    ctx.set(part.result_masks[0], 0b1111)
    ctx.set(part.result_data[0], sum(word << 32 * lane for lane, word in enumerate(WORDS)))
    ctx.set(part.result_words[1], 0x77)
    ctx.set(part.result_valid, 0b011)
    assert ctx.get(part.accept) == 0b011
    await ctx.tick()
    ctx.set(part.result_valid, 0)
    for slot in range(2):
        ctx.set(part.places[slot], {"bank": 0, "row": 3, "twin": 1 - slot})
    ctx.set(part.requests, 0b11)


@pytest.mark.parametrize(("collect", "first"), [("all", 0b11), ("one", 0b10)])
def test_a_unit_is_served_by_a_bank_and_its_scalar_bank_as_far_as_it_takes_more_than_one(
    monkeypatch, collect, first
) -> None:
    whole(monkeypatch)
    cfg = config(collect=collect)
    part = ScalarBanks(cfg, cfg.gives.engines)

    async def bench(ctx) -> None:
        await store(ctx, part)
        found: dict[int, list[int]] = {}
        for grant in (first, 0b11 & ~first):
            ctx.set(part.requests, 0b11 if grant == first else grant)
            assert ctx.get(part.grant) == grant
            assert ctx.get(part.serves) == (grant >> 1) | (grant & 1) << cfg.banks
            await ctx.tick()
            ctx.set(part.requests, 0)
            assert ctx.get(part.fill) == grant
            for slot in range(2):
                if grant >> slot & 1:
                    shift = 32 * slot if collect == "all" else 0
                    found[slot] = [ctx.get(lane) >> shift & 0xFFFFFFFF for lane in part.fill_data]
        assert found == {0: [0x77] * 4, 1: list(WORDS)}

    run(part, bench)


def test_the_expansion_reads_the_word_before_results_and_sources_and_writes_all_lanes(monkeypatch) -> None:
    whole(monkeypatch)
    cfg = config()
    part = ScalarBanks(cfg, cfg.gives.engines)

    async def bench(ctx) -> None:
        await store(ctx, part)
        ctx.set(part.engine_valid, 1)
        ctx.set(part.engine_places[0], {"bank": 0, "row": 3, "twin": 1})
        ctx.set(part.result_valid, 0b010)
        assert (ctx.get(part.engine_grant), ctx.get(part.grant), ctx.get(part.accept)) == (1, 0b10, 0)
        await ctx.tick()
        assert ctx.get(part.engine_fill) == 1
        assert [ctx.get(lane) for lane in part.engine_read] == [0x77] * 4
        ctx.set(part.engine_write, 1)
        ctx.set(part.engine_places[0].twin, 0)
        for lane in part.engine_data:
            ctx.set(lane, 0x99)
        ctx.set(part.result_valid, 0)
        assert (ctx.get(part.engine_grant), ctx.get(part.grant)) == (1, 0b01)
        await ctx.tick()
        ctx.set(part.engine_valid, 0)
        ctx.set(part.requests, 0b10)
        await ctx.tick()
        assert [ctx.get(lane) >> 32 & 0xFFFFFFFF for lane in part.fill_data] == [0x99] * 4

    run(part, bench)
