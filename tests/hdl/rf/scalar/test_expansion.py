"""The phases of the expansion, with banks that take their time."""

from tests.hdl.rf.packed.bench import run
from tests.hdl.rf.scalar.bench import config
from warpfile.hdl.rf.scalar.expansion import Expansion
from warpfile.spec.schemes.scalar import IDLE, READS, WAITS, WRITES


def test_it_reads_and_writes_the_register_of_the_highest_port_when_the_banks_let_it() -> None:
    part = Expansion(config())

    async def wait(ctx, phase: int, cycles: int) -> None:
        for _ in range(cycles):
            asks = phase in (READS, WRITES)
            assert (ctx.get(part.phase), ctx.get(part.engine_valid)) == (phase, asks)
            assert (ctx.get(part.reads), ctx.get(part.writes)) == (0, 0)
            await ctx.tick()

    async def grant(ctx, phase: int) -> None:
        ctx.set(part.engine_grant, 1)
        assert (ctx.get(part.reads), ctx.get(part.writes)) == (phase == READS, phase == WRITES)
        assert ctx.get(part.engine_write) == (phase == WRITES)
        place = part.engine_places[0]
        assert (ctx.get(place.bank), ctx.get(place.row), ctx.get(place.twin)) == (1, 5, phase == READS)
        assert ctx.get(part.register) == 9
        await ctx.tick()
        ctx.set(part.engine_grant, 0)

    async def bench(ctx) -> None:
        await wait(ctx, IDLE, 2)
        for port, register in enumerate((4, 9, 2)):
            ctx.set(part.results[port], register)
            ctx.set(part.homes[port], {"bank": port & 1, "row": 4 + port, "twin": 1})
        ctx.set(part.needs, 0b011)
        await wait(ctx, IDLE, 1)
        ctx.set(part.needs, 0b101)
        await wait(ctx, READS, 3)
        await grant(ctx, READS)
        await wait(ctx, WAITS, 2)
        ctx.set(part.engine_fill, 1)
        for lane, word in enumerate((0xCAFE, 1, 2, 3)):
            ctx.set(part.engine_read[lane], word)
        await wait(ctx, WAITS, 1)
        ctx.set(part.engine_fill, 0)
        ctx.set(part.engine_read[0], 0)
        await wait(ctx, WRITES, 2)
        assert [ctx.get(lane) for lane in part.engine_data] == [0xCAFE] * 4
        await grant(ctx, WRITES)
        await wait(ctx, IDLE, 1)
        assert (ctx.get(part.phase), ctx.get(part.register)) == (READS, 2)

    run(part, bench)
