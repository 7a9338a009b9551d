"""Engines at one bank: who goes before whom, turns, masks, reads, ports that are busy."""

from dataclasses import dataclass, field
from unittest import mock

import pytest
from amaranth.sim import Simulator

from tests.striped.scheme import StripedConfig
from warpfile.hdl.rf.bank import Bank
from warpfile.hdl.rf.engines import Ports
from warpfile.spec.config import Config
from warpfile.spec.contract import Engine

CFG = Config(warps=2, lanes=2, collectors=2, source_slots=1, ports=1, rows=8, register_names=8, banks=2)
FIRST, BETWEEN, LAST = (
    Engine("first", 1, before="results"),
    Engine("between", 1, before="reads"),
    Engine("last", 1, before="last"),
)
MOVER = Engine("mover", 2, reads=True, masked=True)


@dataclass
class Cycle:
    """What is asked of the bank in one cycle; masks over clients of all engines, rows by client."""

    offers: int = 0
    rows: tuple[int, ...] = ()
    writes: int = 0  #: of the clients of engines that read, those that write
    masks: tuple[int, ...] = ()
    result: int | None = None  #: row of a result
    reads: int = 0  #: units that read row 7
    data: int = 0
    lengths: tuple[int, ...] = ()  #: by client, where they differ; 3 for results, 1 for units
    seen: dict[str, int] = field(default_factory=dict)


def run(cfg, engines, cycles):
    """Let a bank serve these cycles; ``seen`` of each gets what it answers. Returns the last data that it read."""
    bank = Bank(cfg, engines, varying=any(cycle.lengths for cycle in cycles))
    simulator = Simulator(bank)
    simulator.add_clock(1e-6)

    async def bench(ctx):
        for cycle in cycles:
            _ask(ctx, bank, cycle)
            names = ("accept", "taken", "grant", "fill", "engine_fill")
            cycle.seen = {name: ctx.get(getattr(bank, name)) for name in names if hasattr(bank, name)}
            pins = bank_pins[0]
            cycle.seen |= {name: ctx.get(getattr(pins, name)) for name in ("read", "write")}
            cycle.seen |= {"read_row": ctx.get(pins.read_row), "write_row": ctx.get(pins.write_row)}
            cycle.seen["mask"] = ctx.get(pins.mask)
            await ctx.tick()

    simulator.add_testbench(bench)
    simulator.run()


bank_pins = []


@pytest.fixture(autouse=True)
def pins():
    """The bank's SRAM is its pins only, which the tests look at."""
    from amaranth import Module

    from warpfile.hdl.rams.bank import BankRam
    from warpfile.hdl.rf import bank

    class Pins(BankRam):
        def __init__(self, cfg):
            super().__init__(cfg)
            bank_pins[:] = [self]

        def elaborate(self, platform):
            return Module()

    with mock.patch.object(bank, "BankRam", Pins):
        yield


def _ask(ctx, bank, cycle):
    ctx.set(bank.offers, cycle.offers)
    for client, row in enumerate(cycle.rows):
        ctx.set(bank.offer_rows[client], row)
    if hasattr(bank, "offer_writes"):
        ctx.set(bank.offer_writes, cycle.writes)
    for client, mask in enumerate(cycle.masks):
        ctx.set(bank.offer_masks[client], mask)
    ctx.set(bank.writes, int(cycle.result is not None))
    ctx.set(bank.write_rows[0], cycle.result or 0)
    ctx.set(bank.masks[0], 0b01)
    ctx.set(bank.requests, cycle.reads)
    for unit in range(2):
        ctx.set(bank.rows[unit], 7)
    if hasattr(bank, "lengths"):
        ctx.set(bank.lengths, [1, 1])
        ctx.set(bank.write_lengths, [3])
    for client, length in enumerate(cycle.lengths):
        ctx.set(bank.offer_lengths[client], length)


def order(ports="1RW"):
    """Who is served, cycle by cycle, while each that has been served does not ask again."""
    wanting = [Cycle(0b111, (1, 2, 3), result=4, reads=1), Cycle(0b110, (1, 2, 3), result=4, reads=1)]
    wanting += [Cycle(0b110, (1, 2, 3), reads=1), Cycle(0b100, (1, 2, 3), reads=1), Cycle(0b100, (1, 2, 3))]
    run(CFG.replace(bank_ports=ports), (LAST, BETWEEN, FIRST)[::-1], wanting)
    return [(cycle.seen["taken"], cycle.seen["accept"], cycle.seen["grant"]) for cycle in wanting]


def test_a_single_port_serves_one_after_the_other_as_engines_declare():
    assert order() == [(0b001, 0, 0), (0, 1, 0), (0b010, 0, 0), (0, 0, 1), (0b100, 0, 0)]


