"""Accesses of different lengths: fills and completions that would meet (docs/machine.md, sections 6 and 7)."""

from __future__ import annotations

import pytest

from tests.golden.machines import Baseline, layout_of
from tests.golden.scenario import hand_trace, op, run
from tests.striped.golden import StripedFile
from tests.striped.scheme import StripedConfig
from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.run import observations
from warpfile.golden.scheduler.places import Places
from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment, Result
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import prepare

#: Two units of three slots at two banks; accesses of odd rows take 2 cycles, others 1.
CFG = StripedConfig(banks=2, collectors=2, source_slots=3, bank_ports="1R1W", collect="one", stripe=1)
#: Where the slots read: slot 0 of unit 0 is slow, slot 1 fast, slot 2 slow; all of unit 1 are fast.
ROWS = [1, 2, 3, 4, 4, 4]


class StripedMachine(Baseline):
    """The baseline over the striped file."""

    file_kind = StripedFile


class Even(PlainFile):
    """A rule that says of every place what is so without one."""

    def __init__(self, cfg: Config, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, Location(cfg), lambda bank, row: cfg.bank_cycles)


class EvenMachine(Baseline):
    """The baseline over that file."""

    file_kind = Even


def banks(**changes: object) -> Banks:
    return Banks(CFG.replace(**changes), lambda bank, row: 2 if row % 2 else 1)


def served(part: Banks, cycle: int, *asking: int) -> list[tuple[int, int]]:
    """Slots that are granted, and when their data arrive."""
    return [(index, arrival) for index, _, arrival in part.read(cycle, list(asking), ROWS, [0, 1])]


@pytest.mark.parametrize("collect", ["lowest", "one"])
def test_a_grant_is_delayed_so_that_data_do_not_meet(collect: str) -> None:
    part = banks(collect=collect)
    assert served(part, 0, 0b000001, 0) == [(0, 2)]
    assert served(part, 1, 0, 0b000010) == []  # it would arrive in 2 too
    assert served(part, 2, 0, 0b000010) == [(1, 3)]


def test_the_bank_serves_another_unit_meanwhile() -> None:
    part = banks()
    assert served(part, 0, 0b000001, 0) == [(0, 2)]
    assert served(part, 1, 0, 0b001010) == [(3, 2)]
    assert served(part, 2, 0, 0b000010) == [(1, 3)]


def test_the_bank_serves_another_slot_of_the_unit_meanwhile() -> None:
    part = banks()
    assert served(part, 0, 0b000001, 0) == [(0, 2)]
    assert served(part, 1, 0, 0b000110) == [(2, 3)]
    assert served(part, 2, 0, 0b000010) == []  # the port is busy; its data would meet those of slot 2 as well
    assert served(part, 3, 0, 0b000010) == [(1, 4)]


def test_a_turn_that_is_not_served_is_not_lost() -> None:
    part = banks()
    assert served(part, 0, 0b000001, 0) == [(0, 2)]
    assert served(part, 1, 0, 0b000010) == []
    assert served(part, 2, 0, 0b001010) == [(1, 3)]


def test_every_slot_has_an_input_where_all_are_collected() -> None:
    part = banks(collect="all")
    assert served(part, 0, 0b000001, 0) == [(0, 2)]
    assert served(part, 1, 0, 0b000010) == [(1, 2)]


@pytest.mark.parametrize(("ports", "free"), [("1RW", 2), ("1R1W", 0)])
def test_a_port_is_busy_as_long_as_its_access(ports: str, free: int) -> None:
    part = banks(bank_ports=ports)
    assert part.claim(0, 0, 1)
    assert not part.claim(1, 0, 2)
    assert next(cycle for cycle in range(3) if part.is_free(cycle, 0, 2, writes=False)) == free
    assert part.claim(2, 0, 2)
    assert part.claim(3, 0, 2)


#: Pipelined banks; rows are as long as their number says.
PIPELINED = StripedConfig(
    banks=2, collectors=2, source_slots=3, bank_ports="1R1W", collect="all", stripe=2, bank_occupancy="one"
)


