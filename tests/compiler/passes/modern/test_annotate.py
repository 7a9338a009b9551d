"""Control codes, beats and positions as hints (docs/schemes/modern.md, sections 4 and 5)."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.compiler.passes.modern.coded import EXAMPLE, coded_trace
from warpfile.compiler import parse
from warpfile.compiler.passes.modern.annotate import annotate
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.run import execute
from warpfile.schemes.compose import find
from warpfile.spec.config import Config
from warpfile.spec.rewrite import RewriteError, original, recast
from warpfile.spec.schemes.modern import BARRIERS, NO_BARRIER, ReadWindowConfig
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import NO_CODE, Port, Trace
from warpfile.spec.workload import Workload, prepare

KERNELS = Path(__file__).parents[4] / "kernels"


@cache
def traced(kernel: str) -> Trace:
    return execute(load_kernel(KERNELS / kernel)).trace


def configured(preset: str = "turing_rfc", **changes: object) -> ReadWindowConfig:
    cfg = find("modern").configuration(preset, **changes)
    assert isinstance(cfg, ReadWindowConfig)
    return cfg


CFG = configured()


def hint(cfg: Config, word: int, name: str) -> int:
    width = next(one.bits for one in cfg.hints() if one.name == name)
    return word >> cfg.hint_at(name) & (1 << width) - 1


def uncoded(trace: Trace, listing: str = "") -> Trace:
    """The trace as one without codes has it."""
    return replace(trace, listing=listing, program=tuple(replace(one, control=NO_CODE) for one in trace.program))


def test_the_code_of_a_load_is_on_its_beats() -> None:
    trace = find("modern").annotated(CFG, traced("saxpy"))
    opcodes = [trace.program[index].opcode for index in trace.instruction.tolist()]
    first = next(beat for beat in prepare(CFG, trace).beats if opcodes[beat.record] == "S2R")
    names = ("write_barrier", "read_barrier", "wait_mask", "yields", "registers")
    fields = {name: hint(CFG, first.hints, name) for name in names}
    assert fields == {"write_barrier": 0, "read_barrier": NO_BARRIER, "wait_mask": 0, "yields": 0, "registers": 0}
    assert CFG.port_of[first.port] == 1 and hint(CFG, first.hints, "stall") == 4


@pytest.mark.parametrize("kernel", ["divide_double", "bits", "tensor", "calls"])
def test_the_original_comes_back(kernel: str) -> None:
    trace = traced(kernel)
    back = original(find("modern").annotated(CFG, trace))
    assert back.program == trace.program
    assert np.array_equal(back.instruction, trace.instruction)


def test_a_pair_takes_two_beats_that_issue_two_ticks_apart() -> None:
    trace = find("modern").annotated(CFG, traced("conv2d"))
    beats = prepare(CFG, trace).beats
    pairs = [
        (low, high)
        for low, high in pairwise(beats)
        if low.record == high.record and trace.program[trace.instruction[low.record]].opcode == "IMAD.WIDE"
    ]
    assert pairs
    for low, high in pairs:
        assert high.sources == (low.sources[-1] + 1,) and hint(CFG, low.hints, "stall") == 2
        assert hint(CFG, high.hints, "positions") >> 4 == 0  # the third position, of both
        assert hint(CFG, high.hints, "wait_mask") == 0 and hint(CFG, low.hints, "write_barrier") == NO_BARRIER


def test_no_fixed_beat_names_a_position_twice_for_two_registers() -> None:
    for kernel in ("nbody", "half2", "fft64"):
        trace = find("modern").annotated(CFG, traced(kernel))
        for beat in prepare(CFG, trace).beats:
            slots = [hint(CFG, beat.hints, "positions") >> 2 * at & 3 for at in range(3)]
            assert {one for one in slots if one != 3} == set(range(len(beat.sources)))


def test_a_listing_without_codes_says_how_to_get_them() -> None:
    trace = uncoded(traced("saxpy"), traced("saxpy").listing)
    with pytest.raises(ValueError, match="saxpy must have control codes: make its listing with 'nvdisasm -hex"):
        find("modern").annotated(CFG, trace)
    free = configured(dependences="scoreboard")
    assert prepare(free, find("modern").annotated(free, trace)).beats


@pytest.mark.parametrize(
    ("architecture", "preset"),
    [(80, "ampere"), (86, "ampere"), (89, "ada"), (90, "hopper"), (100, "hopper"), (120, "blackwell")],
)
def test_code_for_newer_machines_needs_a_preset_of_theirs(architecture: int, preset: str) -> None:
    trace = traced("saxpy")
    newer = replace(trace, listing=trace.listing.replace(".target\tsm_75", f".target\tsm_{architecture}"))
    with pytest.raises(
        ValueError, match=f"saxpy is code for sm_{architecture}: .*: use --preset {preset}, or set depend"
    ):
        find("modern").annotated(CFG, newer)
    assert not any("use --preset" in note for note in find("modern").annotated(configured(preset), newer).notes)
    assert find("modern").annotated(configured(dependences="scoreboard"), newer).annotation
    assert find("modern").annotated(CFG, trace).annotation


@pytest.mark.parametrize("preset", ["ampere", "ada", "hopper", "blackwell"])
def test_code_for_another_machine_is_told_which_preset_to_use(preset: str) -> None:
    gpu = {"ampere": 86, "ada": 89, "hopper": 90, "blackwell": 120}[preset]
    said = f"control codes are for sm_75, and the latencies are those of sm_{gpu}: use --preset turing_rfc"
    assert find("modern").annotated(configured(preset), traced("saxpy")).notes == (said,)
    assert find("modern").annotated(configured(preset, dependences="scoreboard"), traced("saxpy")).notes == ()
    assert find("modern").annotated(configured("tiny"), traced("saxpy")).notes == ()


def test_a_counter_on_a_fixed_instruction_is_refused() -> None:
    trace = traced("saxpy")
    wrong = [replace(one, control=one.control & ~(7 << 5)) if one.opcode == "FFMA" else one for one in trace.program]
    with pytest.raises(ValueError, match="must have no dependence counter, because its latency is fixed"):
        find("modern").annotated(CFG, replace(trace, program=tuple(wrong)))


@pytest.mark.parametrize(
    ("text", "barrier", "left", "mask"),
    [
        ("DEPBAR.LE SB0, 0x0", NO_BARRIER, 0, 1),
        ("DEPBAR.LE SB5, 0x2", 5, 2, 0),
        ("@P0 DEPBAR.LE SB3, 0x1, {2,4}", 3, 1, 0b10100),
    ],
)
def test_a_depbar_says_which_counter_it_waits_for_and_how_many_it_leaves(
    text: str, barrier: int, left: int, mask: int
) -> None:
    work = prepare(CFG, find("modern").annotated(CFG, coded_trace("LDS R2, [R4] | W0", f"{text} | S4 wait1")))
    hints = work.beats[1].hints
    assert hint(CFG, hints, "wait_mask") == mask | 2
    assert (hint(CFG, hints, "write_barrier"), hint(CFG, hints, "positions")) == (barrier, left)
    assert not work.beats[1].results


def test_another_depbar_is_refused_where_codes_decide_and_runs_where_a_scoreboard_does() -> None:
    """The line that refuses it says so."""
    trace = coded_trace("LDS R2, [R4] | W0", "DEPBAR {2,1} | S4", "FADD R3, R2, R2 | S4")
    with pytest.raises(
        ValueError, match=r"'DEPBAR \{2,1\}' at 0x10 must be DEPBAR.LE .* or set dependences=scoreboard"
    ):
        find("modern").annotated(CFG, trace)
    free = configured(dependences="scoreboard")
    assert len(prepare(free, find("modern").annotated(free, trace)).beats) == 4


def early(cfg: ReadWindowConfig, work: Workload) -> list[str]:
    """Beats that the codes let issue before what they name is there, if nothing but the codes kept them."""
    found = []
    for beats in work.warps:
        at, fixed, set_at, guards = 0, dict[int, tuple[int, int]](), [0] * BARRIERS, dict[int, int]()
        for beat in beats:
            word, variable = beat.hints, cfg.port_of[beat.port] in (1, 2)
            wait = hint(cfg, word, "wait_mask")
            for barrier in (one for one in range(BARRIERS) if wait >> one & 1):
                found += ["unseen"] if beat.executes and at < set_at[barrier] + 2 else []
            guards = {register: mask & ~wait for register, mask in guards.items()}
            named = {*beat.sources, *range(beat.dest, beat.dest + beat.dest_count)} if beat.executes else set()
            found += ["unguarded"] if any(guards.get(one, 0) for one in named) else []
            distance = cfg.variable_distance if variable else cfg.fixed_distance
            reads = [one for one in beat.sources if one in fixed and at < sum(fixed[one]) + distance]
            found += ["too near"] if beat.executes and reads else []
            if beat.executes and beat.dest_count:
                dests = {beat.dest + k: (at, max(k - 1, 0)) for k in range(beat.dest_count)}
                fixed = {one: when for one, when in fixed.items() if one not in dests} | ({} if variable else dests)
                barrier = hint(cfg, word, "write_barrier")
                if variable:
                    set_at[barrier] = at
                    guards |= dict.fromkeys(dests, 1 << barrier)
            at += max(1, hint(cfg, word, "stall"))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_codes_of_a_trace_without_any_are_late_enough(seed: int) -> None:
    trace = find("modern").annotated(CFG, stress_trace(seed=seed))
    assert not early(CFG, prepare(CFG, trace))


def test_codes_of_the_bundled_kernels_are_too() -> None:
    for kernel in ("unrolled_poly", "stencil", "nbody"):
        trace = find("modern").annotated(CFG, uncoded(traced(kernel)))
        assert not early(CFG, prepare(CFG, trace))


def test_a_stall_count_lowered_by_one_is_found() -> None:
    work = prepare(CFG, find("modern").annotated(CFG, uncoded(traced("unrolled_poly"))))
    work = replace(work, warps=work.warps[:1])
    stalled = [beat for beat in work.warps[0] if hint(CFG, beat.hints, "stall") > 1]
    found = 0
    for beat in stalled[:40]:
        beat.hints -= 1 << CFG.hint_at("stall")
        found += bool(early(CFG, work))
        beat.hints += 1 << CFG.hint_at("stall")
    assert found > 3


def test_a_seed_gives_other_codes_that_wait_no_less() -> None:
    trace = uncoded(traced("unrolled_poly"))
    tight, loose = (prepare(CFG, find("modern").annotated(CFG, trace, seed)) for seed in (None, 5))
    stalls = [[hint(CFG, beat.hints, "stall") for beat in work.beats] for work in (tight, loose)]
    assert stalls[0] != stalls[1] and all(a <= b for a, b in zip(*stalls, strict=True))
    assert not early(CFG, loose)
    assert any(hint(CFG, beat.hints, "yields") for beat in loose.beats)


def test_analyze_shows_every_code() -> None:
    from warpfile.compiler.passes.modern.annotate import codes

    text = parse(
        "\t\tFunction : k\n"
        "        /*0000*/   S2R R0, SR_TID.X ;   /* 0x0000000000007919 */\n"
        "                                        /* 0x000e220000002100 */\n"
        "        /*0010*/   FADD R1, R0.reuse, R2 ;   /* 0x0000000000007221 */\n"
        "                                        /* 0x042fc80000000000 */\n",
        "t",
    )
    assert codes(text.function("k"), CFG) == {
        0: "variable stall=1 set=0- wait=-",
        0x10: "fixed stall=4Y set=-- wait=1 reuse=0",
    }


def test_the_worked_example_has_the_hints_of_the_page() -> None:
    beats = prepare(CFG, find("modern").annotated(CFG, coded_trace(*EXAMPLE))).warps[0][:7]

    def row(name: str) -> list[int]:
        return [hint(CFG, beat.hints, name) for beat in beats]

    assert row("stall") == [1, 1, 4, 5, 2, 1, 1]
    assert row("wait_mask") == [0, 0, 0, 0, 0, 2, 1]
    assert row("write_barrier") == [7, 7, 7, 7, 0, 7, 7] and row("read_barrier") == [7, 7, 7, 7, 1, 7, 7]
    assert row("reuse") == [0, 1, 0, 0, 0, 0, 0] and row("fma") == [1, 1, 1, 1, 0, 0, 0]
    assert row("positions")[0] == 0b100100 and row("positions")[3] == 0b011100
    assert [beat.sources for beat in beats][3:5] == [(15, 19), (16, 17)]


def test_every_warp_executes_the_lines() -> None:
    trace = find("modern").annotated(CFG, coded_trace("NOP", "NOP | S4 Y", warps=4))
    stalls = [[hint(CFG, beat.hints, "stall") for beat in beats] for beats in prepare(CFG, trace).warps]
    assert stalls == [[1, 4, 1]] * 4


def test_recasting_changes_units_and_beats_only() -> None:
    trace = traced("saxpy")
    with pytest.raises(RewriteError, match="must only change its unit and its beats"):
        recast(trace, {0: replace(trace.program[0], dest=3)})
    moved = recast(trace, {0: replace(trace.program[0], port=Port.SFU)})
    with pytest.raises(RewriteError, match="before it gets hints"):
        recast(annotate(CFG, trace, None), {})
    assert original(moved).program == trace.program