def test_with_two_ports_reads_do_not_wait_for_engines_that_only_write():
    assert order("1R1W") == [(0b001, 0, 1), (0, 1, 1), (0b010, 0, 1), (0b100, 0, 1), (0b100, 0, 0)]


def test_an_order_that_is_not_kept_is_found():
    """Negative control: ports that are never taken let all be served at once."""

    def forget(self, wanted, row, mask):
        self.write = self.write | wanted

    with mock.patch.object(Ports, "writes", forget):
        assert order() != [(0b001, 0, 0), (0, 1, 0), (0b010, 0, 0), (0, 0, 1), (0b100, 0, 0)]


def test_clients_of_one_engine_go_in_turn_and_a_turn_that_is_not_served_is_not_lost():
    cycles = [Cycle(0b11, (1, 2), 0b11, (3, 3)) for _ in range(3)]
    cycles.insert(1, Cycle(0b11, (1, 2), 0b11, (3, 3), result=5))
    run(CFG, (MOVER,), cycles)
    assert [cycle.seen["taken"] for cycle in cycles] == [0b01, 0, 0b10, 0b01]
    assert [cycle.seen["write_row"] for cycle in cycles] == [1, 5, 2, 1]


def test_a_masked_engine_writes_its_lanes_and_another_the_whole_row():
    masked, whole = Cycle(0b01, (1, 2), 0b01, (0b10, 0)), Cycle(0b1, (3,))
    run(CFG, (MOVER,), [masked])
    run(CFG, (BETWEEN,), [whole])
    assert (masked.seen["mask"], masked.seen["write"]) == (0b10, 1)
    assert (whole.seen["mask"], whole.seen["write_row"]) == (0b11, 3)


@pytest.mark.parametrize("length", [1, 3])
def test_what_an_engine_reads_arrives_as_long_after_its_grant_as_an_access_takes(length):
    cycles = [Cycle(0b10, (1, 6), 0b00, (0, 0)), *[Cycle(reads=0b01) for _ in range(2 * length + 1)]]
    run(CFG.replace(bank_cycles=length), (MOVER,), cycles)
    assert (cycles[0].seen["taken"], cycles[0].seen["read"], cycles[0].seen["read_row"]) == (0b10, 1, 6)
    assert [cycle.seen["engine_fill"] for cycle in cycles] == [
        0b10 * (number == length) for number in range(len(cycles))
    ]
    # The single port is busy until then, for the units too.
    assert [cycle.seen["grant"] for cycle in cycles[: length + 1]] == [0] * length + [1]


LONG = StripedConfig(**CFG.to_json(), stripe=2)
PIPELINED = LONG.replace(bank_occupancy="one")


def seen(cycles, name):
    return [cycle.seen[name] for cycle in cycles]


def test_where_accesses_differ_in_length_data_arrive_and_the_port_is_free_when_they_end():
    """An engine's read of 2 cycles, then its write of 3, a result of 3, a unit's read of 1 and the engine's of 3."""
    cycles = [Cycle(0b10, (1, 6), 0b00, (0, 0), lengths=(1, 2), reads=0b01), Cycle(reads=0b01)]
    cycles += [Cycle(0b01, (5, 6), 0b01, (3, 3), lengths=(3, 1)), *[Cycle(result=4) for _ in range(4)]]
    cycles += [Cycle(reads=0b01) for _ in range(2)]
    cycles += [Cycle(reads=0b01), Cycle(0b10, (1, 6), 0b00, (0, 0), lengths=(1, 3)), *[Cycle() for _ in range(4)]]
    run(LONG, (MOVER,), cycles)
    assert seen(cycles, "taken") == [0b10, 0, 0b01, *[0] * 7, 0b10, *[0] * 4]
    assert seen(cycles, "engine_fill") == [0, 0, 0b10, *[0] * 10, 0b10, 0]
    assert seen(cycles, "accept") == [0] * 5 + [1] + [0] * 9
    assert seen(cycles, "grant") == [0] * 8 + [1, 1] + [0] * 5
    assert seen(cycles, "fill") == [0] * 9 + [1, 1] + [0] * 4


def test_a_pipelined_bank_serves_an_engine_in_every_cycle_unless_two_rows_would_leave_it_in_one():
    """Client 0 reads 3 cycles in 0, so client 1 may read 2 cycles in 2, not in 1, and 1 cycle in 4, not in 3."""
    cycles = [Cycle(0b11, (1, 6), 0b00, (0, 0), lengths=(3, 2)), Cycle(0b10, (1, 6), 0b00, (0, 0), lengths=(3, 2))]
    cycles += [Cycle(0b10, (1, 6), 0b00, (0, 0), lengths=(3, 2)), Cycle(0b10, (1, 6), 0b00, (0, 0), lengths=(3, 1))]
    cycles += [Cycle(0b10, (1, 6), 0b00, (0, 0), lengths=(3, 1)), *[Cycle() for _ in range(2)]]
    for ports in ("1RW", "1R1W"):
        run(PIPELINED.replace(bank_ports=ports), (MOVER,), cycles)
        assert seen(cycles, "taken") == [0b01, 0, 0b10, 0, 0b10, 0, 0]
        assert seen(cycles, "engine_fill") == [0, 0, 0, 0b01, 0b10, 0b10, 0]


