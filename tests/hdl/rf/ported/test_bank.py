"""A bank of ``ported``: every read is served, and the lowest write-back port writes first."""

from tests.hdl.rf.packed.bench import SimulatedBank, run
from warpfile.hdl.rf.ported import bank as banks
from warpfile.hdl.rf.ported.bank import PlannedBank
from warpfile.schemes import find

CFG = find("modern").configuration("tiny", lanes=1, rows=8)


def test_results_of_one_bank_are_accepted_lowest_port_first_and_read_from_the_next_cycle(monkeypatch) -> None:
    monkeypatch.setattr(banks, "BankRam", SimulatedBank)
    part = PlannedBank(CFG)

    async def bench(ctx) -> None:
        ctx.set(part.writes, 0b110)
        for port, row in enumerate((1, 2, 3)):
            ctx.set(part.write_rows[port], row)
            ctx.set(part.masks[port], 1)
        ctx.set(part.write_data, 7)
        assert ctx.get(part.accept) == 0b010
        ctx.set(part.reads, 1)
        ctx.set(part.read_rows[0], 2)
        await ctx.tick()
        assert (ctx.get(part.fill), ctx.get(part.read_data[0])) == (1, 0)  # as it was
        ctx.set(part.writes, 0b111)
        assert ctx.get(part.accept) == 0b001
        await ctx.tick()
        assert ctx.get(part.read_data[0]) == 7

    run(part, bench)
