"""Calls, returns and indirect branches."""

from __future__ import annotations

import pytest

from emulator.errors import ExecutionError
from tests.emulator.harness import LANE, run, words


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
