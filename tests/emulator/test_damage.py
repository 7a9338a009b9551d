"""Instructions put together at random end in one line or are executed; nothing else gets out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.harness import run, words
from warpfile.compiler import ListingError
from warpfile.emulator.decode import modifiers_of, supported_opcodes
from warpfile.emulator.errors import ExecutionError

OPERANDS = (
    "R0 R1 R2 R3 R4 R6 RZ R254 UR3 UR4 UR62 URZ P0 P1 PT !P1 UP0 UPT 0x0 0x4 -0x1 0x1f 0xffffffff c[0x0][0x160] "
    "c[0x9][0x0] c[0x0][R2] [R2] [UR4] [R2.X4+0x8] [R2.64+UR4] `(k) `(L) B0 B1 SR_TID.X SR_CLOCKLO SRZ 1.5 +INF -QNAN "
    "~R3 |R1| -|R2| -R2 R2.64 R2.H0_H0 R3.B1 PR R2.ROW R4.COL -0x10"
).split()


@st.composite
def instructions(draw: st.DrawFn) -> str:
    opcode = draw(st.sampled_from(sorted(supported_opcodes())))
    known = sorted(modifiers_of(opcode) - {"*"})
    marks = draw(st.lists(st.sampled_from(known), max_size=3, unique=True)) if known else []
    operands = draw(st.lists(st.sampled_from(OPERANDS), max_size=6))
    guard = draw(st.sampled_from(["", "", "@P0 ", "@!UP1 ", "@!PT "]))
    return f"{guard}{'.'.join([opcode, *marks])} {', '.join(operands)}"


@settings(max_examples=600, deadline=None)
@given(st.lists(instructions(), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_random_instructions(code: list[str], mask: int) -> None:
    registers = {number: words(0, 4, 0x10, 2**31, 2**32 - 1, mask) for number in range(8)}
    try:
        run("\n".join(["L:", *code]), registers, {0: mask, 1: mask >> 3}, limit=200)
    except (ListingError, ExecutionError) as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize("code", ["LDG.E.64 R254, [R2]", "IMAD.WIDE R254, R2, R3, R4", "ULDC.64 UR62, c[0x0][0x160]"])
def test_groups_of_registers_end_below_the_zero_register(code: str) -> None:
    with pytest.raises(ExecutionError, match=r"operand of several registers must end below U?RZ"):
        run(code)


def test_zero_registers_stay_zero() -> None:
    warp = run("MOV RZ, 0x5\nUMOV URZ, 0x5\nIADD3 R0, RZ, URZ, RZ", {1: words(7)})
    assert not warp.registers[255].any() and not warp.uniforms[63].any()
    assert np.array_equal(warp.registers[0], words(0))
