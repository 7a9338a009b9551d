"""Exact write classes: by hand, against the replay on stress traces, and against the compiler's."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from tests.compiler.passes.bow.replay import stale_reads
from tests.compiler.passes.bow.test_soundness import KERNELS, kernel
from tests.compiler.passes.bow.test_static import BTREE, READ, SET, function
from warpfile.compiler.passes.bow.exact import exact_classes, weakened
from warpfile.compiler.passes.bow.static import REGISTER_FILE, WINDOW, write_classes
from warpfile.compiler.program import static_instructions
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace

FULL = 0xFFFFFFFF
NOWHERE, BOTH = 0, WINDOW | REGISTER_FILE


def straight(lines: Sequence[str], execute: Sequence[int] = (), active: Sequence[int] = ()) -> Trace:
    """A trace of one warp that executes the lines once, with the given masks."""
    program = static_instructions(function("\n".join(lines)))[: len(lines)]
    count = len(program)
    masks = np.array(execute or [FULL] * count, dtype=np.uint32)
    return dataclasses.replace(
        stress_trace(0),
        program=program,
        warp_start=np.array([0, count]),
        warp_cta=np.zeros(1, dtype=np.int32),
        instruction=np.arange(count, dtype=np.int32),
        execute=masks,
        active=np.array(active, dtype=np.uint32) if active else masks,
        live=np.full(count, FULL, dtype=np.uint32),
    )


def first(lines: Sequence[str], execute: Sequence[int] = (), active: Sequence[int] = (), window: int = 3) -> int:
    return int(exact_classes(straight(lines, execute, active), window=window, source_slots=3)[0])


@pytest.mark.parametrize(("window", "second"), [(3, WINDOW), (2, BOTH)])
def test_worked_example(window: int, second: int) -> None:
    found = exact_classes(straight(BTREE.splitlines()), window=window, source_slots=3)
    assert found.tolist() == [REGISTER_FILE, second] + [WINDOW] * 6 + [BOTH, WINDOW, 0, 0, 0]


def test_a_reader_that_no_lane_executes_reads_nothing() -> None:
    lines = [SET, READ, "NOP", "NOP", READ]
    assert first(lines) == BOTH
    assert first(lines, [FULL, 0, FULL, FULL, FULL]) == REGISTER_FILE
    assert first(lines, [FULL, FULL, FULL, FULL, 0]) == WINDOW
    assert first(lines, [FULL, 0, FULL, FULL, 0]) == NOWHERE


def test_lanes_that_a_later_write_leaves_out_need_the_old_value_in_the_register_file() -> None:
    lines = [SET, SET, READ]
    assert first(lines) == NOWHERE
    assert first(lines, [FULL, 0xFF, 0xF00]) == BOTH
    assert first(lines, [FULL, 0xFF, 0xF]) == NOWHERE
    assert first([SET, "NOP", "NOP", SET, READ], [FULL, FULL, FULL, 0xFF, FULL]) == REGISTER_FILE
    assert first([SET, "NOP", "NOP", READ, SET, READ], [FULL, FULL, FULL, FULL, 0xFF, FULL]) == REGISTER_FILE
    # Two partial writes that together leave out no lane.
    assert first([SET, SET, SET, READ], [FULL, 0xFFFF, 0xFFFF0000, FULL]) == NOWHERE


def test_a_divergent_definition_needs_what_its_own_lanes_read() -> None:
    lines = [SET, "NOP", "NOP", READ]
    assert first(lines, [0xFF, FULL, FULL, 0xFF]) == REGISTER_FILE
    assert first(lines, [0xFF, FULL, FULL, 0xFF00]) == NOWHERE
    assert first([SET, READ], [0xFF, 0xFF]) == WINDOW


def test_a_definition_whose_guard_left_out_lanes_is_in_the_register_file() -> None:
    assert first([SET, READ], [0xFF, FULL], [FULL, FULL]) == BOTH
    assert first([SET, "NOP"], [0xFF, FULL], [FULL, FULL]) == REGISTER_FILE
    assert first([SET, READ], [0, FULL], [FULL, FULL]) == NOWHERE


def test_warps_are_apart() -> None:
    trace = straight([SET, READ])
    apart = dataclasses.replace(trace, warp_start=np.array([0, 1, 2]), warp_cta=np.zeros(2, dtype=np.int32))
    assert exact_classes(apart, window=3, source_slots=3).tolist() == [NOWHERE, 0]


@pytest.mark.parametrize("profile", PROFILES)
def test_no_read_of_a_stress_trace_misses_a_value(profile: str) -> None:
    caught = 0
    for seed in range(3):
        trace = stress_trace(seed, profile=profile, registers=8 + 4 * seed)
        for window, source_slots in ((2, 3), (3, 3), (3, 8), (5, 8), (7, 3)):
            exact = exact_classes(trace, window=window, source_slots=source_slots)
            for classes in (exact, weakened(exact, seed)):
                assert stale_reads(trace, classes, window, source_slots, seed) == 0, (seed, window, source_slots)
            longer = exact_classes(trace, window=window + 2, source_slots=source_slots)
            caught += stale_reads(trace, longer, window, source_slots, seed)
    assert caught > 0


@pytest.mark.parametrize("profile", PROFILES)
def test_no_definition_could_do_with_less_register_file(profile: str) -> None:
    """The classes are tight: a full definition without its register file bit is missed somewhere."""
    trace = stress_trace(1, profile=profile, registers=12)
    exact = exact_classes(trace, window=3, source_slots=3)
    is_full = (trace.execute == trace.live) & (exact & REGISTER_FILE != 0)
    for record in np.flatnonzero(is_full)[:40]:
        less = exact.copy()
        less[record] = WINDOW
        assert _is_missed(trace, less) or _ends_in_a_partial_write(trace, int(record)), record


def _is_missed(trace: Trace, classes: np.ndarray) -> bool:
    return any(stale_reads(trace, classes, 3, 3, seed) for seed in range(3))


def _ends_in_a_partial_write(trace: Trace, record: int) -> bool:
    """Whether a register is next written for some lanes only: then the result's time decides."""
    end = int(trace.warp_start[np.searchsorted(trace.warp_start, record, side="right")])
    for register in trace.program[trace.instruction[record]].dests:
        for n in range(record + 1, end):
            if register in trace.program[trace.instruction[n]].dests and trace.execute[n]:
                if trace.execute[n] != trace.live[n]:
                    return True
                break
    return False


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_the_compiler_never_writes_the_register_file_less(name: str) -> None:
    code, trace = kernel(name)
    exact = exact_classes(trace, window=3, source_slots=3)
    static = write_classes(code, window=3, source_slots=3)
    given = np.array([static.get(one.offset, 0) for one in trace.program], dtype=np.uint8)[trace.instruction]
    assert not np.any(exact & ~given & REGISTER_FILE)
    assert stale_reads(trace, exact, 3, 3) == 0


def test_weakened_classes_take_every_sound_form_and_no_other() -> None:
    classes = np.repeat(np.arange(4, dtype=np.uint8), 200)
    found = weakened(classes, 1)
    forms = [set(found[classes == value].tolist()) for value in range(4)]
    assert forms == [{0, 1, 2, 3}, {1, 3}, {1, 2, 3}, {1, 3}]
    assert np.array_equal(found, weakened(classes, 1))
    assert not np.array_equal(found, weakened(classes, 2))


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="window and source_slots must be at least 1, not 3 and 0"):
        exact_classes(stress_trace(0), window=3, source_slots=0)
