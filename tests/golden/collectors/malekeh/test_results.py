"""Step 1: what becomes of results in the caching units. A lone warp is launched in 0 and issues from 2 on."""

from __future__ import annotations

import pytest

from tests.golden.collectors.malekeh.scenario import hinted, malekeh_config, run_malekeh
from tests.golden.collectors.malekeh.view import units_of
from tests.golden.scenario import NOP, Run, Step, hand_trace, op
from warpfile.golden.arbiter import indices
from warpfile.spec.trace import Access, Port, Space

# Bank of a register of slot 0: its number modulo two.
CFG = malekeh_config(
    **{"warps": 4, "banks": 2, "bank_skew": "none", "collectors": 2, "unit_entries": 4, "source_slots": 3},
    **{"alu_latency": 4, "alu_interval": 1, "wait_control": "fixed"},
)
HALF = 0xFFFF
N, S = 0x001, 0x010  #: the destination is near; the first source is near
CACHED = ("cache_hit", "cache_empty", "cache_far", "cache_near")
OUTCOMES = (*CACHED, "far", "outdone", "met", "partial", "crowded", "unowned")


def load(dest: int, sources: tuple[int, ...] = ()) -> Step:
    """A load from shared memory, on port 2."""
    return op(sources, dest, port=Port.LSU, space=Space.SHARED, access=Access.LOAD)


def outcomes(result: Run) -> list[tuple[int, str, int]]:
    """Cycle, outcome and port of every accepted result with a register."""
    found = [(cycle, name, port) for name in OUTCOMES for cycle, mask in result.events(name) for port in indices(mask)]
    return sorted(found, key=lambda one: (one[0], one[2]))


def kept(result: Run, cycle: int, cfg: object = CFG, unit: int = 0) -> list[int]:
    """Register of every entry at the beginning of a cycle."""
    return units_of(cfg, result.fields[cycle])[unit].registers  # type: ignore[arg-type]


def test_a_near_result_enters_an_empty_entry_and_is_hit() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((), 4), op((4,), 5)]), [N, 0, 0]))
    assert outcomes(result)[0] == (7, "cache_empty", 0)
    assert kept(result, 7) == [-1] * 4 and kept(result, 8) == [4, -1, -1, -1]
    assert result.events("hit") == [(8, 1)]
    assert result.when("dispatch") == [3, 9]
    assert result.model.counters["bank_reads"] == 0


def test_a_far_result_goes_to_its_bank_only() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((), 4), op((4,), 5)]), [0, 0, 0]))
    assert outcomes(result)[0] == (7, "far", 0)
    assert kept(result, 8) == [-1] * 4
    assert result.events("miss") == [(8, 1)]
    assert result.when("grant") == [9]
    assert result.when("dispatch") == [3, 11]


def test_a_far_result_empties_the_entry_of_its_register() -> None:
    trace = hand_trace([op((4, 2), 8), op((), 4), op((4,), 9)])
    result = run_malekeh(CFG, hinted(trace, [S, 0, 0, 0]))
    write = result.when("write")[1]
    assert result.events("invalidate") == [(write, 0b0001)]
    assert kept(result, write) == [4, 2, -1, -1] and kept(result, write + 1) == [-1, 2, -1, -1]
    after = units_of(CFG, result.fields[write + 1])[0]
    assert not after.near[0]
    assert after.rank == units_of(CFG, result.fields[write])[0].rank  # its rank stays
    assert result.model.counters["source_hits"] == 0


def test_a_near_result_overwrites_the_entry_of_its_register() -> None:
    trace = hand_trace([op((4, 2), 8), op((), 4), op((4,), 9)])
    result = run_malekeh(CFG, hinted(trace, [0, N, 0, 0]))
    write = result.when("write")[1]
    assert outcomes(result)[1] == (write, "cache_hit", 0)
    after = units_of(CFG, result.fields[write + 1])[0]
    assert after.registers == [4, 2, -1, -1]
    assert after.near == [True, False, False, False]
    assert after.rank == [3, 2, 0, 1]  # R4 last, before it R2; empty entries were never used
    assert result.model.counters["source_hits"] == 1


def test_a_partial_near_result_is_merged_where_its_register_is_and_not_cached_elsewhere() -> None:
    trace = hand_trace([op((4,), 8), (op((), 4), HALF), (op((), 6), HALF), op((4,), 9), op((6,), 10)])
    result = run_malekeh(CFG, hinted(trace, [0, N, N, 0, 0, 0]))
    assert [name for _, name, _ in outcomes(result)][1:3] == ["cache_hit", "partial"]
    assert [f["hit"] for f in result.fields if f["allocate"]] == [0, 0, 0, 1, 0]


def test_a_partial_far_result_empties_the_entry_of_its_register() -> None:
    trace = hand_trace([op((4,), 8), (op((), 4), HALF), op((4,), 9)])
    result = run_malekeh(CFG, hinted(trace, [0, 0, 0, 0]))
    assert len(result.when("invalidate")) == 1
    assert result.model.counters["source_hits"] == 0