def pipelined(**changes: object) -> Banks:
    return Banks(PIPELINED.replace(**changes), lambda bank, row: row)


def granted(part: Banks, cycle: int, *asking: int, rows: list[int]) -> list[tuple[int, int]]:
    """The same of slots with these rows."""
    return [(index, arrival) for index, _, arrival in part.read(cycle, list(asking), rows, [0, 1])]


@pytest.mark.parametrize("ports", ["1RW", "1R1W"])
def test_a_pipelined_bank_begins_an_access_in_every_cycle(ports: str) -> None:
    part, rows = pipelined(bank_ports=ports), [3] * 6
    assert [granted(part, cycle, 1 << cycle, 0, rows=rows) for cycle in range(3)] == [[(0, 3)], [(1, 4)], [(2, 5)]]
    assert part.claim(3, 0, 3) and part.claim(4, 0, 1)
    assert not part.claim(4, 0, 1)


def test_a_port_that_both_share_begins_one_access_per_cycle() -> None:
    part, rows = pipelined(bank_ports="1RW"), [3] * 6
    assert part.claim(0, 0, 3)
    assert granted(part, 0, 0b1, 0, rows=rows) == []
    assert granted(part, 1, 0b1, 0, rows=rows) == [(0, 4)]


def test_a_row_leaves_its_bank_alone() -> None:
    """One of 3 cycles in 0, and one of 1 cycle that asks from 2 on: both would leave in 3."""
    part, rows = pipelined(), [3, 1, 1, 2, 3, 2]
    assert granted(part, 0, 0b000001, 0, rows=rows) == [(0, 3)]
    assert granted(part, 1, 0b001000, 0, rows=rows) == []  # so would one of 2 cycles in 1
    assert granted(part, 2, 0b000010, 0, rows=rows) == []
    assert granted(part, 3, 0b000010, 0, rows=rows) == [(1, 4)]


def test_a_bank_serves_somebody_else_meanwhile_and_other_banks_know_nothing_of_it() -> None:
    part, rows = pipelined(), [3, 1, 1, 2, 3, 2]
    assert granted(part, 0, 0b000001, 0, rows=rows) == [(0, 3)]
    assert granted(part, 2, 0b001010, 0b000100, rows=rows) == [(3, 4), (2, 3)]
    assert granted(part, 3, 0b000010, 0, rows=rows) == []  # it would meet slot 3
    assert granted(part, 4, 0b000010, 0, rows=rows) == [(1, 5)]


def test_an_input_of_a_unit_is_filled_once_whatever_banks_do() -> None:
    part, rows = pipelined(collect="one"), [3, 1, 1, 2, 3, 2]
    assert granted(part, 0, 0b000001, 0, rows=rows) == [(0, 3)]
    assert granted(part, 2, 0, 0b000010, rows=rows) == []
    assert granted(part, 2, 0, 0b100000, rows=rows) == [(5, 4)]


def test_writes_leave_by_no_way() -> None:
    part, rows = pipelined(bank_ports="1RW"), [3, 1, 1, 2, 3, 2]
    assert part.claim(0, 0, 3)
    assert part.claim(2, 0, 1)
    assert granted(part, 3, 0b000010, 0, rows=rows) == [(1, 4)]
    assert part.claim(4, 0, 3)
    assert granted(part, 6, 0b000010, 0, rows=rows) == [(1, 7)]


def test_who_reads_beside_the_slots_leaves_alone_too() -> None:
    part = pipelined()
    assert part.claim_read(0, 0, 3)
    assert not part.claim_read(2, 0, 1) and not part.is_free(2, 0, 1, writes=False)
    assert part.is_free(2, 0, 2, writes=False) and part.is_free(2, 0, 1, writes=True)
    assert part.claim_read(3, 0, 1)


def test_a_length_beyond_the_longest_is_refused() -> None:
    with pytest.raises(AssertionError, match="an access must take 1 to 2 cycles, not 3"):
        Banks(CFG, lambda bank, row: 3).claim(0, 0)


