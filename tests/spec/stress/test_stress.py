"""Stress traces are legal, repeatable and full of corner cases."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from warpfile import api
from warpfile.compiler.control_codes import from_bits
from warpfile.compiler.passes.modern.read_positions import waits_of
from warpfile.compiler.passes.pilot.exact import accesses
from warpfile.compiler.passes.regmutex.exact import in_use
from warpfile.spec.config import Config
from warpfile.spec.stress import SHARED_BYTES, stress_trace
from warpfile.spec.stress.pending import (
    back_to_back_trace,
    borrow_trace,
    left_trace,
    queue_trace,
    release_trace,
    repeat_trace,
)
from warpfile.spec.stress.program import PROFILES, stress_program
from warpfile.spec.stress.slices import fill_trace, gap_trace, march_trace, pair_trace, stack_trace
from warpfile.spec.trace import LANES, NO_ROW, Access, Kind, Port, Space, Trace
from warpfile.spec.workload import prepare

FULL = (1 << LANES) - 1
SEEDS = range(6)


def lanes_of(mask: int) -> np.ndarray:
    return (mask >> np.arange(LANES)) & 1 != 0


@pytest.fixture(params=[(profile, seed) for profile in PROFILES for seed in SEEDS], ids=lambda p: f"{p[0]}-{p[1]}")
def trace(request: pytest.FixtureRequest) -> Trace:
    profile, seed = request.param
    print(f"profile {profile}, seed {seed}")
    return stress_trace(seed, profile=profile, warps_per_cta=[3, 1, 4], ctas=4, length=50)


def test_masks_are_nested(trace: Trace) -> None:
    assert not np.any(trace.active & ~trace.live)
    assert not np.any(trace.execute & ~trace.active)
    assert np.all(trace.live != 0)


def test_lanes_leave_at_exits_and_all_in_the_end(trace: Trace) -> None:
    for warp in range(trace.warps):
        records = range(int(trace.warp_start[warp]), int(trace.warp_start[warp + 1]))
        live = int(trace.live[records[0]])
        for n in records:
            assert int(trace.live[n]) == live
            static = trace.program[trace.instruction[n]]
            if static.opcode == "EXIT":
                live &= ~int(trace.execute[n])
            if static.kind == Kind.EXIT:
                assert trace.execute[n] == trace.active[n]
        assert live == 0
        assert trace.program[trace.instruction[records[-1]]].kind == Kind.EXIT


def test_control_flow_leaves_the_line_at_branches_only(trace: Trace) -> None:
    for warp in range(trace.warps):
        path = trace.instruction[trace.warp_start[warp] : trace.warp_start[warp + 1]]
        for here, there in pairwise(path.tolist()):
            assert there == here + 1 or trace.program[here].kind == Kind.BRANCH


def test_values_are_the_content_after_the_write(trace: Trace) -> None:
    row = 0
    for warp in range(trace.warps):
        content: dict[int, np.ndarray] = {}
        written: dict[int, int] = {}
        for n in range(int(trace.warp_start[warp]), int(trace.warp_start[warp + 1])):
            static, execute = trace.program[trace.instruction[n]], int(trace.execute[n])
            if not (static.dest_count and execute):
                assert trace.value_row[n] == NO_ROW
                continue
            assert trace.value_row[n] == row
            for register in static.dests:
                old = content.get(register, np.zeros(LANES, dtype=np.uint32))
                assert np.array_equal(trace.values[row][~lanes_of(execute)], old[~lanes_of(execute)])
                content[register] = trace.values[row]
                written[register] = written.get(register, 0) | execute
                assert trace.written[row] == written[register]
                row += 1
    assert row == len(trace.values)


def test_addresses_belong_to_executed_accesses(trace: Trace) -> None:
    rows = 0
    for n, index in enumerate(trace.instruction):
        static, execute = trace.program[index], int(trace.execute[n])
        if static.space in (Space.NONE, Space.CONSTANT, Space.TEXTURE) or not execute:
            assert trace.address_row[n] == NO_ROW
            continue
        assert trace.address_row[n] == rows
        assert not np.any(trace.addresses[rows][~lanes_of(execute)])
        if static.space == Space.SHARED:
            assert int(trace.addresses[rows].max()) + static.bytes <= SHARED_BYTES
        rows += 1
    assert rows == len(trace.addresses)


def test_instructions_are_as_the_trace_documents_them(trace: Trace) -> None:
    for static in trace.program:
        assert (static.space == Space.NONE) == (static.access == Access.NONE)
        if static.port == Port.NONE:
            assert not static.sources
            assert not static.dest_count
            assert static.space == Space.NONE
        if static.kind in (Kind.BARRIER, Kind.EXIT):
            assert static.port == Port.NONE
    named = [r for i in trace.program for r in (*i.sources, *i.dests)]
    assert trace.registers == max(named, default=0) + 1 <= 24


def test_a_machine_can_run_it(trace: Trace) -> None:
    workload = prepare(Config(), trace)
    assert [len(warps) for warps in workload.ctas] == [3, 1, 4, 3]


def test_traces_are_repeatable_and_survive_their_file(tmp_path: Path) -> None:
    first, second = stress_trace(3), stress_trace(3)
    first.save(tmp_path / "t.npz")
    loaded = Trace.load(tmp_path / "t.npz")
    for other in (second, loaded):
        assert other.program == first.program
        assert np.array_equal(other.values, first.values)
        assert np.array_equal(other.instruction, first.instruction)
        assert np.array_equal(other.addresses, first.addresses)
    assert not np.array_equal(stress_trace(4).instruction, first.instruction)


def test_the_corner_cases_occur() -> None:
    traces = [stress_trace(seed, profile=p, warps_per_cta=[1, 4]) for p in PROFILES for seed in SEEDS]
    used = [(t.program[i], int(m)) for t in traces for i, m in zip(t.instruction, t.execute, strict=True)]
    statics = [static for static, _ in used]
    assert {s.dest_count for s in statics} == {0, 1, 2, 3, 4}
    assert {len(s.sources) for s in statics} >= set(range(8))
    assert any(len(set(s.sources)) < len(s.sources) for s in statics)
    assert any(s.dest in s.sources for s in statics if s.dest_count)
    assert any(s.port == Port.LSU and not s.sources and not s.dest_count for s in statics)
    assert {s.kind for s in statics} == set(Kind) - {Kind.SCHEME}
    assert {s.space for s in statics} == set(Space)
    assert {s.access for s in statics} == set(Access)
    assert any(s.kind == Kind.BRANCH and s.sources for s in statics)
    assert any(s.kind == Kind.BARRIER and not mask for s, mask in used)
    masks = [mask for s, mask in used if s.dest_count]
    assert 0 in masks
    assert FULL in masks
    assert any(0 < mask < FULL for mask in masks)
    sectors = {len(b.sectors) for t in traces for b in prepare(Config(), t).beats}
    assert {0, 1, 4, 32} <= sectors
    lengths = {int(n) for t in traces for n in np.diff(t.warp_start)}
    assert 1 in lengths
    assert max(lengths) >= 50
    # An EXIT before the end, both guarded and not.
    exits = [s for s in statics if s.opcode == "EXIT" and s.offset != 16 * 61]
    assert {s.kind for s in exits} == {Kind.BRANCH, Kind.EXIT}


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match=r"profile must be one of mixed, .*, not 'odd'"):
        stress_trace(0, profile="odd")
    with pytest.raises(ValueError, match="registers must be a number from 4 to 255, not 3"):
        stress_trace(0, registers=3)


def test_instructions_of_the_sfu_have_one_or_two_sources() -> None:
    """FCHK, F2I.F64 and F2F.F32.F64 have two."""
    found = {
        len(instruction.sources)
        for seed in range(4)
        for instruction in stress_program(random.Random(seed), PROFILES["mixed"], size=200, registers=32)
        if instruction.port is Port.SFU
    }
    assert found == {1, 2}


@pytest.mark.parametrize("warp", [0, 1])
def test_in_some_turn_every_register_of_a_warp_waits_while_every_other_one_is_released_by_every_port(warp: int) -> None:
    found = set()
    for turn in range(2):
        trace = release_trace(registers=5, warps=2, turn=turn)
        first, last = trace.warp_start[warp : warp + 2].tolist()
        path = [trace.program[place] for place in trace.instruction[first : last - 1]]
        assert trace.program[trace.instruction[last - 1]].kind is Kind.EXIT
        for slow, fast, reader in zip(path[::3], path[1::3], path[2::3], strict=True):
            assert (slow.port, slow.space, reader.sources) == (Port.LSU, Space.GLOBAL, (slow.dest,))
            assert fast.space is not Space.GLOBAL
            found.add((slow.dest, fast.dest, fast.port))
        prepare(Config(), trace)
    pairs = [(one, other) for one in range(5) for other in range(5) if one != other]
    assert found == {(*pair, port) for pair in pairs for port in (Port.ALU, Port.SFU, Port.LSU)}


def test_a_trace_that_borrows_needs_many_registers_for_a_moment_only() -> None:
    trace, registers = borrow_trace(1, 50, warps=3, ctas=2), 50
    assert trace.warp_cta.tolist() == [0, 0, 0, 1, 1, 1] and trace.registers == registers
    prepare(Config(), trace)
    high = in_use(trace) >= 9 * registers // 10
    assert 0.2 < high.mean() < 0.8 and (high[1:] != high[:-1]).sum() > 30


def test_a_trace_that_fills_writes_every_register_wide_values_first_and_some_warps_leave() -> None:
    trace = fill_trace(3, registers=20, warps=3, length=50)
    prepare(Config(), trace)
    assert trace.warp_cta.tolist() == [0, 0, 0, 1, 1, 1]
    lengths = set()
    for warp in range(6):
        steps = range(*trace.warp_start[warp : warp + 2].tolist())
        first = [trace.program[trace.instruction[step]].dest for step in steps[:20]]
        assert sorted(first) == list(range(20))
        wide = [bool((trace.values[trace.value_row[step]] >> 24).any()) for step in steps[:20]]
        assert all(wide[:10]) and not all(wide)
        lengths.add(len(steps))
    assert lengths == {22, 20 + 50 + 20 + 3}


def written(trace: Trace, again: bool = False) -> list[list[dict[int, int]]]:
    """Warp by warp, between barriers: the registers that are written, and bits of their widest lanes at last."""
    prepare(Config(), trace)
    found: list[list[dict[int, int]]] = []
    for start, end in pairwise(trace.warp_start.tolist()):
        phases: list[dict[int, int]] = [{}]
        for step in range(start, end):
            static = trace.program[trace.instruction[step]]
            if static.kind == Kind.BARRIER:
                phases.append({})
            elif static.dest_count:
                assert again or static.dest not in phases[-1]
                phases[-1][static.dest] = int(trace.values[trace.value_row[step]].max()).bit_length()
        assert not phases.pop()  # nothing but reads
        found.append(phases)
    return found


def test_a_trace_that_stacks_writes_narrow_values_behind_wide_ones() -> None:
    trace = stack_trace(3, 12, registers=20)
    for wide, narrow in written(trace):
        assert len(wide) == 12 and sorted([*wide, *narrow]) == list(range(20))
        assert min(wide.values()) > 24 and set(narrow.values()) <= {6, 7, 14, 15}
    assert accesses(trace, slice(0, int(trace.warp_start[1]))) == dict.fromkeys(range(20), 2)


def test_a_trace_of_pairs_reads_six_registers_two_by_two_whose_second_ones_grow() -> None:
    trace = pair_trace(3, registers=30)
    together = {static.sources for static in trace.program if len(static.sources) == 2}
    assert together == {(24, 25), (26, 27), (28, 29)}
    for *others, first, second, grows in written(trace):
        below, gaps, rest, grown = others
        assert sorted([*below, *gaps, *rest]) == list(range(24)) and len(below) == 19
        assert len(gaps) == 5 and max(gaps.values()) < 16 and grown.keys() <= gaps.keys()
        assert min([*below.values(), *grown.values(), *grows.values()]) > 24
        assert set(first) == {24, 26, 28} and set(second) == set(grows) == {25, 27, 29}
        assert max([*first.values(), *second.values()]) < 8
    growing = sum(len(phases[3]) for phases in written(trace))
    assert 0 < growing < 20


def test_a_trace_of_gaps_makes_one_at_a_time_into_which_a_value_grows() -> None:
    """Values have one byte, two or four; one warp at a time writes, by the ALU alone, in the order of the phases."""
    trace = gap_trace(registers=9)
    assert {trace.program[one].port for one in trace.instruction if trace.program[one].dest_count} == {Port.ALU}
    warps = written(trace)
    assert all(min(phases[0].values()) > 24 and [*phases[0]] == [*range(8)] for phases in warps)
    assert [[sum(width > 24 for width in phase.values()) for phase in phases[1:3]] for phases in warps[:2]] == [
        [1, 0]
    ] * 2
    assert all(phases[1] == {} and phases[2][8] in (14, 15) for phases in warps[2:])
    turns = [[step for step in phases[3:] if step] for phases in warps]
    assert all(sum(map(bool, steps)) == 1 for steps in zip(*(phases[3:] for phases in warps), strict=True))
    for steps in turns:
        moves = [(register, -(-bits // 8)) for step in steps for register, bits in step.items()]
        assert moves[:5] == [(0, 2), (6, 1), (6, 2), (6, 4), (0, 4)]
        assert moves[5:13] == [(0, 1), (6, 2), (6, 3), (0, 4), (4, 1), (4, 2), (4, 4), (6, 4)]
        assert moves[13:18] == [(6, 1), (0, 2), (0, 3), (6, 4), (0, 4)]
        assert [register for register, _ in moves[18::18]] == [1, 2, 3] and len(moves) == 4 * 18
        assert {register for register, _ in moves[18:36]} == {1, 5, 7}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_trace_that_marches_leaves_one_more_register_wide_from_step_to_step(seed: int) -> None:
    trace = march_trace(seed, registers=24, warps=2, ctas=2)
    together = {static.sources for static in trace.program if len(static.sources) == 2}
    assert together == {(18, 19), (20, 21), (22, 23)}
    assert trace.warp_cta.tolist() == [0, 0, 1, 1]
    for phases in written(trace, again=True):
        bits: dict[int, int] = {}
        for count, phase in zip((8, 16, 21, 22, 23, 24), phases, strict=True):
            bits |= phase
            assert sum(width > 24 for width in bits.values()) >= (min(count, 18) if seed == 1 else count)
        assert sorted(bits) == list(range(24))
        first = next(place for place, phase in enumerate(phases) if phase.keys() & set(range(18, 24)))
        assert (first > 0) == (seed == 2)


def test_a_trace_that_queues_loads_all_under_one_counter_and_reads_behind_it() -> None:
    trace = queue_trace(0, registers=9)
    prepare(Config(), trace)
    codes = [from_bits(static.control) for static in trace.program]
    assert [code.write_barrier for code in codes] == [0] * 9 + [None] * 10
    assert [code.wait_mask for code in codes] == [0] * 9 + [1] * 9 + [0]
    assert {(code.read_barrier, code.yields, code.reuse) for code in codes} == {(None, False, 0)}
    assert trace.instruction.tolist() == list(range(19))


def test_loads_from_far_lanes_have_a_line_each_and_the_counter_that_was_asked_for() -> None:
    trace = queue_trace(0, registers=9, counter=3, far=True)
    codes = [from_bits(static.control) for static in trace.program]
    assert [code.write_barrier for code in codes] == [3] * 9 + [None] * 10
    assert [code.wait_mask for code in codes] == [0] * 9 + [8] * 9 + [0]
    assert len(np.unique(trace.addresses // 128)) == 9 * LANES


def test_a_trace_waits_for_all_loads_but_some_under_each_counter() -> None:
    trace = left_trace(registers=8)
    waits = [found for static in trace.program if (found := waits_of(static))]
    assert [one.barrier for one in waits] == [counter for counter in range(6) for _ in range(5)]
    assert [one.most for one in waits] == 6 * [7, 7, 6, 3, 1]
    codes = [from_bits(static.control) for static in trace.program if static.dest_count]
    assert [code.write_barrier for code in codes] == [counter for counter in range(6) for _ in range(8)]
    (run,) = api.simulate("modern", [trace], preset="tiny").runs
    assert run.counters["barrier_waits"] > 0


def test_each_register_is_read_in_each_slot_right_behind_its_write_and_that_of_each_other_one_of_its_eight() -> None:
    trace = back_to_back_trace(registers=16)
    steps = [trace.program[number] for number in trace.instruction[:-1]]
    found = set()
    for other, one, reader in zip(steps[::3], steps[1::3], steps[2::3], strict=True):
        (slot,) = [slot for slot, source in enumerate(reader.sources) if source == one.dest]
        assert other.dest not in reader.sources
        found.add((other.dest, one.dest, slot))
    eights = (range(8), range(8, 16))
    assert found == {(a, b, slot) for eight in eights for a in eight for b in eight if a != b for slot in range(3)}


def test_a_trace_that_repeats_itself_names_two_registers_so_often() -> None:
    trace = repeat_trace(3, times=128)
    assert accesses(trace, slice(0, int(trace.warp_start[1]))) == {6: 130, 7: 130}
    assert accesses(trace, slice(int(trace.warp_start[1]), None)) == {}
