"""Floating point against exact rationals and IEEE 754's special cases."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.emulator.harness import double, doubles, f32, result, run, words
from warpfile.emulator.errors import ExecutionError

FEW = settings(max_examples=60, deadline=None)
F32 = st.floats(-(2.0**62), 2.0**62, width=32)  # no sum of a product overflows
F64 = st.floats(-(2.0**500), 2.0**500)
NAN = 0x7FFFFFFF
INF, NINF = 0x7F800000, 0xFF800000
DENORMAL = 0x00000001


def neighbours32(value: Fraction) -> tuple[float, float]:
    """The largest float32 not above and the smallest not below a rational inside of the range."""
    near = np.float32(float(value))
    low = near if Fraction(float(near)) <= value else np.nextafter(near, np.float32(-np.inf))
    high = near if Fraction(float(near)) >= value else np.nextafter(near, np.float32(np.inf))
    return float(low), float(high)


def nearest32(value: Fraction) -> float:
    """Round to nearest even by distances, in range."""
    low, high = neighbours32(value)
    below, above = value - Fraction(low), Fraction(high) - value
    if below != above:
        return low if below < above else high
    return low if struct.unpack("<I", struct.pack("<f", low))[0] % 2 == 0 else high


def single(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", int(bits)))[0]


def fma_lanes(mode: str, a: float, b: float, c: float) -> float:
    return single(result(f"FFMA{mode} R0, R2, R3, R4", {2: f32(a), 3: f32(b), 4: f32(c)})[0])


@FEW
@given(F32, F32, F32)
def test_ffma_rounds_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    assume(exact != 0)
    assert fma_lanes("", a, b, c) == nearest32(exact)
    low, high = neighbours32(exact)
    assert fma_lanes(".RM", a, b, c) == low
    assert fma_lanes(".RP", a, b, c) == high
    assert fma_lanes(".RZ", a, b, c) == (low if exact > 0 else high)


def test_ffma_where_two_roundings_would_differ() -> None:
    a, b, c = 1 + 2.0**-12, 1 + 2.0**-12, 2.0**-60  # the exact product is halfway between two float32 values
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    assert fma_lanes("", a, b, c) == nearest32(exact)
    assert fma_lanes("", a, b, -c) == nearest32(Fraction(a) * Fraction(b) - Fraction(c))


@pytest.mark.parametrize(
    ("code", "a", "b", "expected"),
    [
        ("FADD R0, R2, R3", INF, NINF, NAN),
        ("FADD R0, R2, R3", 0x7FC00123, 0x3F800000, NAN),
        ("FADD R0, R2, -R3", 0x3F800000, 0x3F800000, 0),
        ("FADD.RM R0, R2, -R3", 0x3F800000, 0x3F800000, 0x80000000),
        ("FADD R0, R2, R3", DENORMAL, DENORMAL, 2),
        ("FADD.FTZ R0, R2, R3", DENORMAL, DENORMAL, 0),
        ("FADD.FTZ R0, -R2, -R3", DENORMAL, DENORMAL, 0x80000000),
        # A product just below the smallest normal number: hardware flushes it to zero before it is rounded up to that.
        ("FMUL.FTZ R0, R2, R3", 0x3F7FFFFF, 0x00800000, 0),
        ("FMUL.FTZ R0, -R2, R3", 0x3F7FFFFF, 0x00800000, 0x80000000),
        ("FMUL R0, R2, R3", 0x3F7FFFFF, 0x00800000, 0x00800000),
        ("FFMA.FTZ R0, R2, R3, RZ", 0x3F7FFFFF, 0x00800000, 0),
        ("FADD.SAT R0, R2, R3", 0x40000000, 0x3F800000, 0x3F800000),
        ("FADD.SAT R0, R2, R3", 0xC0000000, 0x3F800000, 0),
        ("FADD.SAT R0, R2, R3", 0x7FC00000, 0x3F800000, 0),
        ("FADD R0, |R2|, -|R3|", 0xC0400000, 0xBF800000, 0x40000000),
        ("FADD.RZ R0, R2, R3", 0x7F7FFFFF, 0x7F7FFFFF, 0x7F7FFFFF),
        ("FADD.RP R0, R2, R3", 0x7F7FFFFF, 0x7F7FFFFF, INF),
        ("FMUL R0, R2, R3", INF, 0, NAN),
        ("FMUL R0, R2, R3", 0x7F000000, 0x40800000, INF),
        ("FMUL R0, R2, 0.5", 0x00000003, 0, 2),
        ("FMUL.D2 R0, R2, R3", 0x40400000, 0x40000000, 0x40400000),
        ("FMNMX R0, R2, R3, PT", 0x7FC00000, 0x3F800000, 0x3F800000),
        ("FMNMX R0, R2, R3, PT", 0x7FC00000, 0x7FC00000, NAN),
        ("FMNMX R0, R2, R3, PT", 0x80000000, 0, 0x80000000),
        ("FMNMX3.NAN R0, R2, R3, 1, PT", 0x7FC00000, 0x3F800000, NAN),
        ("FMNMX3.FTZ R0, R2, R3, 1, PT", 0x00000001, 0x3F800000, 0),
        ("FMNMX R0, R2, R3, !PT", 0x80000000, 0, 0),
        ("FSEL R0, -R2, R3, PT", 0x7FC00000, 0, 0xFFC00000),
        ("FSEL R0, R2, +INF , !PT", 0, 0, INF),
    ],
)
def test_special_values(code: str, a: int, b: int, expected: int) -> None:
    assert hex(result(code, {2: words(a), 3: words(b)})[0]) == hex(expected)


@pytest.mark.parametrize(
    ("compare", "expected"),  # lanes: 1 < 2, 2 = 2, 3 > 2, NaN
    [
        ("LT", 0b0001), ("EQ", 0b0010), ("LE", 0b0011), ("GT", 0b0100), ("NE", 0b0101), ("GE", 0b0110), ("NUM", 0b0111),
        ("LTU", 0b1001), ("EQU", 0b1010), ("LEU", 0b1011), ("GTU", 0b1100), ("NEU", 0b1101), ("GEU", 0b1110),
        ("NAN", 0b1000),
    ],
)  # fmt: skip
def test_ordered_and_unordered_comparisons(compare: str, expected: int) -> None:
    registers = {2: f32(1, 2, 3, math.nan), 3: f32(2)}
    assert run(f"FSETP.{compare}.AND P0, PT, R2, R3, PT", registers).predicates[0] & 15 == expected
    low, high = double(2.0)
    values = np.array([1, 2, 3, math.nan] * 8).view(np.uint32).reshape(-1, 2)
    pairs = {2: values[:, 0], 3: values[:, 1], 4: low, 5: high}
    assert run(f"DSETP.{compare}.AND P0, PT, R2, R4, PT", pairs).predicates[0] & 15 == expected


def test_comparison_with_ftz_takes_denormals_as_zero() -> None:
    assert run("FSETP.NEU.FTZ.AND P0, PT, R2, RZ, PT", {2: words(DENORMAL)}).predicates[0] == 0


def dfma(mode: str, a: float, b: float, c: float) -> float:
    registers = {}
    for first, value in ((2, a), (4, b), (6, c)):
        registers[first], registers[first + 1] = double(value)
    return float(doubles(run(f"DFMA{mode} R0, R2, R4, R6", registers), 0)[0])


@FEW
@given(F64, F64, F64)
def test_dfma_rounds_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    assume(exact != 0)
    nearest = exact.numerator / exact.denominator
    assert dfma("", a, b, c) == nearest
    assert Fraction(dfma(".RM", a, b, c)) <= exact <= Fraction(dfma(".RP", a, b, c))
    towards = Fraction(dfma(".RZ", a, b, c))
    assert abs(towards) <= abs(exact)
    assert dfma(".RM", a, b, c) in (nearest, np.nextafter(nearest, -np.inf))
    assert dfma(".RP", a, b, c) in (nearest, np.nextafter(nearest, np.inf))


def test_dfma_keeps_what_cancellation_leaves() -> None:
    a = 1 + 2.0**-30
    assert dfma("", a, a, -(1 + 2.0**-29)) == 2.0**-60
    assert dfma("", 1e308, 10.0, -math.inf) == -math.inf
    assert math.isnan(dfma("", math.inf, 0.0, 1.0))


def test_double_literals_are_upper_words() -> None:
    low, high = double(3.0)
    warp = run("DADD R0, R2, 1.5\nDMUL R4, R2, -0.5", {2: low, 3: high})
    assert (doubles(warp, 0)[0], doubles(warp, 4)[0]) == (4.5, -1.5)


@pytest.mark.parametrize(
    ("code", "source", "expected"),
    [
        ("I2F R0, R2", -7, 0xC0E00000),
        ("I2F R0, R2", 16777217, 0x4B800000),
        ("I2F.RP R0, R2", 16777217, 0x4B800001),
        ("I2F.U32 R0, R2", -1, 0x4F800000),
        ("I2F.U32.RZ R0, R2", -1, 0x4F7FFFFF),
        ("I2F.U16 R0, R2", 0x1FFFF, 0x477FFF00),
        ("I2F.S8 R0, R2", 0x80, 0xC3000000),
        ("I2F.U8 R0, R2.B1", 0x1234, 0x41900000),
        ("F2I.TRUNC.NTZ R0, R2", 0xBFF33333, -1),
        ("F2I.FLOOR.NTZ R0, R2", 0xBFF33333, -2),
        ("F2I.CEIL.NTZ R0, R2", 0xBFF33333, -1),
        ("F2I.NTZ R0, R2", 0x40200000, 2),
        ("F2I.NTZ R0, R2", 0x40600000, 4),
        ("F2I.TRUNC.NTZ R0, R2", 0x4F000000, 0x7FFFFFFF),
        ("F2I.TRUNC.NTZ R0, R2", NINF, 0x80000000),
        ("F2I.TRUNC.NTZ R0, R2", 0x7FC00000, 0),
        ("F2I.FTZ.U32.TRUNC.NTZ R0, R2", 0x4F7FFFFF, 0xFFFFFF00),
        ("F2I.FTZ.U32.TRUNC.NTZ R0, R2", 0xC0000000, 0),
        ("F2I.U32.TRUNC.NTZ R0, R2", INF, 0xFFFFFFFF),
        ("FRND.TRUNC R0, R2", 0xC02CCCCD, 0xC0000000),
        ("FRND R0, R2", 0x40200000, 0x40000000),
        ("F2F.F16.F32 R0, R2", 0x3F800000, 0x3C00),
        ("F2F.F32.F16 R0, R2", 0x3C00, 0x3F800000),
    ],
)
def test_conversions(code: str, source: int, expected: int) -> None:
    assert hex(result(code, {2: words(source)})[0]) == hex(expected & 0xFFFFFFFF)


def test_wide_conversions() -> None:
    low, high = double(-3.75)
    code = """F2I.F64.TRUNC R0, R2
        F2I.S64.F64.FLOOR R4, R2
        F2F.F32.F64 R6, R2
        F2F.F64.F32 R8, R6
        I2F.F64.S64 R10, R4
        I2F.F64 R12, R0
        FRND.F64.CEIL R14, R2"""
    warp = run(code, {2: low, 3: high})
    assert warp.registers[[0, 4, 5], 0].view(np.int32).tolist() == [-3, -4, -1]
    assert single(warp.registers[6][0]) == -3.75
    assert [doubles(warp, row)[0] for row in (8, 10, 12, 14)] == [-3.75, -4.0, -3.0, -3.0]


def test_nan_to_64_bit_integers_sets_the_top_bit() -> None:
    low, high = double(math.nan)
    warp = run("F2I.S64.F64.TRUNC R0, R2\nF2I.F64.TRUNC R4, R2", {2: low, 3: high})
    assert warp.registers[[0, 1, 4], 0].tolist() == [0, 0x80000000, 0x80000000]


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [("RCP", 4.0, 0.25), ("RSQ", 4.0, 0.5), ("SQRT", 2.25, 1.5), ("EX2", -3.0, 0.125), ("LG2", 8.0, 3.0),
     ("SIN", 0.25, 1.0), ("COS", 0.5, -1.0), ("TANH", 0.0, 0.0)],
)  # fmt: skip
def test_mufu_where_the_answer_is_exact(name: str, x: float, expected: float) -> None:
    assert single(result(f"MUFU.{name} R0, R2", {2: f32(x)})[0]) == expected


def test_mufu_special_values() -> None:
    assert result("MUFU.RCP R0, R2", {2: words(0, 0x80000000, INF)})[:3].tolist() == [INF, NINF, 0]
    assert result("MUFU.RSQ R0, R2", {2: f32(-1.0)})[0] == NAN
    _, high = double(8.0)
    warp = run("MUFU.RCP64H R1, R3", {3: high})
    assert doubles(warp, 0)[0] == 0.125


@pytest.mark.parametrize(
    ("code", "a", "b", "expected"),
    [
        ("FMNMX3 R0, R2, R3, 1, PT", -3.0, 2.0, -3.0),
        ("FMNMX3 R0, R2, R3, 1, !PT", -3.0, 2.0, 2.0),
        ("FMNMX3 R0, R2, R3, 1, !PT", -3.0, float("nan"), 1.0),
        ("FMNMX3 R0, -R2, |R3|, RZ, PT", -3.0, -0.0, 0.0),
        ("FMNMX.XORSIGN R0, |R2|, |R3|, PT", -3.0, 2.0, -2.0),
        ("FMNMX.XORSIGN R0, |R2|, |R3|, !PT", -3.0, -2.0, 3.0),
        ("FMNMX.XORSIGN R0, |R2|, |R3|, PT", -0.0, 2.0, -0.0),
        ("FMNMX R0, R2, R3, PT", 0.0, -0.0, -0.0),
        ("FMNMX R0, R2, R3, !PT", -0.0, 0.0, 0.0),
    ],
)
def test_minima_and_their_signs(code: str, a: float, b: float, expected: float) -> None:
    assert result(code, {2: f32(a), 3: f32(b)})[0] == f32(expected)[0]


@pytest.mark.parametrize(
    ("code", "source", "expected"),
    [
        ("I2FP.F32.S32 R0, R2", -(2**24) - 1, -(2.0**24)),
        ("I2FP.F32.S32.RZ R0, R2", 2**25 + 3, 2.0**25),
        ("I2FP.F32.U32 R0, R2", -1, 2.0**32),
        ("I2FP.F32.U32.RM R0, R2", -1, 2.0**32 - 256),
    ],
)
def test_words_become_singles(code: str, source: int, expected: float) -> None:
    assert result(code, {2: words(source)})[0] == f32(expected)[0]


def test_fchk_wants_the_slow_path_for_everything_unusual() -> None:
    registers = {2: f32(1, 1, math.inf, math.nan, 1, 1e-38, 1e30), 3: f32(3, 0, 1, 1, 1e-40, 1, 1e-30)}
    assert run("FCHK P0, R2, R3", registers).predicates[0] & 0x7F == 0b1111110


#: Pairs in R2, R4 and R6, and what the low and the high word of an instruction on them are made of.
PAIRS = {2: 1.5, 3: -2.25, 4: 3.0, 5: 0.125, 6: 7.0, 7: -0.5}


@pytest.mark.parametrize(
    ("code", "low", "high"),
    [
        ("FADD2 R0, R2.F32x2.HI_LO, R4.F32x2.HI_LO", 1.5 + 3.0, -2.25 + 0.125),
        ("FADD2 R0, R2.F32x2.HI_LO, R4.F32x2.LO_HI", 1.5 + 0.125, -2.25 + 3.0),
        ("FADD2 R0, R2.F32x2.HI_LO, -R4.F32x2.HI_LO", 1.5 - 3.0, -2.25 - 0.125),
        ("FMUL2 R0, R2.F32x2.HI_LO, R5.F32", 1.5 * 0.125, -2.25 * 0.125),
        ("FFMA2 R0, R2.F32x2.HI_LO, R7.F32, R4.F32x2.LO_HI", 1.5 * -0.5 + 0.125, -2.25 * -0.5 + 3.0),
        ("FFMA2 R0, R2.F32x2.LO_HI, -R4.F32x2.HI_LO, R6.F32x2.HI_LO", 2.25 * 3.0 + 7.0, -1.5 * 0.125 - 0.5),
        ("FADD2 R0, R2.F32x2.HI_LO, RZ.F32", 1.5, -2.25),
        ("R2UR UR4, R2\nR2UR UR5, R3\nFADD2 R0, R4.F32x2.HI_LO, UR4.F32x2.HI_LO", 3.0 + 1.5, 0.125 - 2.25),
        ("R2UR UR4, R2\nFMUL2 R0, R4.F32x2.HI_LO, UR4.F32", 3.0 * 1.5, 0.125 * 1.5),
    ],
)
def test_pairs_of_single_precision_are_two_operations(code: str, low: float, high: float) -> None:
    warp = run(code, {number: f32(value) for number, value in PAIRS.items()})
    assert [single(warp.registers[number][0]) for number in (0, 1)] == [low, high]


def test_a_pair_may_be_its_own_source() -> None:
    warp = run("FADD2 R2, R2.F32x2.LO_HI, R3.F32", {2: f32(1.0), 3: f32(10.0)})
    assert [single(warp.registers[number][0]) for number in (2, 3)] == [20.0, 11.0]


@FEW
@given(F32, F32, F32, st.sampled_from(["", ".RM", ".RP", ".RZ", ".FTZ", ".FTZ.RZ"]))
def test_a_word_of_a_pair_is_rounded_as_a_single_value(a: float, b: float, c: float, mode: str) -> None:
    given_words = {2: f32(c), 3: f32(a), 4: f32(a), 5: f32(b), 6: f32(b), 7: f32(c)}
    warp = run(f"FFMA2{mode} R0, R2.F32x2.HI_LO, R4.F32x2.HI_LO, R6.F32x2.HI_LO", given_words)
    for word in range(2):
        alone = {2 + place: given_words[2 + 2 * place + word] for place in range(3)}
        assert warp.registers[word][0] == result(f"FFMA{mode} R0, R2, R3, R4", alone)[0]


@pytest.mark.parametrize("source", ["R4", "R4.HI_LO", "R4.F32x2", "0x3f800000"])
def test_a_source_of_a_pair_must_say_how_it_is_read(source: str) -> None:
    with pytest.raises(ExecutionError, match=r"source 2 must be a register with .F32, .F32x2.HI_LO or .F32x2.LO_HI"):
        run(f"FADD2 R0, R2.F32x2.HI_LO, {source}")
