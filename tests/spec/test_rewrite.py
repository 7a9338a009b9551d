"""A rewritten trace says what the new stream does, and gives the original back."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.scenario import BAR, FULL, hand_trace, op
from warpfile.spec.beat import NO_VALUE
from warpfile.spec.config import Config
from warpfile.spec.rewrite import Insertion, RewriteError, copied, original, rewritten
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import LANES, NO_ROW, Drain, Kind, Port, StaticInstruction, Trace, TraceError
from warpfile.spec.workload import WorkloadError, prepare

CFG = Config()
LOW, HIGH = 0x0000FFFF, 0xFFFF0000
SPARE = 4  #: registers that stress programs leave free for moves


class Taker(Config):
    """Takes pseudo-instructions."""

    @property
    def operand_bits(self) -> int:
        """Width of the operand."""
        return 8


def pseudo(operand: int = 1, drain: Drain = Drain.NONE, **more: object) -> StaticInstruction:
    return op(port=Port.NONE, kind=Kind.SCHEME, text="ACQ", operand=operand, drain=drain, **more)


def move(target: int, source: int) -> StaticInstruction:
    return op((source,), target, opcode="MOV", text=f"MOV R{target}, R{source}")


def same(one: Trace, other: Trace) -> bool:
    return all(
        np.array_equal(getattr(one, f.name), getattr(other, f.name))
        if f.type == "np.ndarray"
        else getattr(one, f.name) == getattr(other, f.name)
        for f in dataclasses.fields(Trace)
    )


def valued(*warps: object, **fields: object) -> Trace:
    """A hand trace in which every result has a value of its own."""
    trace = hand_trace(*warps, **fields)  # type: ignore[arg-type]
    count = np.arange(trace.values.size, dtype=np.uint32)
    return dataclasses.replace(trace, values=count.reshape(trace.values.shape) + 7)


@st.composite
def stressed(draw: st.DrawFn) -> Trace:
    """A stress trace with free registers behind those it uses."""
    seed, profile = draw(st.integers(0, 30)), draw(st.sampled_from(sorted(PROFILES)))
    trace = stress_trace(seed, profile=profile, warps_per_cta=[2, 1], ctas=2, length=25)
    return dataclasses.replace(trace, registers=trace.registers + SPARE)


def insertions(trace: Trace, rng: random.Random) -> list[Insertion]:
    """Pseudo-instructions anywhere, and moves to free registers, also of what was moved before."""
    found, ends = [], set((trace.warp_start[1:] - 1).tolist())
    for _ in range(rng.randrange(30)):
        record = rng.randrange(trace.records)
        after = record not in ends and rng.random() < 0.5
        if rng.random() < 0.3:
            found.append(Insertion(record, pseudo(rng.randrange(3)), after))
            continue
        spare = trace.registers - 1 - rng.randrange(SPARE)
        found.append(Insertion(record, move(spare, rng.randrange(trace.registers)), after, copied))
    return found


def swapped(trace: Trace, rng: random.Random) -> dict[int, int]:
    """A bijection of register names that moves aligned groups of four as a whole."""
    groups = list(range((trace.registers - SPARE) // 4))
    targets = rng.sample(groups, len(groups))
    return {4 * a + k: 4 * b + k for a, b in zip(groups, targets, strict=True) for k in range(4)}


@given(stressed(), st.randoms(use_true_random=False))
def test_what_was_inserted_and_renamed_can_be_left_out(trace: Trace, rng: random.Random) -> None:
    every = np.zeros(trace.records, dtype=np.int64)
    names = swapped(trace, rng)
    once = rewritten(trace, renamings=[names], renaming=every, descriptor={"n": 3}, annotation="one")
    twice = rewritten(once, insertions(once, rng), annotation="two")
    assert same(original(once), trace)
    assert same(original(twice), trace)
    assert twice.instructions == trace.instructions == len(trace.instruction)
    assert twice.descriptor == {"n": 3}


@given(stressed(), st.randoms(use_true_random=False))
def test_a_bijection_of_names_changes_no_value(trace: Trace, rng: random.Random) -> None:
    names = swapped(trace, rng)
    renamed = rewritten(trace, renamings=[names], renaming=np.zeros(trace.records, dtype=np.int64))
    before, after = prepare(CFG, trace).beats, prepare(CFG, renamed).beats
    assert [b.expected for b in after] == [b.expected for b in before]
    assert [b.result_row for b in after] == [b.result_row for b in before]
    assert [b.sources for b in after] == [tuple(names.get(r, r) for r in b.sources) for b in before]
    assert len(renamed.values) == len(trace.values)


def check_values(trace: Trace) -> int:
    """Execute a rewritten stream lane by lane and compare every operand; the number of comparisons."""
    checked = 0
    for beats in prepare(Taker(), trace).warps:
        content: dict[int, np.ndarray] = {}
        defined: dict[int, int] = {}
        for beat in beats:
            for register, row in zip(beat.sources, beat.expected, strict=True):
                if row == NO_VALUE:
                    continue
                lanes = beat.mask & int(trace.written[row])
                assert not lanes & ~defined[register]
                inside = (lanes >> np.arange(LANES)) & 1 != 0
                assert np.array_equal(content[register][inside], trace.values[row][inside])
                checked += 1
            if not (beat.mask and beat.dest_count):
                continue
            inside = (beat.mask >> np.arange(LANES)) & 1 != 0
            for k in range(beat.dest_count):
                if beat.inserted:
                    source = content.get(beat.sources[0], np.zeros(LANES, dtype=np.uint32))
                    known = defined.get(beat.sources[0], 0)
                else:
                    source, known = trace.values[beat.result_row + k], FULL
                old = content.get(beat.dest + k, np.zeros(LANES, dtype=np.uint32))
                content[beat.dest + k] = np.where(inside, source, old)
                defined[beat.dest + k] = defined.get(beat.dest + k, 0) & ~beat.mask | known & beat.mask
    return checked


@given(stressed(), st.randoms(use_true_random=False))
def test_a_moved_value_is_what_the_source_held_lane_by_lane(trace: Trace, rng: random.Random) -> None:
    changed = rewritten(trace, insertions(trace, rng))
    plain = check_values(trace)
    assert check_values(changed) >= plain


def test_records_stand_in_the_order_given_with_the_masks_of_their_place() -> None:
    trace = valued([(op((), 1), LOW), (op((), 2), HIGH)], [op((), 3)])
    changed = rewritten(
        trace,
        [
            Insertion(1, pseudo(1)),
            Insertion(0, pseudo(2), after=True),
            Insertion(1, pseudo(3)),
            Insertion(3, pseudo(4), active=LOW),
        ],
    )
    steps = [(changed.program[i].operand, int(m)) for i, m in zip(changed.instruction, changed.execute, strict=True)]
    assert steps == [(0, LOW), (2, LOW), (1, HIGH), (3, HIGH), (0, HIGH), (0, FULL), (4, LOW), (0, FULL), (0, FULL)]
    assert changed.warp_start.tolist() == [0, 6, 9]
    assert changed.inserted.tolist() == [False, True, True, True, False, False, True, False, False]


def test_a_record_behind_a_guarded_exit_has_the_lanes_that_stay() -> None:
    leaves = op(port=Port.NONE, kind=Kind.BRANCH, opcode="EXIT", text="@P0 EXIT")
    trace = hand_trace([(leaves, LOW), op((), 1)], active=np.array([FULL, HIGH, HIGH], dtype=np.uint32))
    trace = dataclasses.replace(trace, live=np.array([FULL, HIGH, HIGH], dtype=np.uint32))
    changed = rewritten(trace, [Insertion(0, pseudo(), after=True)])
    assert [int(m) for m in changed.execute[:2]] == [LOW, HIGH]
    assert int(changed.live[1]) == HIGH


def test_a_live_range_can_move_to_another_register() -> None:
    trace = valued([op((), 5), op((5,), 6), op((5,), 7), op((), 5), op((5,), 6)])
    renaming = np.array([-1, -1, 0, -1, -1, -1])
    changed = rewritten(trace, [Insertion(2, move(2, 5), result=copied)], renamings=[{5: 2}], renaming=renaming)
    beats = prepare(CFG, changed).beats
    assert [b.sources for b in beats] == [(), (5,), (5,), (2,), (), (5,), ()]
    assert np.array_equal(changed.values[beats[3].expected[0]], trace.values[0])
    assert [b.counts for b in beats] == [True, True, False, True, True, True, True]
    assert {b.offset for b in beats} == {0}


def test_the_sides_of_a_branch_fill_a_register_together() -> None:
    sides = [(op((), 5), LOW), (op((), 4), HIGH), op((5, 4), 6)]
    trace = valued(sides)
    moves = [Insertion(0, move(2, 5), True, copied), Insertion(1, move(2, 4), True, copied)]
    changed = rewritten(trace, [*moves, Insertion(2, op((2,), 3), result=lambda rows: rows + 1)])
    row = prepare(CFG, changed).beats[4].expected[0]
    assert np.array_equal(changed.values[row], [*trace.values[0][:16], *trace.values[1][16:]])
    assert int(changed.written[row]) == FULL
    last = changed.value_row[4]
    assert np.array_equal(changed.values[last], changed.values[row] + 1)


def test_a_partial_write_keeps_what_a_move_left_in_the_other_lanes() -> None:
    trace = valued([op((), 5), (op((), 2), LOW), (op((2,), 7), LOW)])
    changed = rewritten(trace, [Insertion(0, move(2, 5), True, copied), Insertion(2, op((2,), 3), True, copied)])
    assert changed.value_row[2] >= len(trace.values)
    assert np.array_equal(changed.values[changed.value_row[2]], [*trace.values[1][:16], *trace.values[0][16:]])


def test_lanes_without_a_write_stay_undefined_in_a_copy() -> None:
    trace = valued([(op((), 5), LOW), op((), 6)], written=np.array([LOW, FULL], dtype=np.uint32))
    changed = rewritten(trace, [Insertion(1, move(2, 5), True, copied), Insertion(1, move(3, 4), True, copied)])
    assert [int(changed.written[changed.value_row[k]]) for k in (2, 3)] == [LOW, 0]


def test_a_copy_of_an_unknown_value_is_unknown() -> None:
    trace = valued([op((), 5), op((), 6)], value_row=np.array([NO_ROW, 1, NO_ROW]))
    changed = rewritten(trace, [Insertion(1, move(2, 5), True, copied), Insertion(1, move(3, 6), True)])
    assert changed.value_row.tolist() == [NO_ROW, 1, NO_ROW, NO_ROW, NO_ROW]


def test_a_trace_without_values_is_rewritten_too() -> None:
    trace = hand_trace([op((), 5), op((5,), 6)], value_row=np.full(3, NO_ROW), source="accelsim")
    changed = rewritten(trace, [Insertion(1, move(2, 5), result=copied)], renamings=[{5: 2}], renaming=[-1, 0, -1])
    assert [b.sources for b in prepare(CFG, changed).beats] == [(), (5,), (2,), ()]


def test_addresses_go_with_an_inserted_access() -> None:
    trace, where = valued([op((), 5)]), np.arange(LANES, dtype=np.uint64) * 4
    store = op((5,), port=Port.LSU, text="STL")
    changed = rewritten(trace, [Insertion(1, store, addresses=where), Insertion(1, store)])
    assert changed.address_row.tolist() == [NO_ROW, 0, NO_ROW, NO_ROW]
    assert np.array_equal(changed.addresses, [where])
    assert same(original(changed), trace)


@pytest.mark.parametrize(
    ("insertion", "message"),
    [
        (Insertion(9, pseudo()), r"record must be one of 4, not 9 \('ACQ'\)"),
        (Insertion(3, pseudo(), after=True), "'ACQ' must not stand behind the end of its warp, 3"),
        (Insertion(1, BAR), "'BAR' must be of kind NORMAL or SCHEME, not BARRIER"),
        (Insertion(1, pseudo(-1)), "operand of 'ACQ' must not be negative, not -1"),
        (Insertion(1, move(8, 1), result=copied), "'MOV R8, R1' must name registers below 8, not 8"),
        (Insertion(1, pseudo(), active=FULL << 1), "active of 'ACQ' must be live lanes, 0xffffffff, not 0x1fffffffe"),
        (
            Insertion(1, move(1, 2), result=lambda rows: rows[:0]),
            r"result of 'MOV R1, R2' must be 1 rows of 32 lanes, not \(0, 32\)",
        ),
        (Insertion(1, move(1, 2), addresses=np.zeros(2)), r"addresses of 'MOV R1, R2' must be 32, not \(2,\)"),
        (Insertion(1, move(5, 7), result=copied), "'TEST' at 0x0 must find in R5 what the original has in R5"),
    ],
)
def test_what_would_break_the_trace_is_refused(insertion: Insertion, message: str) -> None:
    trace = valued([op((), 5), op((5,), 6), op((), 7)])
    with pytest.raises(RewriteError, match=message):
        rewritten(trace, [insertion])


def test_hints_come_after_all_rewriting() -> None:
    trace = hand_trace([op((), 5)], hints=np.zeros(2, dtype=np.uint64), annotation="malekeh")
    with pytest.raises(RewriteError, match=r"hand must be rewritten before it gets hints, not after \(malekeh\)"):
        rewritten(trace)
    assert same(original(trace), hand_trace([op((), 5)]))


@pytest.mark.parametrize(
    ("renamings", "renaming", "message"),
    [
        ([{4: 9}], [0, 0, 0], "registers of 'TEST' at 0x0 must be renamed below 6, not to 9"),
        ([{4: 2}], [0, 0, 0], "destinations of 'TEST' at 0x0 must stay neighbours, not become 2, 5"),
        ([{4: 2, 5: 3}], [0, -1, -1], "must find in R4 what the original has in R4"),
        ([{}], [0, 1, 0], "renaming must name one of 1 renamings, not 1"),
        ([{}], [0], "renaming must have one element per record, 3, not 1"),
    ],
)
def test_names_must_keep_the_trace_right(renamings: list[dict[int, int]], renaming: list[int], message: str) -> None:
    trace = valued([op((), 4), op((), 4, dest_count=2), op((4,), 0)][1:])
    with pytest.raises(RewriteError, match=message):
        rewritten(trace, renamings=renamings, renaming=np.array(renaming))


def test_pseudo_instructions_need_a_machine_that_takes_them() -> None:
    changed = rewritten(valued([op((), 1)]), [Insertion(1, pseudo(300))], annotation="regmutex es=4")
    for cfg in (CFG, Taker()):
        message = f"operand_bits must be at least 9 for 'ACQ', not {cfg.operand_bits}: hand is annotated for regmutex"
        with pytest.raises(WorkloadError, match=message):
            prepare(cfg, changed)
    beat = prepare(Taker(), rewritten(valued([op((), 1)]), [Insertion(1, pseudo(255, Drain.EMPTY))])).beats[1]
    assert (beat.operand, beat.drain, beat.pseudo, beat.counts, beat.needs_unit) == (
        255,
        Drain.EMPTY,
        True,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("static", "message"),
    [
        (pseudo(token_reads=1), "must have neither execution port nor tokens"),
        (op((1,), kind=Kind.SCHEME), "must have neither execution port nor tokens"),
        (op((1,), operand=1), "must be a pseudo-instruction, because it has an operand or drains"),
        (op((1,), drain=Drain.EMPTY), "must be a pseudo-instruction, because it has an operand or drains"),
        (pseudo(sources=(1,)), "must have an execution port, because it has vector registers"),
    ],
)
def test_a_pseudo_instruction_has_an_operand_and_nothing_else(static: StaticInstruction, message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        prepare(Taker(), hand_trace([op((), 1), static]))


class Described(Config):
    """Wants to be told a number."""

    @property
    def descriptor(self) -> tuple[tuple[str, int], ...]:
        """Its fields."""
        return (("bases", 4),)


@pytest.mark.parametrize(
    ("descriptor", "message"),
    [
        ({}, "hand must be annotated for this scheme: its descriptor must have registers, bases, not registers"),
        ({"bases": 16}, "bases of hand's descriptor must fit 4 bits, not 16"),
    ],
)
def test_the_descriptor_must_be_what_the_machine_wants(descriptor: dict[str, int], message: str) -> None:
    with pytest.raises(WorkloadError, match=message):
        prepare(Described(), rewritten(hand_trace([op((), 1)]), descriptor=descriptor))


def test_a_rewritten_trace_survives_its_file(tmp_path) -> None:
    wide = (1 << 256) - 1
    trace = rewritten(
        valued([op((), 5), op((5,), 6)]),
        [Insertion(1, pseudo(wide, Drain.DISPATCHED)), Insertion(1, move(2, 5), result=copied)],
        renamings=[{5: 2}],
        renaming=np.array([-1, 0, -1]),
        descriptor={"bases": 3},
        annotation="by hand",
    )
    trace = dataclasses.replace(trace, hints=np.array([1 << 63] * 5, dtype=np.uint64))
    trace.save(tmp_path / "t.npz")
    assert same(Trace.load(tmp_path / "t.npz"), trace)


def test_a_file_of_an_older_version_gets_one_line(tmp_path, monkeypatch) -> None:
    path = tmp_path / "t.npz"
    monkeypatch.setattr("warpfile.spec.trace_file.VERSION", 2)
    monkeypatch.setattr("warpfile.spec.trace_file._ARRAYS", ("instruction",))
    hand_trace([op((), 5)]).save(path)
    monkeypatch.undo()
    with pytest.raises(TraceError, match=rf"{path} must have format warpfile-trace version 5, not 2"):
        Trace.load(path)