def written_beside(beat: Step, lanes: int = 0xFFFFFFFF, register: int = 4) -> Run:
    """A unit has R2 and R4; a near result comes in 12, and the owner issues a beat in this cycle, then reads R4."""
    # The first beat leaves in 6 (both sources are in bank 0), the second in 8; NOPs issue in 9 to 11.
    trace = hand_trace([op((2, 4), 8), (op((), register), lanes), NOP, NOP, NOP, beat, op((4,), 10)])
    return run_malekeh(CFG, hinted(trace, [0, N, 0, 0, 0, 0, 0, 0]))


@pytest.mark.parametrize("lanes", [HALF, 0xFFFFFFFF])
def test_a_near_result_that_meets_a_beat_of_its_unit_empties_the_entry_of_its_register(lanes: int) -> None:
    result = written_beside(op((3,), 9), lanes)
    assert (12, "met", 0) in outcomes(result)
    assert result.events("invalidate") == [(12, 0b0010)]
    after = units_of(CFG, result.fields[13])[0]
    assert after.registers == [2, -1, 3, -1]
    assert after.near == [False] * 4
    assert after.rank == [1, 2, 3, 0]  # that of the empty entry stays beside that of R2
    assert [f["hit"] for f in result.fields if f["allocate"]] == [0] * 4  # R4 is read from its bank
    assert result.model.counters["uncached_met"] == 1 and result.model.counters["cached_results"] == 0


@pytest.mark.parametrize("lanes", [HALF, 0xFFFFFFFF])
def test_a_near_result_that_meets_a_beat_is_not_cached_where_its_register_was_not(lanes: int) -> None:
    result = written_beside(op((3,), 9), lanes, register=6)
    assert [one for one in outcomes(result) if one[0] == 12] == [(12, "met", 0)]
    assert not result.when("invalidate")
    assert kept(result, 13) == [2, 4, 3, -1]


def test_a_near_result_enters_beside_a_beat_that_needs_no_unit() -> None:
    result = written_beside(NOP)
    assert result.fields[12]["issue"] == 1
    assert [one for one in outcomes(result) if one[0] == 12] == [(12, "cache_hit", 0)]
    assert kept(result, 13) == [2, 4, -1, -1]


def test_a_near_result_enters_while_another_unit_takes_a_beat() -> None:
    # Warp 0 keeps R2 in unit 0; its beat leaves in 5, so R4 comes in 9. Beats arrive in turn,
    # as long as warp 0 has some: those of warp 1 issue in 3, 5, 7, 8 and 9.
    trace = hand_trace([op((2,), 4), op((4,), 5)], [NOP] * 4 + [op((2,), 8)], ctas=[0, 1])
    result = run_malekeh(CFG, hinted(trace, [N | S, *[0] * 8]))
    assert result.fields[9]["allocate"] == 0b10
    assert outcomes(result)[0] == (9, "cache_empty", 0)
    assert kept(result, 10) == [2, 4, -1, -1]


def meeting(first: int, second: int, hints: list[int], **changes: object) -> Run:
    """Results of an ALU beat and of a load, both without sources, meet in cycle 9."""
    cfg = CFG.replace(alu_latency=6, shared_latency=4, **changes)
    trace = hand_trace([op((), first), load(second), op((first,), 20), op((second,), 22)])
    return run_malekeh(cfg, hinted(trace, [*hints, 0, 0, 0]))


@pytest.mark.parametrize(("first", "second", "winner"), [(4, 5, 0), (5, 4, 2)])
def test_of_two_near_results_the_one_in_the_lower_bank_enters(first: int, second: int, winner: int) -> None:
    result = meeting(first, second, [N, N])
    expected = {winner: "cache_empty", 2 - winner: "outdone"}
    assert outcomes(result)[:2] == [(9, expected[0], 0), (9, expected[2], 2)]
    assert kept(result, 10) == [4, -1, -1, -1]


@pytest.mark.parametrize(("first", "second", "winner"), [(4, 5, 0), (5, 4, 2)])
def test_of_two_near_results_that_meet_a_beat_the_one_in_the_lower_bank_met_it(
    first: int, second: int, winner: int
) -> None:
    # The unit has R4 and R5. The beats of the two leave in 8 and 10, so both results come in 14.
    cfg = CFG.replace(alu_latency=6, shared_latency=4)
    trace = hand_trace([op((4, 5)), op((), first), load(second), NOP, NOP, NOP, op((2,), 8)])
    result = run_malekeh(cfg, hinted(trace, [0, N, N, 0, 0, 0, 0, 0]))
    expected = {winner: "met", 2 - winner: "outdone"}
    assert outcomes(result)[:2] == [(14, expected[0], 0), (14, expected[2], 2)]
    assert result.events("invalidate") == [(14, 0b0011)]
    assert kept(result, 15) == [-1, -1, 2, -1]


@pytest.mark.parametrize(
    ("hints", "entered", "names"), [([N, 0], 4, ("cache_empty", "far")), ([0, N], 5, ("far", "cache_empty"))]
)
def test_a_far_result_does_not_stand_in_the_way_of_a_near_one(
    hints: list[int], entered: int, names: tuple[str, str]
) -> None:
    result = meeting(4, 5, hints)
    assert outcomes(result)[:2] == [(9, names[0], 0), (9, names[1], 2)]
    assert kept(result, 10)[0] == entered


