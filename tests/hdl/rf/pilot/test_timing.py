"""How long the two parts of a bank keep it, against the worked example of the page."""

import pytest
from amaranth import Cat, Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from tests.hdl.rf.pilot.bench import config, run
from warpfile.hdl.rams.bank import BankRam
from warpfile.hdl.rf import bank as banks
from warpfile.hdl.rf.arrivals import meets
from warpfile.hdl.rf.bank import Bank
from warpfile.hdl.rf.pilot.file import access_cycles

CFG = config(collectors=1, source_slots=3, collect="all", bank_arbitration="oldest", fast_registers=4)
FAST, SLOW = CFG.fast_rows - 1, CFG.fast_rows


class TimedBank(wiring.Component):
    """A bank whose accesses are as long as the file says of these rows, one per slot."""

    def __init__(self, rows, cfg):
        self._rows, self._cfg = rows, cfg
        super().__init__(
            {"requests": In(3), "write": In(1), "high": In(1), "grant": Out(3), "fill": Out(3), "accept": Out(1)}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.bank = bank = Bank(self._cfg, (), True)
        lengths = [access_cycles(CFG, self.high, Const(row, CFG.row_bits)) for row in self._rows]
        waits = Cat(meets(bank.leaving, length) for length in lengths) if hasattr(bank, "leaving") else 0
        m.d.comb += [
            bank.requests.eq(self.requests & ~waits),
            bank.writes.eq(self.write),
            bank.write_rows[0].eq(SLOW),
            bank.write_lengths[0].eq(access_cycles(CFG, self.high, Const(SLOW, CFG.row_bits))),
            self.accept.eq(bank.accept[0]),
            self.grant.eq(bank.grant),
            self.fill.eq(bank.fill),
        ]
        for slot, (row, length) in enumerate(zip(self._rows, lengths, strict=True)):
            m.d.comb += [bank.rows[slot].eq(row), bank.lengths[slot].eq(length)]
        return m


@pytest.fixture(autouse=True)
def pins(monkeypatch):
    """The bank's SRAM is its pins only."""

    class Pins(BankRam):
        def elaborate(self, platform):
            return Module()

    monkeypatch.setattr(banks, "BankRam", Pins)


def fills(rows, high, *, write=False, switch=None, occupancy="length"):
    """Cycle in which the data of each slot arrive, of three that ask from cycle 0 on until they are served."""
    found = {}

    async def bench(ctx):
        asking = 7
        for cycle in range(16):
            ctx.set(part.high, high if switch is None or cycle < switch else not high)
            ctx.set(part.requests, asking)
            ctx.set(part.write, write and cycle == 0)
            assert ctx.get(part.accept) == (write and cycle == 0)
            found.update({slot: cycle for slot in range(3) if ctx.get(part.fill) >> slot & 1})
            assert ctx.get(part.fill).bit_count() <= 1
            asking &= ~ctx.get(part.grant)
            await ctx.tick()

    part = TimedBank(rows, CFG.replace(bank_occupancy=occupancy))
    run(part, bench)
    return tuple(found[slot] for slot in range(3))


def test_a_slow_and_two_fast_reads_of_one_bank_follow_each_other():
    assert fills((SLOW, FAST, FAST), high=1) == (3, 4, 5)
    assert fills((SLOW, FAST, FAST), high=0) == (3, 5, 7)


def test_a_slow_write_goes_first():
    assert fills((SLOW, FAST, FAST), high=1, write=True) == (6, 7, 8)


def test_a_change_of_mode_leaves_the_access_under_way_alone():
    assert fills((FAST, FAST, SLOW), high=0, switch=1) == (2, 3, 6)
    assert fills((FAST, FAST, SLOW), high=1, switch=1) == (1, 3, 6)


def test_a_pipelined_bank_begins_one_after_the_other_and_rows_leave_it_alone():
    assert fills((SLOW, FAST, FAST), high=1, occupancy="one") == (3, 2, 4)
    assert fills((SLOW, FAST, FAST), high=0, occupancy="one") == (3, 4, 5)
    assert fills((SLOW, SLOW, SLOW), high=1, occupancy="one") == (3, 4, 5)


def test_a_slow_write_takes_a_cycle_of_a_pipelined_bank():
    assert fills((SLOW, FAST, FAST), high=1, write=True, occupancy="one") == (4, 3, 5)


def test_rows_leave_alone_whatever_the_mode_was_when_they_were_read():
    """A read of the low mode and one behind it of the high mode would leave in 2; the slow one meets no other."""
    assert fills((FAST, FAST, SLOW), high=0, switch=1, occupancy="one") == (2, 3, 4)
