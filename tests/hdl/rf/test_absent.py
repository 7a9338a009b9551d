"""Banks where some places are none: what is written there is accepted at once, beside all ports, and lost."""

import pytest
from amaranth import Module
from amaranth.sim import Simulator

from tests.hdl.unstamped import inside
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rf import bank, banks, read_side
from warpfile.hdl.rf.banks import Banks
from warpfile.spec.contract import Engine
from warpfile.spec.schemes.regmutex import RegMutexConfig

CFG = RegMutexConfig(warps=2, lanes=1, collectors=1, rows=8, register_names=8, banks=2, bank_skew="none", bank_cycles=2)
ENGINES = (Engine("evictions", 2), Engine("mover", 1, reads=True))


class Pins(BankRam):
    """The SRAM of a bank is its pins only; the test looks at those of the last bank that was built."""

    last: "Pins"

    def __init__(self, cfg):
        super().__init__(cfg)
        Pins.last = self

    def elaborate(self, platform):
        return Module()


@pytest.fixture
def play(monkeypatch):
    """Runs a scene against banks with engines."""
    monkeypatch.setattr(bank, "BankRam", Pins)
    for module in (banks, read_side):
        monkeypatch.setattr(module, "stamp", inside)

    def simulate(scene):
        part = Banks(CFG, ENGINES)

        async def bench(ctx):
            await scene(ctx, part)

        simulator = Simulator(part)
        simulator.add_clock(1e-6)
        simulator.add_testbench(bench)
        simulator.run()

    return simulate


@pytest.mark.parametrize(("absent", "accepted"), [(0b000, 0b100), (0b001, 0b101), (0b011, 0b111), (0b111, 0b111)])
def test_results_for_absent_places_leave_the_port_to_others(play, absent, accepted):
    """Three results for bank 1, of which the last port's goes first; the port stays busy for another cycle."""

    async def scene(ctx, part):
        for port in range(3):
            ctx.set(part.result_places[port], {"bank": 1, "row": 3, "absent": absent >> port & 1})
        ctx.set(part.result_valid, 0b111)
        assert ctx.get(part.accept) == accepted
        assert ctx.get(Pins.last.write) == (absent != 0b111)
        await ctx.tick()
        assert ctx.get(part.accept) == (absent if absent != 0b111 else 0b111)
        assert not ctx.get(Pins.last.write)

    play(scene)


def test_evictions_to_absent_places_need_no_bank_but_reads_do(play):
    async def scene(ctx, part):
        for client in range(3):
            ctx.set(part.engine_places[client], {"bank": 1, "row": 3, "absent": 1})
        ctx.set(part.result_valid, 0b1)
        ctx.set(part.result_places[0], {"bank": 1, "row": 2, "absent": 0})
        ctx.set(part.engine_valid, 0b111)
        assert (ctx.get(part.accept), ctx.get(part.engine_grant)) == (0b1, 0b011)
        ctx.set(part.engine_write, 1)
        assert (ctx.get(part.accept), ctx.get(part.engine_grant)) == (0b1, 0b111)
        ctx.set(part.engine_write, 0)
        await ctx.tick()
        ctx.set(part.result_valid, 0)
        ctx.set(part.engine_valid, 0b100)
        assert ctx.get(part.engine_grant) == 0
        await ctx.tick()
        assert (ctx.get(part.engine_grant), ctx.get(Pins.last.read), ctx.get(Pins.last.read_row)) == (0b100, 1, 3)

    play(scene)