def test_a_client_that_waits_for_the_way_out_lets_the_next_one_go_and_one_that_writes_does_not_wait():
    """In 2 a row of one cycle would leave with that of the first read; what the turn says is not lost."""
    first = Cycle(0b01, (1, 6), 0b00, (0, 0), lengths=(3, 1))
    other = Cycle(0b11, (1, 6), 0b00, (0, 0), lengths=(3, 1))
    cycles = [first, Cycle(), other, Cycle(0b10, (1, 6), 0b00, (0, 0), lengths=(3, 1))]
    run(PIPELINED, (MOVER,), cycles)
    assert seen(cycles, "taken") == [0b01, 0, 0b01, 0b10]
    cycles = [first, Cycle(), Cycle(0b10, (1, 6), 0b10, (3, 3), lengths=(3, 1))]
    run(PIPELINED, (MOVER,), cycles)
    assert seen(cycles, "taken") == [0b01, 0, 0b10]


def test_results_and_units_take_a_cycle_of_a_pipelined_bank():
    cycles = [Cycle(result=4, reads=0b01, lengths=(1, 1)), *[Cycle(result=4, reads=0b01) for _ in range(2)]]
    cycles += [Cycle(reads=0b01) for _ in range(2)]
    run(PIPELINED, (MOVER,), cycles)
    assert seen(cycles, "accept") == [1, 1, 1, 0, 0]
    assert seen(cycles, "grant") == [0, 0, 0, 1, 1]


def test_with_two_ports_a_long_write_leaves_the_reads_alone():
    cycles = [Cycle(result=4, reads=0b01, lengths=(1, 1)), *[Cycle(result=4, reads=0b01) for _ in range(3)]]
    run(LONG.replace(bank_ports="1R1W"), (MOVER,), cycles)
    assert seen(cycles, "accept") == [1, 0, 0, 1]
    assert seen(cycles, "grant") == [1, 1, 1, 1]
    assert seen(cycles, "fill") == [0, 1, 1, 1]


def test_a_reading_engine_takes_the_single_port_from_results_behind_it():
    mover = Engine("mover", 1, before="results", reads=True)
    cycle, other = Cycle(0b1, (2,), 0, result=4), Cycle(0b1, (2,), 0, result=4)
    run(CFG, (mover,), [cycle])
    run(CFG.replace(bank_ports="1R1W"), (mover,), [other])
    assert (cycle.seen["taken"], cycle.seen["accept"], cycle.seen["write"]) == (1, 0, 0)
    assert (other.seen["taken"], other.seen["accept"], other.seen["write_row"], other.seen["read_row"]) == (1, 1, 4, 2)


def test_with_two_ports_a_client_whose_port_is_taken_lets_the_next_one_go():
    """A result takes the write port: the client that reads is served although the other one's turn is first."""
    cycles = [Cycle(0b11, (1, 2), 0b01, (3, 3), result=4), Cycle(0b11, (1, 2), 0b01, (3, 3))]
    run(CFG.replace(bank_ports="1R1W"), (MOVER,), cycles)
    assert [cycle.seen["taken"] for cycle in cycles] == [0b10, 0b01]
    assert (cycles[0].seen["write_row"], cycles[0].seen["read_row"]) == (4, 2)


def test_an_engine_that_reads_first_makes_units_wait_even_with_two_ports():
    cycles = [Cycle(0b1, (2,), 0, reads=1), Cycle(reads=1)]
    run(CFG.replace(bank_ports="1R1W"), (Engine("mover", 1, reads=True),), cycles)
    assert [cycle.seen["grant"] for cycle in cycles] == [0, 1]


def test_clients_are_numbered_as_engines_are_declared_whoever_goes_first():
    late, early = Engine("late", 2, before="last", reads=True), Engine("early", 1, before="results", reads=True)
    cycles = [Cycle(0b110, (1, 2, 3)), Cycle(0b010, (1, 2, 3)), Cycle()]
    run(CFG, (late, early), cycles)
    assert [cycle.seen["taken"] for cycle in cycles] == [0b100, 0b010, 0]
    assert [cycle.seen["engine_fill"] for cycle in cycles] == [0, 0b100, 0b010]
    assert [cycle.seen["read_row"] for cycle in cycles[:2]] == [3, 2]
