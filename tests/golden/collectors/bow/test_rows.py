"""Operand windows over packed rows in tiny programs, with cycles derived by hand (docs/schemes/corf.md, section 17)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.golden.machines import BowRows, layout_of
from tests.golden.rf.packed.scenario import OF_SIZE, Valued, get, make, nops, put, valued
from tests.golden.scenario import Run
from warpfile.golden.run import observations
from warpfile.spec.environment import Environment
from warpfile.spec.schemes.packed import ALLOCATE, IN_PLACE, SHRINK, PackedConfig
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.workload import prepare

SCHEME = "bow_wr+packed"
#: In the file of R1 when a window has long given it back.
LEFT: list[Valued] = [put(1, 0x1234), *nops(12)]


def rows(**changes: Any) -> PackedConfig:
    """Windows of two beats and six entries that write back."""
    return make(SCHEME, **{"window": 2, "window_entries": 6, "window_writes": "back"} | changes)


def run_rows(cfg: PackedConfig, *warps: Sequence[Valued], model: type[BowRows] = BowRows) -> Run:
    """Simulate these warps to their end."""
    layout = layout_of(SCHEME, cfg)
    result = Run(model(cfg, layout))
    environment = Environment(cfg, prepare(cfg, valued(*warps)), layout)
    result.fields = [layout.unpack(word) for word in observations(result.model, environment, 5_000)]
    return result


def since(result: Run, issue: int, *probes: str) -> list[list[int]]:
    """Cycles of probes, counted from the one in which an instruction enters its window."""
    start = result.issues()[issue][0]
    return [[cycle - start for cycle in result.when(probe) if cycle >= start] for probe in probes]


def test_a_miss_looks_up_then_asks_its_bank() -> None:
    result = run_rows(rows(), [*LEFT, get(1)])
    found = since(result, len(LEFT), "miss", "look_up", "request", "grant", "filling", "dispatch")
    assert found == [[0], [1], [2], [2], [1, 2, 3], [4]]


def test_two_misses_have_one_look_up_and_one_turn_per_cycle() -> None:
    left = [put(1, 0x1234), *nops(4), put(2, 5), *nops(12)]
    result = run_rows(rows(), [*left, get(1, 2)])
    found = since(result, len(left), "look_up", "request", "grant", "dispatch")
    assert found == [[1, 2], [2, 3], [2, 3], [5]]


def test_a_source_that_is_nowhere_needs_no_bank() -> None:
    result = run_rows(rows(), [*LEFT, get(5)])
    found = since(result, len(LEFT), "look_up", "zero", "request", "filling", "dispatch")
    assert found == [[1], [2], [], [1, 2, 3], [4]]
    assert result.model.counters["unmapped_reads"] == 1


def test_of_two_sources_one_that_is_nowhere_takes_a_turn_of_its_window() -> None:
    result = run_rows(rows(), [*LEFT, get(5, 1)])
    found = since(result, len(LEFT), "look_up", "zero", "grant", "dispatch")
    assert found == [[1, 2], [2], [3], [5]]


def test_an_eviction_is_read_back_behind_its_bank() -> None:
    """R1 is dirty and stale when its reader is the head beat."""
    result = run_rows(rows(), [put(1, 0x1234), *nops(1), get(1)])
    (leaves,) = result.when("evict")
    assert result.when("evicted") == [leaves] and result.when("stall_evict")[-1] == leaves
    assert result.events("underway") == [(leaves + 1, 0b001), (leaves + 2, 0b010), (leaves + 3, 0b100)]
    assert result.issues()[2][0] == leaves + 1
    assert result.events("decision") == [(leaves + 2, ALLOCATE)] and result.when("stored") == [leaves + 3]
    found = since(result, 2, "look_up_wait", "look_up", "grant", "dispatch")
    assert found == [[1], [2], [3], [5]]
    assert result.model.operands_checked == 1


def sizes(result: Run) -> list[int]:
    """Sizes of entry 0 of window 0, one after the other."""
    found: list[int] = []
    for f in result.fields:
        size = f["entry_size"] & 7
        if size != (found[-1] if found else 0):
            found.append(size)
    return found


def test_an_entry_has_the_size_of_its_results() -> None:
    """A full result of two bytes, a partial one of three, a full one of one byte: 70000 is beyond two bytes."""
    program = [put(1, 200), put(1, 70000, mask=0x2), put(1, 1)]
    assert sizes(run_rows(rows(window=4), program)) == [2, 3, 1, 0]


def test_a_merge_keeps_the_larger_size() -> None:
    program = [put(1, OF_SIZE[3]), put(1, 1, mask=0x2)]
    assert sizes(run_rows(rows(window=4), program)) == [3, 0]


def test_a_row_that_is_filled_in_has_the_size_of_its_slices() -> None:
    left = [put(1, OF_SIZE[3]), *nops(12)]
    result = run_rows(rows(), [*left, get(1), get(5)])
    shown = [f["entry_size"] for f in result.fields[result.issues()[len(left)][0] :]]
    assert {3, 3 | 1 << 3} <= set(shown), "what is nowhere has one byte"


def test_the_size_goes_with_the_eviction() -> None:
    """R1 leaves with three bytes, comes back, is written again with one, and leaves once more."""
    program = [put(1, OF_SIZE[3]), *nops(12), get(1), put(1, 1), *nops(8)]
    result = run_rows(rows(), program)
    assert [size for _, size in result.events("size")] == [3, 1]
    assert [code for _, code in result.events("decision")] == [ALLOCATE, SHRINK]


def test_without_packing_there_are_no_sizes() -> None:
    result = run_rows(rows(packing=0), [put(1, 1), *nops(8), put(1, 2), *nops(8)])
    assert "entry_size" not in result.fields[0]
    assert [code for _, code in result.events("decision")] == [ALLOCATE, IN_PLACE]
    assert [size for _, size in result.events("size")] == [4, 4]


def test_windows_that_write_through_evict_nothing() -> None:
    result = run_rows(rows(window_writes="through"), [put(1, OF_SIZE[3]), *nops(8), get(1)])
    assert "underway" not in result.fields[0] and not result.when("evict")
    assert result.when("stored") == [cycle + 3 for cycle in result.when("store")]
    assert result.model.operands_checked == 1


def test_a_warp_that_ends_forgets_what_it_owes() -> None:
    result = run_rows(rows(), [put(1, 1), put(2, 1)])
    model = result.model
    assert isinstance(model, BowRows)
    assert not result.when("stored") and not model.file.free.used_rows
    assert result.when("dirty") and not model.collectors.windows[0].entries.where


def held(bank: int, count: int) -> type[BowRows]:
    """A machine in which somebody else takes a bank in the first cycles of an eviction in W1."""

    class HeldBeat(BowRows):
        def step(self, stimulus: Stimulus) -> int:
            nonlocal count
            if self.file.stages.storing[0] is not None and count:
                count -= 1
                assert self.file.banks.claim(self.cycle, bank)
            return super().step(stimulus)

    return HeldBeat


@pytest.mark.parametrize("count", [0, 1, 4])
@pytest.mark.parametrize("bank", [0, 1])
def test_a_warp_that_ends_is_swept_behind_its_eviction(bank: int, count: int) -> None:
    """EXIT issues two cycles behind the one in which X takes the eviction, in which W0 has it."""
    result = run_rows(rows(), [put(bank, 1), *nops(2)], model=held(bank, count))
    (exits,), (taken,), swept = result.when("exit"), result.when("evicted"), result.when("sweep_read")
    assert taken == exits - 2 and result.when("stored") == [exits + 1 + count]
    assert swept[0] == exits + 3 + count, "it is chosen in the first cycle in which nothing is under way"
    assert isinstance(result.model, BowRows) and not result.model.file.free.used_rows