def test_a_port_completes_one_result_per_cycle() -> None:
    cfg = CFG.replace(stripe=2)
    file = StripedFile(cfg, layout_of("baseline", cfg), None)
    slow, bare = Result(0, 0, True, 2, 0, 1, 0), Result(0, 0, False, 0, 0, 1, 0)
    assert file.place(0, 2) == (0, 1)
    done = []
    for cycle, result in enumerate([slow, bare, bare, bare, None, bare]):
        if result:
            assert file.accept(cycle, [result], 1, int(result.writes)) == 1
        done.append([one.register for one in file.completion.due(cycle)])
        file.edge(cycle)
    # The slow one in 0 + 3 - 1; those without a register at once, but that of 2 meets it, and that of 3 the one before.
    assert done == [[], [0], [2], [0], [0], [0]]


@pytest.mark.parametrize(
    ("collect", "grants", "dispatch"),
    [
        ("lowest", [(3, 0b01), (5, 0b10)], 7),
        ("one", [(3, 0b01), (5, 0b10)], 7),
        ("all", [(3, 0b11)], 6),
    ],
)
def test_a_slow_and_a_fast_operand_of_one_beat(collect: str, grants: list[tuple[int, int]], dispatch: int) -> None:
    """R2 is in row 1 of bank 0, R5 in row 2 of bank 1, R8 in row 4."""
    cfg = CFG.replace(collect=collect, alu_latency=4)
    result = run(cfg, hand_trace([op((2, 5), 8)]), StripedMachine)
    assert result.events("grant") == grants
    assert result.when("dispatch") == [dispatch]


@pytest.mark.parametrize(("dest", "length"), [(2, 3), (4, 1)])
def test_a_write_completes_when_its_bank_is_done(dest: int, length: int) -> None:
    cfg = CFG.replace(stripe=2, alu_latency=4)
    result = run(cfg, hand_trace([op((), dest), op((dest,), 9)]), StripedMachine)
    assert result.when("write")[0] == 7
    assert result.issues()[:2] == [(2, 0), (7 + length, 0)]


@pytest.mark.parametrize("occupancy", ["length", "one"])
@pytest.mark.parametrize("cycles", [1, 3])
@pytest.mark.parametrize("collect", ["lowest", "one", "all"])
def test_a_rule_that_changes_nothing_changes_nothing(collect: str, cycles: int, occupancy: str) -> None:
    cfg = SCHEMES["baseline"].configuration("tiny", collect=collect, bank_cycles=cycles, bank_occupancy=occupancy)
    trace, layout = stress_trace(3, registers=12, length=60), layout_of("baseline", cfg)
    runs = [
        list(observations(machine(cfg, layout), Environment(cfg, prepare(cfg, trace), layout), 100_000))
        for machine in (Baseline, EvenMachine)
    ]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("ports", ["1RW", "1R1W"])
def test_where_accesses_take_a_cycle_a_pipeline_changes_nothing(ports: str) -> None:
    trace, seen = stress_trace(3, registers=12, length=60), []
    for occupancy in ("length", "one"):
        cfg = SCHEMES["baseline"].configuration("tiny", bank_ports=ports, bank_occupancy=occupancy)
        layout = layout_of("baseline", cfg)
        environment = Environment(cfg, prepare(cfg, trace), layout)
        seen.append(list(observations(Baseline(cfg, layout), environment, 100_000)))
    assert seen[0] == seen[1]


def test_a_pipelined_bank_is_quicker_where_they_take_more() -> None:
    """Negative control of both."""
    trace, cycles = stress_trace(3, registers=12, length=60), []
    for occupancy in ("length", "one"):
        cfg = SCHEMES["baseline"].configuration("tiny", bank_cycles=3, bank_occupancy=occupancy)
        layout = layout_of("baseline", cfg)
        environment = Environment(cfg, prepare(cfg, trace), layout)
        cycles.append(len(list(observations(Baseline(cfg, layout), environment, 100_000))))
    assert cycles[1] < cycles[0]
