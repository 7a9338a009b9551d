"""What the page says of steps, fills and write-backs, cycle by cycle (docs/schemes/ltrf.md, sections 4 to 6)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.golden.machines import Ltrf, layout_of
from tests.golden.rf.ltrf.running import check_pace, checked, observed
from tests.golden.rf.ltrf.scenario import hinted, load, make, prefetch, run_ltrf, since, states
from tests.golden.rf.ltrf.test_random import MET, random_case
from tests.golden.scenario import NOP, hand_trace, op
from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.ltrf.directory import Directory
from warpfile.golden.rf.ltrf.fills import Fills
from warpfile.golden.rf.ltrf.main import MainBanks
from warpfile.golden.rf.ltrf.partition import Partition
from warpfile.golden.rf.ltrf.probes import Probes
from warpfile.golden.rf.ltrf.write_backs import WriteBacks
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.ltrf import EMPTY, MOVING, OPEN, PREFETCH, RELEASING
from warpfile.spec.workload import prepare

TIMES = pytest.mark.parametrize(("access", "beats"), [(a, b) for a in (1, 3, 19) for b in (1, 2, 4)])
MISS = {"cache_lines": 0, "miss_latency": 80}


def test_the_worked_example() -> None:
    """The table of section 11, all of it."""
    program = [prefetch(0, 1, 2), op((), 0), op((), 1), op((), 2), prefetch(1, 3, 4), op((1, 3, 4))]
    result = run_ltrf(make(bank_cycles=3, crossbar_beats=4), hand_trace(program))
    first, second = result.when("enter")
    assert states(result, first, 16) == [OPEN, PREFETCH, *[MOVING] * 13, OPEN]
    assert since(result, first, "step_in", 17) == {2: 0b0111}
    assert since(result, first, "fill_pick", 17) == {4: 0b0111}
    assert since(result, first, "fill_grant", 17) == {5: 0b0111}
    assert since(result, first, "main_beat", 17) == dict.fromkeys(range(9, 13), 0b0111)
    assert since(result, first, "channel_write", 17) == {13: 0b0111}
    assert states(result, second, 18) == [OPEN, PREFETCH, *[MOVING] * 15, OPEN]
    assert since(result, second, "step_out") == {2: 0b0101}
    assert since(result, second, "step_in") == {4: 0b1001}
    assert since(result, second, "back_pick") == {4: 0b0101}
    assert since(result, second, "channel_read") == {5: 0b0101}
    assert since(result, second, "back_grant") == since(result, second, "fill_pick") == {6: 0b0101}
    assert since(result, second, "fill_grant") == {7: 0b0101}
    backs, fills = dict.fromkeys(range(7, 11), 0b0101 << 4), dict.fromkeys(range(11, 15), 0b0101)
    assert since(result, second, "main_beat") == backs | fills
    assert since(result, second, "main_write") == {11: 0b0101}
    assert since(result, second, "channel_write") == {15: 0b0101}
    occupied = [f["bank_occupied"] for f in result.fields[second + 3 : second + 6]]
    assert occupied == [0b0111, 0b0010, 0b0111]
    assert result.model.operands_checked


@TIMES
def test_a_fill(access: int, beats: int) -> None:
    result = run_ltrf(make(bank_cycles=access, crossbar_beats=beats), hand_trace([prefetch(5), op((5,))]))
    (e,) = result.when("enter")
    g, last = e + 5, access + beats
    assert result.when("fill_grant") == [g] and result.when("fill_pick") == [g - 1]
    assert result.when("main_beat") == [*range(g + access + 1, g + last + 1)]
    assert result.when("main_busy") == [*range(g + 1, g + access)]
    assert result.when("channel_write") == [g + last + 1]
    assert result.when("in_valid") == [*range(e + 4, g + last + 2)]
    assert states(result, g + last + 2, 2) == [MOVING, OPEN]


@TIMES
def test_a_write_back(access: int, beats: int) -> None:
    program = [prefetch(5), op((), 5), prefetch(), *[NOP] * 24]
    result = run_ltrf(make(bank_cycles=access, crossbar_beats=beats), hand_trace(program))
    e = result.when("enter")[1]
    assert since(result, e, "out_valid") == {4: 1, 5: 1}
    assert since(result, e, "back_phase") == {5: 1, 6: 2, **dict.fromkeys(range(7, 7 + beats), 3)}
    filling = dict.fromkeys(range(7, 7 + beats), 1 << 2)
    assert since(result, e, "latch_state") == filling | {7 + beats: 2 << 2}
    assert since(result, e, "main_write") == {7 + beats: 0b10}
    assert [*since(result, e, "main_busy")] == [*range(8 + beats, 7 + beats + access)]
    assert states(result, e + 7 + beats, 2) == [MOVING, OPEN], "it is in the latch"


@pytest.mark.parametrize(
    ("changes", "apart"),
    [
        ({"bank_cycles": 7, "crossbar_beats": 4}, 7),
        ({"bank_cycles": 3, "crossbar_beats": 4}, 4),
        ({"bank_cycles": 7, "crossbar_beats": 4, "main_pipelined": 1}, 4),
        ({"bank_cycles": 7, "crossbar_beats": 4, "latches": 0}, 11),
    ],
)
def test_how_often_a_main_bank_is_read(changes: dict[str, int], apart: int) -> None:
    """R1 and R5 are in main bank 1."""
    first, second = run_ltrf(make(**changes), hand_trace([prefetch(1, 5), op((1, 5))])).when("fill_grant")
    assert second - first == apart


def test_one_step_in_a_part() -> None:
    """R0, R4 and R8 are in part 0, R3 is in part 3; of two that step part 0 has the first free bank."""
    cfg = make()
    result = run_ltrf(cfg, hand_trace([prefetch(0, 3, 4, 8), op((0, 3)), prefetch(), NOP]))
    first, second = result.when("enter")
    assert since(result, first, "step_in", 6) == {2: 0b1001, 3: 0b0001, 4: 0b0001}
    assert since(result, first, "step_register", 6) == {2: 3 << 3 * cfg.register_bits, 3: 4, 4: 8}
    assert since(result, second, "step_out") == {2: 0b1001, 3: 0b0001, 4: 0b0001}
    assert [f["look_up_banks"] for f in result.fields if f["check"]] == [1 << 2], "R0 in bank 0, R3 in bank 1"


def test_places_take_banks_from_different_ones_on_and_give_all_back_at_exit() -> None:
    result = run_ltrf(make(active_warps=2), hand_trace([prefetch(0), op((0,))], [prefetch(0), op((0,))]))
    taken = [f["bank_occupied"] for f in result.fields]
    assert max(taken) == 1 << 4 + 2 | 1, "bank 0 of place 0, bank 2 of place 1"
    wide = run_ltrf(make(), hand_trace([prefetch(0, 1, 2, 3), op((0,))], [NOP]))
    end = wide.when("exit")[0]
    assert [wide.fields[cycle]["bank_occupied"] for cycle in (end, end + 1)] == [0b1111, 0]
    assert states(wide, end, 2) == [OPEN, EMPTY]


@pytest.mark.parametrize(
    ("scheme", "changes", "backs", "left"),
    [("ltrf", {}, 3, 1), ("ltrf", {"moved_back": "dirty"}, 1, 3), ("ltrf_plus", {}, 1, 3)],
)
def test_what_a_place_writes_back_that_is_released(scheme: str, changes: dict[str, Any], backs: int, left: int) -> None:
    """R0 was written, R3 is what a full load brings; R1, R2 were not written, and so are not live."""
    program = [prefetch(0, 1, 2, 3), op((), 0), load(3), op((3,))]
    cfg = make(scheme, **changes | MISS)
    result = run_ltrf(cfg, hinted(cfg, hand_trace(program)))
    counters = result.model.counters
    assert (counters["release_backs"], counters["unsaved_releases"]) == (backs, left)
    start = next(cycle for cycle, f in enumerate(result.fields) if f["place_state"] == RELEASING)
    assert since(result, start, "step_out", 8) == {0: 0b1111}
    assert result.model.operands_checked


@pytest.mark.parametrize(("recall", "again", "new"), [("always", 2, 2), ("spared", 0, 3)])
def test_what_comes_back_before_a_prefetch(recall: str, again: int, new: int) -> None:
    """The second PREFETCH waits for the load, so that the warp leaves. R6 need not come back, and R4 comes then."""
    cfg = make(recall=recall, **MISS)
    result = run_ltrf(cfg, hand_trace([prefetch(4, 6), load(4), prefetch(4), op((4,))]))
    counters = result.model.counters
    assert counters["refetches"] == 1 and counters["suspends_long"] == 1
    assert counters["refetch_fills"] == again and counters["prefetch_fills"] == new
    assert result.model.operands_checked == 1


def test_a_parked_result_passes_the_latch() -> None:
    """Accepted with its last beat, written as soon as the latch is full."""
    cfg = make(bank_cycles=3, crossbar_beats=4, **MISS)
    result = run_ltrf(cfg, hand_trace([prefetch(5), load(5), op((5,))]))
    (p,) = result.when("parked")
    assert since(result, p, "latch_state", 8) == dict.fromkeys(range(1, 5), 1 << 2) | {5: 2 << 2}
    assert since(result, p, "main_beat", 6) == dict.fromkeys(range(1, 5), 1 << 8)
    assert result.when("write")[-1] == p + 4 and result.when("main_write")[-1] == p + 5
    assert result.model.operands_checked == 1


class Alone:
    """Fills and write-backs without a machine: two places, four banks on either side. ``probes`` by probe and cycle."""

    def __init__(self, work: dict[int, list[tuple[str, int, int, int]]], cycles: int = 40, **changes: int) -> None:
        cfg = make(active_warps=2, **changes)
        layout = layout_of("ltrf", cfg)
        probes, cache = Probes(cfg, layout), Banks(cfg.cache)
        main, directory = MainBanks(cfg, probes), Directory(cfg, [Partition(cfg), Partition(cfg)], probes)
        fills = Fills(cfg, cache, main, directory, probes)
        backs = WriteBacks(cfg, cache, main, directory, fills, probes)
        self.fields = []
        for cycle in range(cycles):
            for kind, place, bank, home in work.get(cycle, ()):
                getattr(directory, kind)(place, bank, (home, place))
            if fills.storing:
                fills.store(cycle)
            backs.load(cycle)
            main.choose(cycle)
            fills.choose(cycle)
            backs.choose(cycle, 0)
            fills.edge(cycle)
            backs.edge(cycle)
            main.write_back(cycle)
            self.fields.append(layout.unpack(probes.edge() << probes.first))

    def when(self, probe: str, bank: int) -> list[int]:
        """Cycles in which a bank has this event."""
        return [cycle for cycle, f in enumerate(self.fields) if f[probe] >> bank & 1]


def test_a_write_waits_for_a_fill_that_asks_after_a_write() -> None:
    """Write-backs of cache banks 0 and 1 to main bank 0; from 4 on a fill of bank 2, which the array lets in in 8."""
    backs = [("back", 0, 0, 0), ("back", 0, 1, 0)]
    alone = Alone({0: backs, 4: [("fill", 0, 2, 0)]}, bank_cycles=4, crossbar_beats=1)
    assert alone.when("back_grant", 0) == [2] and alone.when("fill_grant", 2) == [8]
    assert alone.when("main_write", 0)[0] == 4 and alone.when("back_grant", 1) == [9]
    without = Alone({0: backs}, bank_cycles=4, crossbar_beats=1)
    assert without.when("back_grant", 1) == [5], "the latch is free again in 5"


def test_a_fill_waits_for_a_full_latch() -> None:
    """The latch is full in 4 and written in 5, when the fill of bank 0, granted in 1, has left the array."""
    work = {0: [("fill", 0, 0, 0), ("back", 0, 1, 0)], 3: [("fill", 0, 2, 0)]}
    alone = Alone(work, bank_cycles=4, crossbar_beats=1)
    assert alone.when("fill_grant", 0) == [1] and alone.when("main_write", 0) == [5]
    assert alone.when("fill_pick", 2) == [4] and alone.when("fill_grant", 2) == [9]


def test_a_fill_waits_until_its_cache_bank_was_read() -> None:
    """Cache bank 0 reads for place 1 first, and for place 0 when that has passed: picked in 7, read in 8."""
    work = {0: [("back", 1, 0, 1)], 1: [("back", 0, 0, 2), ("fill", 0, 0, 3)]}
    alone = Alone(work, bank_cycles=3, crossbar_beats=4)
    assert alone.when("back_grant", 0) == [2, 9] and alone.when("channel_read", 0) == [1, 8]
    assert alone.when("fill_pick", 0) == [9]


@pytest.mark.parametrize(("duplex", "granted"), [(1, 2), (0, 1 + 3 + 4)])
def test_what_duplex_is_for(duplex: int, granted: int) -> None:
    """A fill of place 0 in cache bank 0 is granted in 1; place 1 has a write-back there, to another main bank."""
    work = {0: [("fill", 0, 0, 0), ("back", 1, 0, 1)]}
    assert Alone(work, bank_cycles=3, crossbar_beats=4, duplex=duplex).when("back_grant", 0) == [granted]


@pytest.mark.parametrize(("latches", "granted"), [(1, 2), (0, 1 + 3 + 4)])
def test_what_latches_are_for(latches: int, granted: int) -> None:
    """The same with another cache bank and one main bank."""
    work = {0: [("fill", 0, 0, 0), ("back", 1, 1, 0)]}
    alone = Alone(work, bank_cycles=3, crossbar_beats=4, latches=latches)
    assert alone.when("fill_grant", 0) == [1] and alone.when("back_grant", 1) == [granted]


def test_main_and_cache_banks_take_turns() -> None:
    """Cache banks 0 and 1 fill from main bank 0 for places 0 and 1 each; every pointer is at 0 first."""
    work = {0: [("fill", place, bank, 0) for place in (0, 1) for bank in (0, 1)]}
    alone = Alone(work, bank_cycles=1, crossbar_beats=1)
    order = [f["fill_grant"] for f in alone.fields if f["fill_grant"]]
    assert order == [1, 2, 1, 2]


def test_random_programs_end_with_every_value_right() -> None:
    total: Counter[str] = Counter()
    parts = [{"recall": "spared"}, {"duplex": 0}, {"latches": 0}, {"duplex": 0, "latches": 0}]
    for seed in range(8):
        cfg, trace = random_case(seed, **parts[seed // 2])
        print(f"seed {seed}")
        counters = checked(cfg, trace).counters
        total += Counter({name: counters[name] for name in MET})
    assert all(total[name] for name in MET), total


def test_a_fill_that_comes_too_soon_is_found() -> None:
    cfg, trace = random_case(0, crossbar_beats=4)
    _, _, fields = observed(cfg, trace)
    check_pace(cfg, fields)
    granted = next(cycle for cycle, f in enumerate(fields) if f["fill_grant"])
    fields[granted + 1]["fill_grant"] |= fields[granted]["fill_grant"]
    with pytest.raises(AssertionError):
        check_pace(cfg, fields)


def test_an_interval_that_is_too_large_sets_the_error() -> None:
    """R4 finds no free bank of four in the second step of part 0."""
    cfg = make()
    layout, workload = layout_of("ltrf", cfg), prepare(cfg, hand_trace([prefetch(0, 1, 2, 3, 4), NOP]))
    environment, machine, probes = Environment(cfg, workload, layout), Ltrf(cfg, layout), []
    while not environment.done:
        word = machine.step(environment.stimulus())
        environment.observe(word)
        probes.append(layout.unpack(word))
    (e,) = [cycle for cycle, f in enumerate(probes) if f["enter"]]
    assert next(cycle - e for cycle, f in enumerate(probes) if f["error"]) == 4


@pytest.mark.parametrize("changes", [{"duplex": 0}, {"latches": 0}, {"main_pipelined": 1}])
def test_what_is_in_the_golden_model_only(changes: dict[str, Any]) -> None:
    (name,) = changes
    with pytest.raises(ValueError, match=f"{name} must be .* golden model only"):
        make(**changes).must_be_hardware()
