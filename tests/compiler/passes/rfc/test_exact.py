"""Hints of executed warps against small streams judged by hand and a walk along every stream."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.compiler.passes.malekeh.test_exact import ALL, NOP, op, trace_of, write
from warpfile.compiler.passes.rfc.exact import RecordHints, exact_hints, random_hints
from warpfile.spec.beat import distinct_sources
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Access, Kind, Port, Space, StaticInstruction, Trace

HALF = ALL >> 16
BARRIER = replace(NOP, opcode="BAR.SYNC", kind=Kind.BARRIER)
FENCE = replace(NOP, opcode="MEMBAR.SC.GPU")
SLEEP = replace(NOP, opcode="NANOSLEEP")


def load(register: int, *sources: int, count: int = 1, space: Space = Space.GLOBAL) -> StaticInstruction:
    return replace(op(*sources, dest=register, count=count), port=Port.LSU, space=space, access=Access.LOAD)


def guarded(static: StaticInstruction, predicate: int) -> StaticInstruction:
    return replace(static, token_reads=1 << predicate)


def of_stream(*program: StaticInstruction, masks: dict[int, int] | None = None) -> RecordHints:
    """Hints of a warp that runs the program once with all lanes, but for the execute masks given."""
    return exact_hints(
        trace_of(program, [(index, (masks or {}).get(index, ALL), ALL) for index in range(len(program))])
    )


def points(*program: StaticInstruction, masks: dict[int, int] | None = None) -> list[int]:
    return np.flatnonzero(of_stream(*program, masks=masks).suspend).tolist()


def dead(*program: StaticInstruction, masks: dict[int, int] | None = None) -> list[int]:
    return of_stream(*program, masks=masks).dead.tolist()


def test_a_warp_suspends_before_the_first_touch_of_a_loaded_register() -> None:
    assert points(load(2, 8), NOP, write(3, 2), write(4, 2)) == [2]
    assert points(load(2, 8), write(2), op(2)) == [1]


def test_a_wide_result_arrives_as_a_whole() -> None:
    assert points(load(4, 8, count=4), op(6), op(4), op(7)) == [1]


@pytest.mark.parametrize(
    ("space", "wanted"), [(Space.LOCAL, [1]), (Space.GLOBAL, [1]), (Space.SHARED, []), (Space.CONSTANT, [])]
)
def test_only_global_and_local_loads_take_long(space: Space, wanted: list[int]) -> None:
    assert points(load(2, 8, space=space), op(2)) == wanted


def test_textures_take_long() -> None:
    assert points(load(2, 8, space=Space.TEXTURE), op(2)) == [1]


def test_an_atomic_with_a_result_takes_long_and_its_predicate_can_be_the_result() -> None:
    atomic = replace(load(2, 8), access=Access.ATOMIC)
    assert points(atomic, op(2)) == [1]
    compare = replace(atomic, dest_count=0, token_writes=0b10)
    assert points(compare, guarded(NOP, 0), guarded(NOP, 1), guarded(NOP, 1)) == [2]
    assert points(replace(compare, token_writes=0), guarded(NOP, 1), op(2)) == []


def test_the_guard_of_a_load_is_not_its_result() -> None:
    compare = replace(load(2, 8), access=Access.ATOMIC, token_writes=0b10)
    assert points(guarded(compare, 0), guarded(NOP, 0)) == []
    assert points(compare, op(2), guarded(load(3, 8), 1), guarded(NOP, 1)) == [1]


def test_a_load_that_no_lane_executes_is_not_pending() -> None:
    assert points(load(2, 8), op(2), masks={0: 0}) == []


def test_a_touch_that_no_lane_executes_waits() -> None:
    assert points(load(2, 8), op(2), op(2), masks={1: 0}) == [1]


def test_a_load_through_its_own_result_suspends_first() -> None:
    assert points(load(2, 2), load(2, 2), op(2)) == [1, 2]


def test_a_fence_suspends_and_behind_it_nothing_is_pending() -> None:
    assert points(load(2, 8), FENCE, op(2), load(2, 8), op(2)) == [1, 4]


def test_a_sleep_suspends_and_changes_nothing() -> None:
    assert points(load(2, 8), SLEEP, op(2)) == [1, 2]


def test_a_barrier_never_suspends_before_it_arrives() -> None:
    assert points(load(2, 8), BARRIER, op(2)) == [2]
    assert points(load(2, 8), replace(BARRIER, sources=(2,)), op(2)) == []


def test_warps_do_not_touch_each_others_results() -> None:
    program = [load(2, 8), op(2), FENCE]
    streams = [[(0, ALL, ALL)], [(1, ALL, ALL), (0, ALL, ALL), (1, ALL, ALL)], [(2, ALL, ALL)]]
    assert exact_hints(trace_of(program, *streams)).suspend.tolist() == [0, 0, 0, 1, 1]


def test_a_source_is_dead_at_its_last_read() -> None:
    assert dead(write(4, 2, 3), write(5, 3, 2), op(2), op(4)) == [0b00, 0b01, 0b1, 0b1]


def test_a_full_overwrite_ends_a_value_and_a_partial_one_does_not() -> None:
    assert dead(op(2), write(2), op(2)) == [1, 0, 1]
    assert dead(op(2), write(2), op(2), masks={1: HALF}) == [0, 0, 1]
    assert dead(op(2), write(2), op(2), masks={1: 0}) == [0, 0, 1]


def test_lanes_that_have_exited_do_not_make_a_write_partial() -> None:
    stream = [(0, HALF, HALF), (1, HALF, HALF), (0, HALF, HALF)]
    assert exact_hints(trace_of([op(2), write(2)], stream)).dead.tolist() == [1, 0, 1]


def test_a_source_that_its_own_instruction_overwrites_is_as_dead_as_the_result() -> None:
    assert dead(write(2, 2), op(2)) == [0, 1]
    assert dead(write(2, 2), write(2)) == [1, 0]


def test_a_reader_that_no_lane_executes_reads_nothing_and_has_no_bits() -> None:
    found = of_stream(write(3, 2), write(4, 2), masks={1: 0})
    assert (found.dead.tolist(), found.evict_first.tolist()) == ([1, 0], [1, 0])
    assert found.no_allocate.tolist() == [1, 0]


def test_a_reader_of_other_lanes_keeps_a_value_alive() -> None:
    assert dead(op(2), op(2), masks={0: 1, 1: 2}) == [0, 1]


def test_repeated_sources_have_one_bit() -> None:
    assert dead(op(7, 6, 7, 5), op(6)) == [0b101, 1]


def test_the_flush_before_a_suspension_ends_a_strand() -> None:
    found = of_stream(write(2), write(3), FENCE, op(2), op(3, 2))
    assert found.no_allocate.tolist() == [1, 1, 0, 0, 0]
    assert found.evict_first.tolist() == [0, 0, 0, 0, 0b11]
    assert of_stream(op(2), FENCE, op(2)).evict_first.tolist() == [1, 0, 1]


def test_what_a_suspending_record_reads_comes_from_behind_the_flush() -> None:
    found = of_stream(write(3), load(4, 8), write(5, 4, 3), write(6, 3, 5))
    assert found.suspend.tolist() == [0, 0, 1, 0]
    assert found.no_allocate.tolist() == [1, 1, 0, 1]
    assert found.evict_first.tolist() == [0, 1, 0b01, 0b11]


def test_strands_end_behind_a_barrier_whose_own_reads_come_before() -> None:
    found = of_stream(write(2), write(3), replace(BARRIER, sources=(2,)), op(2), op(3))
    assert found.no_allocate.tolist() == [0, 1, 0, 0, 0]
    assert found.evict_first.tolist() == [0, 0, 1, 1, 1]
    assert found.dead.tolist() == [0, 0, 0, 1, 1]


def test_a_wide_result_is_kept_if_one_of_its_registers_is_read() -> None:
    assert of_stream(op(dest=4, count=4), op(6)).no_allocate.tolist() == [0, 0]
    assert of_stream(op(dest=4, count=4), op(8)).no_allocate.tolist() == [1, 0]


def test_example_with_one_suspension() -> None:
    program = [
        write(1),
        write(2, 1),
        write(3, 1, 2),
        write(4, 3),
        write(5, 4, 9),
        load(6, 5),
        write(7, 6, 4),
        write(8, 3, 4, 9),
        write(8, 6, 7, 8),
    ]
    found = of_stream(*program)
    assert found.suspend.tolist() == [0, 0, 0, 0, 0, 0, 1, 0, 0]
    assert found.dead.tolist() == [0, 0, 0b11, 0, 0, 1, 0, 0b111, 0b111]
    assert found.evict_first.tolist() == [0, 0, 0b11, 1, 0b11, 1, 0, 0b111, 0b111]
    assert found.no_allocate.tolist() == [0, 0, 0, 0, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("program", [[], [NOP, NOP], [op(2)]])
def test_small_traces_have_hints_of_their_length(program: list[StaticInstruction]) -> None:
    found = exact_hints(trace_of(program, [(index, ALL, ALL) for index in range(len(program))]))
    for values, kind in (
        (found.suspend, np.uint8),
        (found.dead, np.uint16),
        (found.evict_first, np.uint16),
        (found.no_allocate, np.uint8),
    ):
        assert (len(values), values.dtype) == (len(program), kind)


def test_more_sources_than_bits_are_refused() -> None:
    assert dead(op(*range(16))) == [0xFFFF]
    with pytest.raises(ValueError, match="OP at 0x0 must have at most 16 distinct sources, not 17"):
        dead(op(*range(17)))


def by_walking(trace: Trace, broken: str = "") -> RecordHints:
    """Definition, record by record: go on along the stream. ``broken`` names a rule that is left out."""
    program = [trace.program[index] for index in trace.instruction.tolist()]
    found = RecordHints(*(np.zeros(len(program), dtype=np.int64) for _ in range(4)))
    executed = trace.execute != 0 if broken != "empty" else np.ones(len(program), dtype=bool)
    is_full = (trace.execute == trace.live) if broken != "partial" else executed
    spans = list(zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True))

    def touch(static: StaticInstruction, other: StaticInstruction) -> bool:
        tokens = (other.token_reads | other.token_writes) & static.token_writes
        return bool({*other.sources, *other.dests} & set(static.dests)) or bool(tokens)

    for start, end in spans:
        for record in range(start, end):
            static = program[record]
            slow = static.space in (Space.GLOBAL, Space.LOCAL, Space.TEXTURE)
            if slow and static.access in (Access.LOAD, Access.ATOMIC):
                later = (at for at in range(record + 1, end) if touch(static, program[at]))
                if executed[record] and (at := next(later, None)) is not None:
                    found.suspend[at] = program[at].kind is not Kind.BARRIER

    def is_read(record: int, register: int, end: int, strand: bool) -> bool:
        for at in range(record, end):
            if at > record:
                if strand and found.suspend[at]:
                    return False
                if executed[at] and register in program[at].sources:
                    return True
                if executed[at] and is_full[at] and register in program[at].dests:
                    return False
            if strand and program[at].kind is Kind.BARRIER and broken != "barrier":
                return False
        return False

    for start, end in spans:
        for record in range(start, end):
            if executed[record]:
                sources, dests = distinct_sources(program[record].sources), program[record].dests
                for bit, register in enumerate(sources):
                    found.dead[record] |= (not is_read(record, register, end, strand=False)) << bit
                    found.evict_first[record] |= (not is_read(record, register, end, strand=True)) << bit
                kept = any(is_read(record, register, end, strand=True) for register in dests)
                found.no_allocate[record] = bool(dests) and not kept
    return found


def as_lists(hints: RecordHints) -> list[list[int]]:
    return [hints.suspend.tolist(), hints.dead.tolist(), hints.evict_first.tolist(), hints.no_allocate.tolist()]


STRESS = [(profile, seed) for profile in PROFILES for seed in range(3)]


@pytest.mark.parametrize(("profile", "seed"), STRESS)
def test_hints_are_what_walking_the_streams_finds(profile: str, seed: int) -> None:
    trace = stress_trace(seed, profile=profile, warps_per_cta=[3, 1], ctas=2, length=80, registers=12)
    assert as_lists(exact_hints(trace)) == as_lists(by_walking(trace))


@pytest.mark.parametrize("broken", ["empty", "partial", "barrier"])
def test_stress_traces_exercise_every_rule(broken: str) -> None:
    traces = [stress_trace(seed, profile=profile, length=80, registers=12) for profile, seed in STRESS]
    differ = sum(as_lists(by_walking(trace, broken)) != as_lists(by_walking(trace)) for trace in traces)
    assert differ >= 4


def test_loosened_hints_never_add_a_dead_bit_and_change_everything_else() -> None:
    hints = exact_hints(stress_trace(1, length=200))
    weaker = [random_hints(hints, seed) for seed in range(4)]
    for other in weaker:
        assert not np.any(other.dead & ~hints.dead)
        assert [values.dtype for values in vars(other).values()] == [values.dtype for values in vars(hints).values()]
    for name in ("suspend", "dead", "evict_first", "no_allocate"):
        values = np.stack([getattr(other, name) for other in weaker])
        assert np.any(values != values[0]), name
        if name != "dead":
            # Bits go both ways.
            assert np.any(values & ~getattr(hints, name)), name
            assert np.any(getattr(hints, name) & ~values), name


def test_loosened_hints_depend_on_the_seed_only() -> None:
    hints = exact_hints(stress_trace(1, length=60))
    assert as_lists(random_hints(hints, 7)) == as_lists(random_hints(hints, 7)) != as_lists(random_hints(hints, 8))
