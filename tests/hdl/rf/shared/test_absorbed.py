"""The list of absorbed loads: who enters, who waits, who completes."""

from __future__ import annotations

import random

from tests.hdl.rf.shared.bench import config, run
from warpfile.hdl.rf.shared.absorbed import AbsorbedList

SIZE, ROWS = 3, 4


def test_the_list_is_that_of_the_page_in_every_cycle(monkeypatch) -> None:
    part, numbers = AbsorbedList(config(absorbed_loads=SIZE)), random.Random(2)
    entries: list[dict | None] = [None] * SIZE
    seen = {"full": 0, "filled": 0, "done": 0}

    async def bench(ctx) -> None:
        for _ in range(600):
            filled = [numbers.randrange(ROWS) if numbers.random() < 0.3 else None for _ in range(2)]
            room = None in entries
            new = room and numbers.random() < 0.5
            load = {"warp": numbers.randrange(2), "register": numbers.randrange(8), "row": numbers.randrange(ROWS)}
            load["waits"] = numbers.random() < 0.6 and load["row"] not in filled
            free = numbers.random() < 0.6
            for at, row in enumerate(filled):
                ctx.set(part.fill_places[at].row, row or 0)
            ctx.set(part.fill, sum((row is not None) << at for at, row in enumerate(filled)))
            ctx.set(part.enter, new)
            for name, value in {"warp": "warp", "register_name": "register", "waits": "waits"}.items():
                ctx.set(getattr(part, name), load[value])
            ctx.set(part.place.row, load["row"])
            ctx.set(part.free, free)
            ready = next((at for at, one in enumerate(entries) if one and not one["waits"]), None)
            done = ready if free else None
            assert ctx.get(part.room) == room
            assert ctx.get(part.completed) == (done is not None)
            assert ctx.get(part.done) == (0 if done is None else 1 << done)
            if done is not None:
                completion = ctx.get(part.completion)
                assert (completion.writes, completion.tokens) == (1, 0)
                assert (completion.warp, completion.register) == (entries[done]["warp"], entries[done]["register"])
            assert ctx.get(part.valid) == sum((one is not None) << at for at, one in enumerate(entries))
            waiting = sum(bool(one and one["waits"]) << at for at, one in enumerate(entries))
            assert ctx.get(part.waiting) & ctx.get(part.valid) == waiting
            place = entries.index(None) if new else None
            for one in entries:
                if one and one["waits"] and one["row"] in filled:
                    one["waits"] = False
                    seen["filled"] += 1
            if done is not None:
                entries[done] = None
            if place is not None:
                entries[place] = load
            seen["full"] += not room
            seen["done"] += done is not None
            await ctx.tick()

    run(monkeypatch, part, bench)
    assert min(seen.values()) > 20
