"""New register numbers, worked out by hand from docs/schemes/owf.md, section 10."""

from __future__ import annotations

from tests.compiler.generated import graph
from warpfile.compiler.passes.owf.order import ordered

CODE = """S2R R9, SR_LANEID
    MOV R7, 0x1
    MOV R12, 0x3
    MOV R3, 0x4
    LDS.128 R16, [R9]
    IADD3 R5, R7, R3, R12
    STS.64 [R9], R12
    IADD3 R20, R16, RZ, RZ"""


def test_registers_are_numbered_as_they_are_named_and_blocks_stay_aligned() -> None:
    """R9 is 0, R7 is 1. R12 is named as a pair later, so that it takes 2 and 3; R3 is 4. The block of R16 takes 8."""
    assert ordered(graph(CODE).function, 21).names == {
        9: 0, 7: 1, 12: 2, 13: 3, 3: 4, 16: 8, 17: 9, 18: 10, 19: 11, 5: 5, 20: 6,
    }  # fmt: skip


def test_sources_come_before_destinations() -> None:
    names = ordered(graph("IADD3 R1, R3, R2, RZ").function, 4).names
    assert names == {3: 0, 2: 1, 1: 2}


def test_the_block_behind_a_branch_comes_after_both_sides() -> None:
    code = """ISETP.LT.AND P0, PT, R6, 0x1, PT
    @P0 BRA `(other)
    MOV R5, 0x1
    BRA `(meet)
other:
    MOV R4, 0x1
meet:
    MOV R3, 0x1"""
    names = ordered(graph(code).function, 7).names
    assert names[6] == 0 and {names[5], names[4]} == {1, 2} and names[3] == 3


def test_registers_keep_their_numbers_if_blocks_leave_gaps_that_the_kernel_has_no_registers_for() -> None:
    """R2 would be 0, and the pair 2 and 3."""
    code = "MOV R2, 0x1\n    LDS.64 R0, [R2]"
    found = ordered(graph(code).function, 3)
    assert not found.names and found.reason == "new numbers need 4 registers, and the kernel has 3"
    assert ordered(graph(code).function, 4).names == {2: 0, 0: 2, 1: 3}


def test_code_that_is_not_known_keeps_all_numbers() -> None:
    found = ordered(graph("MOV R5, 0x1\n    TEX R0, R2, 0x0, 2D").function, 8)
    assert not found.names and found.reason.startswith("the operands of TEX")
