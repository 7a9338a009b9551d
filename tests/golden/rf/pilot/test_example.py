"""The worked examples at the machine: times of a bank, counts of the pilot, both maps, and when warps get them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import pytest

from tests.golden.machines import Pilot
from tests.golden.rf.pilot.scenario import listed, pilot_config, pilot_layout, run_pilot
from tests.golden.scenario import NOP, Run, Step, hand_trace, op
from warpfile.spec.schemes.pilot import PilotConfig, State
from warpfile.spec.trace import StaticInstruction, Trace

#: One bank with all fast homes below all slow ones.
ONE_BANK = {"banks": 1, "rows": 512, "warps": 4, "domains": 1}
SLOW, FAST, OTHER_FAST = 100, 0, 1  #: rows


def served(*, high: bool, **changes: object) -> dict[int, tuple[int, int]]:
    """A slow read and two fast ones of one bank, all from cycle 0 on: by cycle which is served, and its arrival."""
    cfg = pilot_config(**ONE_BANK, **changes)
    file = Pilot(cfg, pilot_layout(cfg)).file
    file.epochs.high = high
    asking, found = 0b111, {}
    for cycle in range(8):
        for index, _, arrival in file.read(cycle, [asking], [SLOW, FAST, OTHER_FAST], [0]):
            asking ^= 1 << index
            found[cycle] = (index, arrival)
    return found


def test_a_bank_serves_a_slow_read_and_two_fast_ones() -> None:
    assert served(high=True) == {0: (0, 3), 3: (1, 4), 4: (2, 5)}
    assert served(high=False) == {0: (0, 3), 3: (1, 5), 5: (2, 7)}


def test_a_pipelined_bank_serves_them() -> None:
    assert served(high=True, bank_occupancy="one") == {0: (0, 3), 1: (1, 2), 3: (2, 4)}
    assert served(high=False, bank_occupancy="one") == {0: (0, 3), 2: (1, 4), 3: (2, 5)}


@pytest.mark.parametrize(("threshold", "grants"), [(0, [0, 3, 4]), (50, [0, 3, 5])])
def test_a_beat_leaves_when_its_last_operand_is_there(threshold: int, grants: list[int]) -> None:
    """Behind 60 others, so that with a threshold that is never met the mode is low."""
    cfg = pilot_config(profile="none", epoch_threshold=threshold, **ONE_BANK)
    result = run_pilot(cfg, hand_trace([*[NOP] * 60, op((8, 0, 1))]))
    first = result.when("grant")[0]
    assert [cycle - first for cycle in result.when("grant")] == grants
    length = 1 if threshold == 0 else 2
    assert [cycle - first for cycle in result.when("dispatch")] == [grants[-1] + length + 1]


@pytest.mark.parametrize("slots", [1, 3, 8])
def test_a_wide_instruction_is_counted_register_by_register(slots: int) -> None:
    """IMAD.WIDE R4, R4, R6, R8."""
    cfg = pilot_config("tiny", source_slots=slots)
    wide = op((4, 6, 8, 9), dest=4, dest_count=2)
    result = run_pilot(cfg, listed(cfg, hand_trace([wide])))
    counts = result.model.file.phases.counts.of  # type: ignore[attr-defined]
    assert {register: count for register, count in enumerate(counts) if count} == {4: 2, 5: 1, 6: 1, 8: 1, 9: 1}
    assert result.model.counters["pilot_accesses"] == 6


def test_repeated_sources_count_once_and_beats_without_lanes_not_at_all() -> None:
    cfg = pilot_config("tiny")
    result = run_pilot(cfg, listed(cfg, hand_trace([op((3, 3), 3), (op((2,), 5), 0), NOP])))
    assert result.model.file.phases.counts.of[:6] == [0, 0, 0, 2, 0, 0]  # type: ignore[attr-defined]


def often(**times: int) -> list[StaticInstruction]:
    """Instructions that read registers so often: ``R8=90``."""
    return [op((int(name[1:]),)) for name, count in times.items() for _ in range(count)]


def example(pilot: Sequence[Step]) -> Run:
    """A kernel of 12 registers with the compiler's list 4, 5, 6, 7: the pilot, a warp that stays, and ten that follow.

    They come one after the other onto the pilot's slot.
    """
    cfg = pilot_config(ctas=2, pilot_map="always")
    warps = [pilot, [op((11,))] * 900, *[[NOP] * 3] * 10]
    return run_pilot(cfg, listed(cfg, hand_trace(*warps, ctas=range(len(warps))), (4, 5, 6, 7)))


def states(result: Run) -> Iterator[tuple[State, int, int]]:
    """States with their first cycle and their length."""
    cycles = enumerate(f["pilot_state"] for f in result.fields)
    for state, group in groupby(cycles, lambda item: item[1]):
        first, *rest = [cycle for cycle, _ in group]
        yield State(state), first, 1 + len(rest)


def test_the_states_of_a_kernel() -> None:
    result = example(often(R8=4))
    (taken, _), *_ = result.events("kernel")
    exits = next(cycle for cycle, f in enumerate(result.fields) if f["exit"])
    assert list(states(result)) == [
        (State.IDLE, taken, 1),
        (State.LOAD, taken + 1, 4),
        (State.PROFILE, taken + 5, exits - taken - 4),
        (State.SORT, exits + 1, 12),
        (State.REMAP, exits + 13, 4),
        (State.RUN, exits + 17, result.cycles - exits - 17),
    ]
    assert result.when("launch")[0] == taken + 5
    assert result.when("profiling") == list(range(taken + 5, exits + 1))


def homes(result: Run, cycle: int, version: int) -> list[int]:
    """Homes of R0, R4, R8 and R5 by a table."""
    cfg = pilot_config()
    width, table = 1 + 2 * cfg.register_bits, {}
    for number in range(8 * version, 8 * version + 8):
        entry = result.fields[cycle]["swap_table"] >> number * width
        if entry & 1:
            register, home = entry >> 1 & 63, entry >> 1 + cfg.register_bits & 63
            table[register] = home
    return [table.get(register, register) for register in (0, 4, 8, 5)]


@pytest.mark.parametrize(
    ("pilot", "wanted"),
    [
        (often(R8=90, R9=80, R10=70, R11=60), [8, 4, 0, 5]),
        (often(R2=50, R8=40, R0=40, R5=7), [0, 4, 1, 3]),
        ([NOP], [0, 4, 8, 5]),
    ],
)
def test_both_maps(pilot: Sequence[Step], wanted: list[int]) -> None:
    result = example(pilot)
    load, *_ = (first for state, first, _ in states(result) if state == State.PROFILE)
    run, *_ = (first for state, first, _ in states(result) if state == State.RUN)
    assert homes(result, 0, 0) == [0, 4, 8, 5]
    assert homes(result, load, 0) == homes(result, run, 0) == [4, 0, 8, 1]
    assert homes(result, load, 1) == [0, 4, 8, 5]
    assert homes(result, run, 1) == wanted


#: Lengths of a warp behind which another one is launched around the end of REMAP.
WAITS = range(8, 18)


def launched_around_the_end(wait: int) -> tuple[PilotConfig, Trace]:
    """The pilot, a warp that stays, one of so many instructions on the pilot's slot, and another one behind it."""
    cfg = pilot_config(ctas=2)
    warps = [[NOP], [op((11,), 11)] * 30, [NOP] * wait, [NOP]]
    return cfg, listed(cfg, hand_trace(*warps, ctas=range(4)))


