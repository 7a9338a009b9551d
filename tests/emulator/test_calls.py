"""Calls, returns and indirect branches."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator.harness import LANE, run, words
from warpfile.emulator.errors import ExecutionError


def test_call_and_return() -> None:
    code = """MOV R8, 0x30
        MOV R9, 0x0
        CALL.REL.NOINC `(routine)
        IADD3 R0, R0, 0x1, RZ
        BRA `(end)
        routine:
        MOV R0, 0x10
        RET.REL.NODEC R8 `(k)
        end:
        NOP"""
    assert run(code).registers[0][0] == 0x11


def test_return_to_different_callers_diverges() -> None:
    code = """RET.REL.NODEC R8 `(k)
        MOV R0, 0x1
        EXIT
        MOV R0, 0x2"""
    warp = run(code, {8: 0x10 + 0x20 * (LANE % 2)})
    assert warp.registers[0].tolist() == [1, 2] * 16


def test_brx_jumps_through_its_table() -> None:
    code = """BRX R2 -0x10 (*"BRANCH_TARGETS a,b"*)
        a:
        IADD3 R0, R0, 0x1, RZ
        BRA `(end)
        b:
        IADD3 R0, R0, 0x2, RZ
        end:
        NOP"""
    warp = run(code, {2: 0x10 + 0x20 * (LANE & 1)})
    assert warp.registers[0].tolist() == [1, 2] * 16


def test_indirect_branch_out_of_the_section_is_an_error() -> None:
    with pytest.raises(ExecutionError, match=r"branch at 0x0000 to 0x5000"):
        run("BRX R2 -0x10", {2: words(0x5000)})


FIBONACCI = """MOV R20, 0x30
    MOV R21, 0x0
    CALL.REL.NOINC `(fib)
    BRA `(end)
    fib:
    IADD3 R1, R1, -0x18, RZ
    STL [R1+0x10], R21
    STL [R1+0xc], R20
    STL [R1+0x8], R17
    STL [R1+0x4], R16
    STL [R1], R2
    BMOV.32.CLEAR R16, B6
    MOV R2, R4
    ISETP.GE.AND P0, PT, R2, 0x2, PT
    BMOV.32.CLEAR RZ, B6
    BSSY B6, `(done)
    MOV R4, R2
    @!P0 BRA `(leave)
    IADD3 R4, R2, -0x1, RZ
    MOV R21, 0x0
    MOV R20, 0x150
    CALL.REL.NOINC `(fib)
    MOV R17, R4
    IADD3 R4, R2, -0x2, RZ
    MOV R21, 0x0
    MOV R20, 0x1a0
    CALL.REL.NOINC `(fib)
    IADD3 R4, R17, R4, RZ
    leave:
    BSYNC B6
    done:
    LDL R20, [R1+0xc]
    BMOV.32 B6, R16
    LDL R21, [R1+0x10]
    LDL R2, [R1]
    LDL R16, [R1+0x4]
    LDL R17, [R1+0x8]
    IADD3 R1, R1, 0x18, RZ
    RET.REL.NODEC R20 `(k)
    end:
    VOTE.ANY R5, PT, PT"""


def test_recursion_whose_depth_differs_between_lanes() -> None:
    """Lanes at different depths use one barrier at a time; each group must find its own one again."""
    rng = np.random.default_rng(2)
    depths = rng.integers(0, 9, 32).astype(np.uint32)
    warp = run(FIBONACCI, {1: words(0xF000), 4: depths}, limit=100_000)
    numbers = [0, 1]
    while len(numbers) < 10:
        numbers.append(numbers[-1] + numbers[-2])
    assert warp.registers[4].tolist() == [numbers[depth] for depth in depths]
    assert warp.registers[1].tolist() == [0xF000] * 32
    assert warp.registers[5].tolist() == [0xFFFFFFFF] * 32


def test_lanes_outside_of_a_call_wait_for_those_inside() -> None:
    code = """BSSY B6, `(join)
        @P0 BRA `(wait)
        BMOV.32.CLEAR R16, B6
        BSSY B6, `(inner)
        @P1 BRA `(meet)
        MOV R0, 0x1
        meet:
        BSYNC B6
        inner:
        BMOV.32 B6, R16
        MOV R3, 0x7
        wait:
        BSYNC B6
        join:
        VOTE.ANY R2, PT, PT"""
    warp = run(code, predicates={0: 0xFF00, 1: 0xF})
    assert warp.registers[2].tolist() == [0xFFFFFFFF] * 32
    assert warp.registers[3].tolist() == [0 if 8 <= lane < 16 else 7 for lane in range(32)]


def test_break_takes_a_second_predicate() -> None:
    code = """BSSY B0, `(join)
        @P0 BREAK P1, B0
        @P0 BRA P1, `(out)
        BSYNC B0
        join:
        VOTE.ANY R0, PT, PT
        out:
        NOP"""
    warp = run(code, predicates={0: 0xFF, 1: 0xF0F})
    assert warp.registers[0].tolist() == [0] * 4 + [0xFFFFFFF0] * 28


def test_copies_of_two_barriers_with_equal_members_are_not_mixed_up() -> None:
    code = """BSSY B6, `(far)
        BSSY B7, `(near)
        BMOV.32.CLEAR R16, B6
        BMOV.32.CLEAR R17, B7
        BMOV.32 B6, R16
        BMOV.32 B7, R17
        @P0 BREAK B7
        @P0 BRA `(over)
        BSYNC B7
        near:
        VOTE.ANY R0, PT, PT
        over:
        BSYNC B6
        far:
        VOTE.ANY R1, PT, PT"""
    warp = run(code, predicates={0: 0xFF})
    assert warp.registers[0].tolist() == [0] * 8 + [0xFFFFFF00] * 24
    assert warp.registers[1].tolist() == [0xFFFFFFFF] * 32