def meeting_kept(hints: list[int]) -> Run:
    """As ``meeting``, after a beat that brought both registers into the unit."""
    cfg = CFG.replace(alu_latency=6, shared_latency=4)
    return run_malekeh(cfg, hinted(hand_trace([op((4, 5)), op((), 4), load(5), op((4, 5), 8)]), [0, *hints, 0, 0]))


def test_of_two_results_that_are_kept_the_second_one_is_dropped() -> None:
    result = meeting_kept([N, N])
    meet = result.when("cache_hit")[0]
    assert [(name, port) for _, name, port in outcomes(result)[:2]] == [("cache_hit", 0), ("outdone", 2)]
    assert result.events("invalidate") == [(meet, 0b0010)]
    assert [f["hit"] for f in result.fields if f["allocate"]] == [0, 0, 0, 0b01]


def test_two_far_results_empty_two_entries() -> None:
    result = meeting_kept([0, 0])
    assert [mask for _, mask in result.events("invalidate")] == [0b0011]


def test_an_entry_that_a_result_takes_is_not_emptied_by_another_one() -> None:
    # Two entries, R2 and R3, both far; the LFSR of unit 0 starts at 1: R4 takes the entry of R3, to which a far result
    # comes in the same cycle.
    cfg = CFG.replace(unit_entries=2, source_slots=2, alu_latency=6, shared_latency=4)
    result = run_malekeh(cfg, hinted(hand_trace([op((2, 3)), op((), 4), load(3), op((3,), 8)]), [0, N, 0, 0, 0]))
    meet = result.when("cache_far")[0]
    assert [one for one in outcomes(result) if one[0] == meet] == [(meet, "cache_far", 0), (meet, "far", 2)]
    assert result.fields[meet]["invalidate"] == 0
    assert kept(result, meet, cfg) == [2, 3] and kept(result, meet + 1, cfg) == [2, 4]


@pytest.mark.parametrize("latency", [4, 5])
def test_a_result_that_finds_all_entries_locked_is_not_cached(latency: int) -> None:
    # Two entries. The result of the first comes in 7, while R2 and R3 are still being read, or in 8, when they leave.
    cfg = CFG.replace(unit_entries=2, source_slots=2, alu_latency=latency)
    result = run_malekeh(cfg, hinted(hand_trace([op((), 4), op((2, 3), 8)]), [N, 0, 0]))
    write = 3 + latency
    assert result.when("dispatch") == [3, 8]
    assert outcomes(result)[0] == (write, "crowded", 0)
    assert result.fields[write]["locked"] & 0b11 == 0b11
    assert kept(result, write + 1, cfg) == [2, 3]


def test_a_result_enters_beside_the_sources_of_a_waiting_beat() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((), 4), op((2, 3, 5), 8)]), [N, 0, 0]))
    assert outcomes(result)[0] == (7, "cache_empty", 0)
    assert kept(result, 8) == [2, 3, 5, 4]


def test_a_result_replaces_far_then_near_registers() -> None:
    far = hand_trace([op((2, 3), 8), op((), 4)])
    cfg = CFG.replace(unit_entries=2, source_slots=2)
    result = run_malekeh(cfg, hinted(far, [0x10, N, 0]))  # R2 near, R3 far
    write = result.when("cache")[0]
    assert outcomes(result)[1] == (write, "cache_far", 0)
    assert kept(result, write + 1, cfg) == [2, 4]
    assert result.fields[write]["lfsr"] & 0xFF == 1 and result.fields[write + 1]["lfsr"] & 0xFF == 0xB8
    result = run_malekeh(cfg, hinted(far, [0x30, N, 0]))  # both near, R2 used before R3
    write = result.when("cache")[0]
    assert outcomes(result)[1] == (write, "cache_near", 0)
    assert kept(result, write + 1, cfg) == [4, 3]
    assert result.fields[write + 1]["lfsr"] & 0xFF == 1


def test_each_register_of_a_wide_result_has_a_hint_of_its_own() -> None:
    result = run_malekeh(CFG, hinted(hand_trace([op((), 4, dest_count=3)]), [0b101, 0]))
    assert outcomes(result) == [(7, "cache_empty", 0), (8, "far", 0), (9, "cache_empty", 0)]
    assert kept(result, 10) == [4, 6, -1, -1]


def test_the_result_of_a_warp_without_a_unit_goes_to_its_bank_only() -> None:
    # One unit. Warp 1 takes it in 4, before the result of warp 0 comes in 7.
    cfg = CFG.replace(collectors=1)
    trace = hand_trace([op((), 4), op((4,), 5)], [op((2,), 8)], ctas=[0, 1])
    result = run_malekeh(cfg, hinted(trace, [N, 0, 0, 0, 0]))
    assert result.when("allocate")[:2] == [2, 4]
    assert outcomes(result)[0] == (7, "unowned", 0)
    assert result.model.counters["bank_reads"] == 2
