"""Integer opcodes against Python's unbounded integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.harness import result, run, words
from warpfile.emulator.errors import ExecutionError

WORD = st.integers(0, 2**32 - 1) | st.sampled_from([0, 1, 2**31 - 1, 2**31, 2**32 - 1])
M = 2**32 - 1
FEW = settings(max_examples=40, deadline=None)


def signed(word: int) -> int:
    return word - 2**32 if word >> 31 else word


@FEW
@given(WORD, WORD, WORD)
def test_iadd3_gives_the_low_word_and_both_carries(a: int, b: int, c: int) -> None:
    warp = run("IADD3 R0, P0, P1, R2, R3, R4", {2: words(a), 3: words(b), 4: words(c)})
    assert warp.registers[0][0] == (a + b + c) & M
    assert (warp.predicates[0] & 1, warp.predicates[1] & 1) == (a + b + c >= 2**32, a + b + c >= 2**33)


@FEW
@given(WORD, WORD, st.booleans())
def test_chained_subtraction_is_that_of_64_bits(a: int, b: int, swap: bool) -> None:
    wide_a, wide_b = (a << 32 | b, b << 32 | a) if swap else (b << 32 | a, a << 32 | b)
    code = "IADD3 R0, P0, R2, -R4, RZ\nIADD3.X R1, R3, ~R5, RZ, P0, !PT"
    given_words = {2: wide_a & M, 3: wide_a >> 32, 4: wide_b & M, 5: wide_b >> 32}
    warp = run(code, {number: words(value) for number, value in given_words.items()})
    assert int(warp.registers[1][0]) << 32 | int(warp.registers[0][0]) == (wide_a - wide_b) % 2**64


LONG = st.integers(0, 2**64 - 1) | st.sampled_from([0, 1, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1])


@FEW
@given(LONG, LONG, LONG)
def test_integers_of_64_bits_are_pairs(a: int, b: int, c: int) -> None:
    code = """IADD.64 R0, R2, R4
        IADD.64 R10, R2, -0x8
        IADD R16, R2, -R4
        ISETP.LT.S64.AND P0, PT, R2, R4, PT
        ISETP.GE.U64.AND P1, PT, R2, R4, PT
        MOV.64 R12, R4
        MOV.64 R14, 0x3e928af3fca213ea
        R2UR UR4, R2
        R2UR UR5, R3
        R2UR UR6, R6
        R2UR UR7, R7
        UIADD3.64 UR8, UPT, UPT, UR4, -UR6, URZ
        UMOV.64 UR10, UR8
        MOV R8, UR10
        MOV R9, UR11"""
    registers = {2 * n: words(value & M) for n, value in enumerate((a, b, c), start=1)}
    warp = run(code, registers | {2 * n + 1: words(value >> 32) for n, value in enumerate((a, b, c), start=1)})

    def pair(register: int) -> int:
        return int(warp.registers[register + 1][7]) << 32 | int(warp.registers[register][7])

    assert pair(0) == (a + b) % 2**64
    assert pair(10) == (a - 8) % 2**64
    assert (warp.predicates[0] & 1, warp.predicates[1] & 1) == (a - (a >> 63 << 64) < b - (b >> 63 << 64), a >= b)
    assert (pair(12), pair(14)) == (b, 0x3E928AF3FCA213EA)
    assert pair(8) == (a - c) % 2**64
    assert warp.registers[16][7] == (a - b) % 2**32


def test_a_sum_of_pairs_takes_no_carry() -> None:
    with pytest.raises(ExecutionError, match=r"must have no \.X"):
        run("UIADD3.64.X UR4, UR4, UR6, URZ, UP0, !UPT")


def test_minus_zero_carries() -> None:
    assert run("IADD3 R0, P0, R2, -RZ, RZ", {2: words(5)}).predicates[0] & 1
    assert run("IADD3 R0, P0, R2, RZ, RZ", {2: words(5)}).predicates[0] & 1 == 0


@FEW
@given(WORD, WORD, WORD, WORD)
def test_imad_wide_and_high(a: int, b: int, low: int, high: int) -> None:
    registers = {2: words(a), 3: words(b), 4: words(low), 5: words(high)}
    addend = high << 32 | low
    warp = run("IMAD.WIDE R0, R2, R3, R4\nIMAD.WIDE.U32 R6, P0, R2, R3, R4\nIMAD.HI R8, R2, R3, R4", registers)
    pair = int(warp.registers[1][0]) << 32 | int(warp.registers[0][0])
    assert pair == (signed(a) * signed(b) + addend) % 2**64
    assert int(warp.registers[7][0]) << 32 | int(warp.registers[6][0]) == (a * b + addend) % 2**64
    assert warp.predicates[0] & 1 == (a * b + addend >= 2**64)
    assert warp.registers[8][0] == ((signed(a) * signed(b) + addend) % 2**64) >> 32


def test_imad_spellings() -> None:
    registers = {2: words(7), 3: words(3), 4: words(-2)}
    assert result("IMAD R0, R2, R3, R4", registers)[0] == 19
    assert result("IMAD.SHL.U32 R0, R2, 0x4, RZ", registers)[0] == 28
    assert result("IMAD.IADD R0, R2, 0x1, -R3", registers)[0] == 4
    assert result("IMAD.MOV R0, RZ, RZ, -R2", registers)[0] == M - 6
    assert result("IMAD.X R0, RZ, RZ, R3, P0", registers, predicates={0: 1})[:2].tolist() == [4, 3]


@FEW
@given(WORD, WORD, WORD, st.integers(1, 31))
def test_lea_forms(a: int, b: int, high: int, shift: int) -> None:
    registers = {2: words(a), 3: words(b), 4: words(high)}
    code = f"""LEA R0, P0, R2, R3, {shift:#x}
        LEA.HI R5, R2, R3, R4, {shift:#x}
        LEA.HI.X R6, R2, R3, R4, {shift:#x}, P0
        LEA.HI.SX32 R7, R2, R3, {shift:#x}
        LEA.HI.X.SX32 R8, R2, R3, {shift:#x}, P0"""
    warp = run(code, registers)
    low = ((a << shift) & M) + b
    carry = low >> 32
    upper = ((high << 32 | a) >> (32 - shift)) & M
    extended = (signed(a) >> (32 - shift)) & M
    found = [int(warp.registers[row][0]) for row in (0, 5, 6, 7, 8)]
    assert found == [low & M, (upper + b) & M, (upper + b + carry) & M, (extended + b) & M, (extended + b + carry) & M]


def test_negated_lea_carries_like_a_subtraction() -> None:
    assert result("LEA R0, -R2, R3, 0x2", {2: words(5), 3: words(100)})[0] == 80
    assert run("LEA R0, P0, -R2, R3, 0x2", {2: words(0), 3: words(1)}).predicates[0] & 1


def test_iabs_keeps_the_smallest_integer() -> None:
    assert result("IABS R0, R2", {2: words(-5, 5, -(2**31), 0)})[:4].tolist() == [5, 5, 2**31, 0]


def test_minimum_and_maximum() -> None:
    registers = {2: words(-1, 3), 3: words(1, -7)}
    assert result("IMNMX R0, R2, R3, PT", registers)[:2].tolist() == [M, M - 6]
    assert result("IMNMX R0, R2, R3, !PT", registers)[:2].tolist() == [1, 3]
    assert result("IMNMX.U32 R0, R2, R3, PT", registers)[:2].tolist() == [1, 3]
    assert result("IMNMX R0, R2, R3, P0", registers, predicates={0: 1})[:2].tolist() == [M, 3]


@pytest.mark.parametrize(
    ("compare", "expected"),
    [("LT", [1, 0, 0]), ("LE", [1, 1, 0]), ("GT", [0, 0, 1]), ("GE", [0, 1, 1]), ("EQ", [0, 1, 0]), ("NE", [1, 0, 1])],
)
def test_isetp_is_signed_unless_told(compare: str, expected: list[int]) -> None:
    registers = {2: words(-1, 4, 9), 3: words(4)}
    code = f"ISETP.{compare}.AND P0, P1, R2, R3, PT"
    warp = run(code, registers)
    assert [warp.predicates[0] >> lane & 1 for lane in range(3)] == expected
    assert [warp.predicates[1] >> lane & 1 for lane in range(3)] == [1 - bit for bit in expected]
    unsigned = run(code.replace(".AND", ".U32.AND"), registers).predicates[0] & 1
    assert unsigned == (compare in ("GT", "GE", "NE"))


@FEW
@given(WORD, WORD, WORD, WORD, st.sampled_from(["LT", "LE", "GT", "GE", "EQ", "NE"]))
def test_isetp_ex_compares_64_bits(a: int, b: int, c: int, d: int, compare: str) -> None:
    x, y = (a << 32 | b) - (2**64 if a >> 31 else 0), (c << 32 | d) - (2**64 if c >> 31 else 0)
    for high in (c, a):  # equal upper words are the interesting case
        y = (high << 32 | d) - (2**64 if high >> 31 else 0)
        code = f"ISETP.{compare}.U32.AND P0, PT, R2, R4, PT\nISETP.{compare}.AND.EX P0, PT, R3, R5, PT, P0"
        warp = run(code, {2: words(b), 3: words(a), 4: words(d), 5: words(high)})
        expected = {"LT": x < y, "LE": x <= y, "GT": x > y, "GE": x >= y, "EQ": x == y, "NE": x != y}[compare]
        assert warp.predicates[0] & 1 == expected


def test_isetp_combines_with_its_predicate() -> None:
    registers = {2: words(1, 1, 0, 0)}
    for name, expected in (("AND", 0b0001), ("OR", 0b0111), ("XOR", 0b0110)):
        warp = run(f"ISETP.NE.{name} P0, PT, R2, RZ, P1", registers, {1: 0b0101})
        assert warp.predicates[0] & 15 == expected, name


def test_guarded_write_keeps_the_other_lanes() -> None:
    warp = run("@P0 MOV R0, 0x5\n@!P0 MOV R1, R0", {0: words(9)}, {0: 0xFFFF})
    assert warp.registers[0].tolist() == [5] * 16 + [9] * 16
    assert warp.registers[1].tolist() == [0] * 16 + [9] * 16
    assert warp.written[0] == 0xFFFF


def test_uniform_datapath_computes_one_value() -> None:
    code = """UMOV UR4, 0x10
        UIADD3 UR5, UP0, UR4, -0x1, URZ
        USHF.L.U32 UR6, UR5, 0x4, URZ
        UISETP.GT.AND UP1, UPT, UR6, 0x20, UPT
        USEL UR7, UR6, URZ, UP1
        ULOP3.LUT UR8, UR7, 0xff, URZ, 0x3c, !UPT
        IADD3 R0, R2, UR8, RZ
        @UP1 IADD3 R1, R2, 0x1, RZ"""
    warp = run(code, {2: words(1)})
    assert warp.registers[0].tolist() == [(240 ^ 255) + 1] * 32
    assert warp.registers[1].tolist() == [2] * 32
    assert warp.uniform_predicates[0] == 2**32 - 1


def test_constants_come_from_the_launch_bank() -> None:
    constants = bytearray(0x200)
    constants[0x160:0x168] = (0x1122334455667788).to_bytes(8, "little")
    code = (
        "ULDC.64 UR4, c[0x0][0x160]\nIMAD.U32 R0, RZ, RZ, UR5\nMOV R1, c[0x0][0x160]\nIADD3 R2, RZ, -c[0x0][0x164], RZ"
    )
    warp = run(code, constants=bytes(constants))
    assert warp.registers[:3, 0].tolist() == [0x11223344, 0x55667788, 2**32 - 0x11223344]


def test_unknown_modifier_is_an_error_and_never_ignored() -> None:
    with pytest.raises(ExecutionError, match=r"line 3: .*modifier \.FOO of IADD3 cannot be executed"):
        run("IADD3.FOO R0, R2, R3, R4")


def test_unknown_opcode_names_line_and_opcode() -> None:
    with pytest.raises(ExecutionError, match=r"line 4: .*FROBNICATE"):
        run("NOP\nFROBNICATE.X R0, R1")


def test_registers_start_at_zero() -> None:
    assert np.array_equal(result("IADD3 R0, R100, R101, R102"), words(0))


def test_carry_out_of_imad_high() -> None:
    registers = {2: words(2**31), 3: words(2), 4: words(0, 0), 5: words(2**32 - 1, 7)}
    warp = run("IMAD.HI.U32 R0, P0, R2, R3, R4", registers)
    assert warp.registers[0][:2].tolist() == [0, 8]
    assert warp.predicates[0] & 3 == 0b01


@pytest.mark.parametrize("code", ["SEL R0, R2, R3, P0, P1", "IADD3 R0, R2, R3, R4, P0", "IABS R0, R2, R3"])
def test_an_operand_without_meaning_is_an_error(code: str) -> None:
    with pytest.raises(ExecutionError, match="has no meaning here"):
        run(code)


def test_an_unknown_register_mark_is_an_error() -> None:
    with pytest.raises(ExecutionError, match=r"mark \.H1_H1 of source 1 cannot be executed"):
        run("IABS R0, R2.H1_H1")


def test_absolute_difference() -> None:
    registers = {2: words(-(2**31), 5), 3: words(2**31 - 1, 9), 4: words(1)}
    assert result("VABSDIFF R0, R2, R3, R4", registers)[:2].tolist() == [0, 5]
    assert result("VABSDIFF.U32 R0, R2, R3, R4", registers)[0] == 2
