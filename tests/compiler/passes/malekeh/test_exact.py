"""Reuse distances of executed warps against small streams counted by hand and a walk along every stream."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from warpfile.compiler.passes.malekeh.exact import NEVER, ReuseDistances, distances, near_from_distances
from warpfile.spec.beat import distinct_sources
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import LANES, NO_ROW, Kind, Port, StaticInstruction, Trace

ALL = (1 << LANES) - 1
Record = tuple[int, int, int]  #: instruction, execute mask, live mask


def op(*sources: int, dest: int = 0, count: int = 0) -> StaticInstruction:
    """An instruction that reads some registers and writes ``count`` from ``dest`` on."""
    return StaticInstruction(0, "OP", "OP", Port.ALU, Kind.NORMAL, sources, dest, count)


def write(register: int, *sources: int) -> StaticInstruction:
    return op(*sources, dest=register, count=1)


NOP = op()


def trace_of(program: Sequence[StaticInstruction], *streams: Sequence[Record]) -> Trace:
    """A trace with one warp per stream."""
    records = [record for stream in streams for record in stream]
    instruction, execute, live = np.array(records, dtype=np.int64).reshape(-1, 3).T
    nothing, rows = np.full(len(records), NO_ROW, dtype=np.int64), np.empty((0, LANES))
    return Trace(
        kernel="k",
        grid=(1, 1, 1),
        block=(LANES * len(streams), 1, 1),
        shared_bytes=0,
        registers=255,
        source="accelsim",
        listing="",
        program=tuple(program),
        warp_start=np.cumsum([0, *map(len, streams)]),
        warp_cta=np.zeros(len(streams), dtype=np.int32),
        instruction=instruction.astype(np.int32),
        active=execute.astype(np.uint32),
        execute=execute.astype(np.uint32),
        live=live.astype(np.uint32),
        value_row=nothing,
        values=rows.astype(np.uint32),
        written=np.empty(0, dtype=np.uint32),
        address_row=nothing,
        addresses=rows.astype(np.uint64),
    )


def of_record(found: ReuseDistances, record: int) -> tuple[list[int], list[int]]:
    """Distances of the sources and of the destinations of one record."""
    slots = range(int(found.first[record]), int(found.first[record + 1]))
    sources = [int(found.distance[slot]) for slot in slots if found.bit[slot] < 16]
    return sources, [int(found.distance[slot]) for slot in slots if found.bit[slot] >= 16]


def of_stream(*program: StaticInstruction, masks: dict[int, int] | None = None) -> list[tuple[list[int], list[int]]]:
    """Distances of a warp that runs the program once with all lanes, but for the execute masks given."""
    stream = [(index, (masks or {}).get(index, ALL), ALL) for index in range(len(program))]
    found = distances(trace_of(program, stream))
    return [of_record(found, record) for record in range(len(program))]


def test_a_distance_counts_the_instructions_to_the_next_read() -> None:
    assert of_stream(write(2, 3, 4), NOP, write(5, 2, 3), write(6, 2)) == [
        ([2, NEVER], [2]),
        ([], []),
        ([1, NEVER], [NEVER]),
        ([NEVER], [NEVER]),
    ]


def test_a_full_overwrite_ends_the_distance() -> None:
    assert of_stream(write(2, 3), write(2), op(2)) == [([NEVER], [NEVER]), ([], [1]), ([NEVER], [])]


def test_a_partial_overwrite_ends_nothing() -> None:
    found = of_stream(write(2), write(2), op(2), masks={1: ALL >> 1})
    assert found == [([], [2]), ([], [1]), ([NEVER], [])]


def test_lanes_that_have_exited_do_not_make_a_write_partial() -> None:
    half = ALL >> 16
    stream = [(0, ALL, ALL), (0, half, half), (1, half, half)]
    found = distances(trace_of([write(2), op(2)], stream))
    assert [of_record(found, record) for record in range(3)] == [([], [NEVER]), ([], [1]), ([NEVER], [])]


def test_a_source_that_its_own_instruction_overwrites_is_not_read_again() -> None:
    assert of_stream(write(2, 2, 3), NOP, op(2, 3)) == [([NEVER, 2], [2]), ([], []), ([NEVER, NEVER], [])]


def test_a_source_that_its_own_instruction_overwrites_in_part_is_read_again() -> None:
    assert of_stream(write(2, 2), op(2), masks={0: 1})[0] == ([1], [1])


def test_an_instruction_reads_before_it_overwrites() -> None:
    assert of_stream(write(2), write(2, 2))[0] == ([], [1])


def test_an_instruction_that_no_lane_executes_counts_but_accesses_nothing() -> None:
    found = of_stream(write(2), op(2), write(2, 2), op(2), masks={1: 0, 2: 0})
    assert found == [([], [3]), ([NEVER], []), ([NEVER], [NEVER]), ([NEVER], [])]


def test_repeated_sources_are_one_access_in_order_of_first_occurrence() -> None:
    assert of_stream(op(7, 6, 7, 5), op(5), op(6), op(7))[0] == ([3, 2, 1], [])


def test_every_register_of_a_wide_result_has_its_own_distance() -> None:
    found = of_stream(op(2, 3, dest=4, count=4), op(7), op(4), op(dest=4, count=2), op(5), op(6))
    assert found[0] == ([NEVER, NEVER], [2, NEVER, 5, 1])
    assert found[3] == ([], [NEVER, 1])


def test_warps_do_not_read_each_others_registers() -> None:
    program = [write(2), op(2)]
    found = distances(trace_of(program, [(0, ALL, ALL)], [(1, ALL, ALL), (0, ALL, ALL)], [(1, ALL, ALL)]))
    assert found.distance.tolist() == [NEVER] * 4


@pytest.mark.parametrize(("between", "distance"), [(NEVER - 2, NEVER - 1), (NEVER - 1, NEVER), (NEVER, NEVER)])
def test_distances_saturate(between: int, distance: int) -> None:
    stream = [(0, ALL, ALL), *[(1, ALL, ALL)] * between, (2, ALL, ALL)]
    assert distances(trace_of([write(2), NOP, op(2)], stream)).distance.tolist() == [distance, NEVER]


def test_near_bits_are_distances_up_to_the_threshold() -> None:
    program = [op(8, 9, dest=2, count=3), op(4), op(3, 9), op(8), NOP]
    found = distances(trace_of(program, [(index, ALL, ALL) for index in range(5)]))
    assert of_record(found, 0) == ([3, 2], [NEVER, 2, 1])
    for threshold, sources, dests in ((1, 0b00, 0b100), (2, 0b10, 0b110), (3, 0b11, 0b110), (NEVER - 1, 0b11, 0b110)):
        masks = near_from_distances(found, threshold)
        assert [mask.dtype for mask in masks] == [np.uint16, np.uint16]
        assert [mask.tolist() for mask in masks] == [[sources, 0, 0, 0, 0], [dests, 0, 0, 0, 0]]


@pytest.mark.parametrize("program", [[], [NOP, NOP]])
def test_a_trace_without_accesses_has_no_near_bits(program: list[StaticInstruction]) -> None:
    found = distances(trace_of(program, [(index, ALL, ALL) for index in range(len(program))]))
    for mask in near_from_distances(found, 8):
        assert mask.tolist() == [0] * len(program)


@pytest.mark.parametrize("threshold", [0, NEVER])
def test_threshold_must_be_in_range(threshold: int) -> None:
    with pytest.raises(ValueError, match=f"threshold must be 1 to 65534, not {threshold}"):
        near_from_distances(distances(trace_of([NOP], [(0, ALL, ALL)])), threshold)


def test_more_sources_than_bits_are_refused() -> None:
    assert of_stream(op(*range(16)))[0] == ([NEVER] * 16, [])
    with pytest.raises(ValueError, match="OP at 0x0 must have at most 16 distinct sources, not 17"):
        of_stream(op(*range(17)))


def by_walking(trace: Trace, broken: str = "") -> list[tuple[list[int], list[int]]]:
    """Definition, access by access: go on along the stream until a read or a full overwrite.

    ``broken`` names a rule that is left out.
    """

    def touches(record: int) -> bool:
        return bool(trace.execute[record]) or broken == "empty"

    def overwrites(record: int, register: int) -> bool:
        is_full = trace.execute[record] == trace.live[record] or broken == "partial"
        return touches(record) and is_full and register in trace.program[trace.instruction[record]].dests

    def distance(record: int, register: int, end: int) -> int:
        if not touches(record):
            return NEVER
        for later in range(record + 1, end):
            if touches(later) and register in trace.program[trace.instruction[later]].sources:
                return later - record
            if overwrites(later, register):
                return NEVER
        return NEVER

    found = []
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        for record in range(start, end):
            static = trace.program[trace.instruction[record]]
            sources = [
                NEVER if overwrites(record, register) and broken != "own" else distance(record, register, end)
                for register in distinct_sources(static.sources)
            ]
            found.append((sources, [distance(record, register, end) for register in static.dests]))
    return found


STRESS = [(profile, seed) for profile in PROFILES for seed in range(3)]


@pytest.mark.parametrize(("profile", "seed"), STRESS)
def test_distances_are_what_walking_the_streams_finds(profile: str, seed: int) -> None:
    trace = stress_trace(seed, profile=profile, warps_per_cta=[3, 1], ctas=2, length=80, registers=12)
    found, wanted = distances(trace), by_walking(trace)
    assert [of_record(found, record) for record in range(trace.instructions)] == wanted
    for threshold in (1, 3, 8, 30):
        masks = [[sum((d <= threshold) << bit for bit, d in enumerate(part)) for part in pair] for pair in wanted]
        assert np.stack(near_from_distances(found, threshold), axis=1).tolist() == masks


@pytest.mark.parametrize("broken", ["empty", "partial", "own"])
def test_stress_traces_exercise_every_rule(broken: str) -> None:
    traces = [stress_trace(seed, profile=profile, length=80, registers=12) for profile, seed in STRESS]
    assert sum(by_walking(trace, broken) != by_walking(trace) for trace in traces) >= len(traces) // 2