def test_a_warp_gets_the_map_of_its_launch() -> None:
    seen = set()
    for wait in WAITS:
        result = run_pilot(*launched_around_the_end(wait))
        run, *_ = (first for state, first, _ in states(result) if state == State.RUN)
        at = result.when("launch")[3]
        assert result.fields[at + 1]["versions"] == (at >= run)
        seen.add(at - run)
    assert {-4, -2, -1, 0} <= seen


def test_the_last_map_is_for_warps_that_come_late() -> None:
    result = example(often(R8=90, R9=80))
    counters = result.model.counters
    assert counters["warps_old_map"] + counters["warps_new_map"] == 12
    assert counters["warps_old_map"] >= 2 and counters["warps_new_map"] >= 2


def test_a_kernel_of_as_few_registers_as_are_fast_is_not_remapped() -> None:
    cfg = pilot_config(ctas=2)
    trace = hand_trace(often(R2=9, R1=3), [op((1,))] * 100, ctas=[0, 1])
    result = run_pilot(cfg, listed(cfg, trace, (2, 1)))
    assert trace.registers == 3
    assert result.events("swap_table") == []
    assert result.model.counters["slow_reads"] == 0
    assert [length for state, _, length in states(result) if state == State.SORT] == [3]
    sorter = result.fields[-1]["sorted"]
    width = 1 + cfg.register_bits + 16
    assert [sorter >> slot * width & 1 for slot in range(4)] == [1, 1, 1, 0]


def test_counters_stop_at_their_largest_value() -> None:
    cfg = pilot_config("tiny")
    counts = Pilot(cfg, pilot_layout(cfg)).file.phases.counts
    for _ in range(65_536):
        counts.held = [3]
        counts.edge()
    assert counts.of[3] == 65_535
