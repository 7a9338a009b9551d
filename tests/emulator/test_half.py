"""Half precision and matrix operations against exact arithmetic and the PTX ISA's fragment layouts."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.emulator.harness import LANE, f32, result, run, words

FEW = settings(max_examples=60, deadline=None)
F16 = st.floats(-240, 240, width=16)  # no sum of a product overflows


def pack(low: float, high: float) -> np.ndarray:
    return words(int(np.array([low, high], np.float16).view(np.uint32)[0]))


def halves(word: int) -> list[float]:
    return np.array([word], np.uint32).view(np.float16).astype(float).tolist()


@FEW
@given(F16, F16, F16)
def test_hfma2_rounds_once(a: float, b: float, c: float) -> None:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    assume(exact != 0)
    found = halves(result("HFMA2 R0, R2, R3, R4", {2: pack(a, 1), 3: pack(b, 1), 4: pack(c, 1)})[0])
    assert found[1] == 2.0
    near = np.float16(found[0])
    for other in (np.nextafter(near, np.float16(np.inf)), np.nextafter(near, np.float16(-np.inf))):
        assert abs(Fraction(found[0]) - exact) <= abs(Fraction(float(other)) - exact)


@pytest.mark.parametrize(
    ("code", "expected"),  # R2 = (1, -2), R3 = (0.5, 4)
    [
        ("HADD2 R0, R2, -R3", [0.5, -6.0]),
        ("HADD2 R0, |R2|, R3.H1_H1", [5.0, 6.0]),
        ("HADD2.SAT R0, R2, R3", [1.0, 1.0]),
        ("HMUL2 R0, R2.H0_H0, R3", [0.5, 4.0]),
        ("HADD2 R0, R2, 3, 1", [2.0, 1.0]),
        ("HFMA2.MMA R0, -RZ, RZ, 1.875, 2", [2.0, 1.875]),
    ],
)
def test_halves_are_picked_and_signed(code: str, expected: list[float]) -> None:
    assert halves(result(code, {2: pack(1, -2), 3: pack(0.5, 4)})[0]) == expected


def test_half_special_values() -> None:
    assert result("HADD2 R0, R2, R3", {2: pack(math.inf, 65504), 3: pack(-math.inf, 65504)})[0] == 0x7C007FFF
    assert result("HADD2.F32 R0, R2.H1_H1, -RZ.H0_H0", {2: pack(0, -1.5)})[0] == f32(-1.5)[0]


def test_hsetp2_compares_both_halves() -> None:
    warp = run("HSETP2.GT.AND P0, P1, R2, R3, PT", {2: pack(1, 2), 3: pack(0, math.nan)})
    assert (warp.predicates[0] & 1, warp.predicates[1] & 1) == (1, 0)


def brains(low: float, high: float) -> np.ndarray:
    """A pair of bfloat16, which must hold the values."""
    bits = np.array([low, high], np.float32).view(np.uint32)
    assert not (bits & 0xFFFF).any()
    return words(int(bits[0] >> 16 | bits[1]))


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("HADD2.BF16_V2 R0, R2, R3", (4.0, 1.0)),
        ("HMUL2.BF16_V2 R0, R2, R3", (3.75, -2.0)),
        ("HFMA2.BF16_V2 R0, R2, R3, R2", (5.25, 0.0)),
        ("HFMA2.BF16_V2.RELU R0, R2, R3, -R4", (3.75, 0.0)),
        ("HFMA2.MMA.BF16_V2 R0, R2, 1, 1, R3", (4.0, 1.0)),
        ("HFMA2.BF16_V2 R0, -RZ.H0_H0, RZ.H0_H0, |R3|", (2.5, 1.0)),
        ("HMNMX2.BF16_V2 R0, R2, R3, PT", (1.5, -1.0)),
        ("HMNMX2.BF16_V2.XORSIGN R0, |R2|, |R3|, !PT", (2.5, -2.0)),
        ("HSET2.BF16_V2.BF.LT.AND R0, R2, R3, PT", (1.0, 0.0)),
    ],
)
def test_pairs_of_bfloat16(code: str, wanted: tuple[float, float]) -> None:
    found = result(code, {2: brains(1.5, 2.0), 3: brains(2.5, -1.0), 4: words(0)})[0]
    assert found == brains(*wanted)[0]


def test_bfloat16_sums_round_to_nearest_even() -> None:
    code = "HADD2.BF16_V2 R0, R2, R3"
    assert result(code, {2: brains(256, 256), 3: brains(1, 3)})[0] == brains(256, 260)[0]


def test_comparisons_of_bfloat16() -> None:
    warp = run("HSETP2.BF16_V2.LT.AND P0, P1, R2, R3, PT", {2: brains(1.5, 2.0), 3: brains(2.5, -1.0)})
    assert (warp.predicates[0] & 1, warp.predicates[1] & 1) == (1, 0)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("HMNMX2 R0, R2, R3, PT", (-0.0, 1.0)),
        ("HMNMX2.NAN R0, R2, R3, PT", (-0.0, math.nan)),
        ("HMNMX2.XORSIGN R0, |R2|, |R3|, !PT", (-0.0, -1.0)),
        ("HMNMX2.FTZ R0, R4, R2, !PT", (0.0, 1.0)),
    ],
)
def test_minima_of_halves(code: str, wanted: tuple[float, float]) -> None:
    given_words = {2: pack(0.0, 1.0), 3: pack(-0.0, math.nan) | 0x80000000, 4: pack(2.0**-20, -5.0)}
    found = result(code, given_words)[0]
    assert found == pack(*wanted)[0] if not math.isnan(wanted[1]) else found >> 16 == 0x7FFF


@pytest.mark.parametrize(
    ("code", "wanted"),
    [("MUFU.EX2.F16 R0, R2", 8.0), ("MUFU.EX2.F16 R0, R2.H1", 0.25), ("MUFU.TANH.F16 R0, R3", 1.0)],
)
def test_functions_of_a_half(code: str, wanted: float) -> None:
    found = result(code, {2: pack(3.0, -2.0), 3: pack(99.0, 0.0)})[0]
    assert found == np.array([wanted], np.float16).view(np.uint16)[0]


@pytest.mark.parametrize(
    ("code", "source", "wanted"),
    [
        ("F2F.BF16.F32 R0, R2", f32(256 + 1), 0x4380),
        ("F2F.BF16.F32 R0, R2", f32(256 + 3), 0x4382),
        ("F2F.BF16.F32.RZ R0, R2", f32(256 + 3), 0x4381),
        ("F2F.BF16.F16 R0, R2", pack(1.5, 0), 0x3FC0),
        ("F2F.F16.BF16.RZ R0, R2", words(0x3FC0), 0x3E00),
        ("F2I.BF16.TRUNC.NTZ R0, R2", words(0xC0F0), -7 & 0xFFFFFFFF),
        ("F2I.U32.BF16.NTZ R0, R2.H1", words(0x40F00000), 8),
        ("I2F.BF16 R0, R2", words(-257), 0xC380),
        ("FRND.BF16 R0, R2", words(0x40E0), 0x40E0),
        ("FRND.BF16.FLOOR R0, R2", words(0xBF00), 0xBF80),
    ],
)
def test_conversions_of_bfloat16(code: str, source: np.ndarray, wanted: int) -> None:
    assert result(code, {2: source})[0] == wanted


def test_long_integers_are_rounded_once() -> None:
    value = (1 << 62) + (1 << 54) + 1  # above a tie of bfloat16, by less than a double keeps
    registers = {2: words(value & 0xFFFFFFFF), 3: words(value >> 32)}
    assert result("I2F.BF16.U64 R0, R2", registers)[0] == 0x5E81


def test_hmma_multiplies_fragments() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(-4, 5, (16, 8)).astype(np.float16), rng.integers(-4, 5, (8, 8)).astype(np.float16)
    c = rng.integers(-9, 10, (16, 8)).astype(np.float32)
    registers = {number: np.zeros(32, np.uint32) for number in (*range(2, 5), *range(8, 12))}
    for lane in range(32):
        group, pair = lane // 4, slice(2 * (lane % 4), 2 * (lane % 4) + 2)
        registers[2][lane] = a[group, pair].copy().view(np.uint32)[0]
        registers[3][lane] = a[group + 8, pair].copy().view(np.uint32)[0]
        registers[4][lane] = b[pair, group].copy().view(np.uint32)[0]
        registers[8][lane], registers[9][lane] = c[group, pair].view(np.uint32)
        registers[10][lane], registers[11][lane] = c[group + 8, pair].view(np.uint32)
    warp = run("HMMA.1688.F32 R12, R2, R4, R8", registers)
    expected = a.astype(np.float32) @ b.astype(np.float32) + c
    for lane in range(32):
        found = warp.registers[12:16, lane].copy().view(np.float32)
        group, column = lane // 4, 2 * (lane % 4)
        assert found[:2].tolist() == expected[group, column : column + 2].tolist()
        assert found[2:].tolist() == expected[group + 8, column : column + 2].tolist()


def test_imma_multiplies_bytes() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.integers(-128, 128, (8, 16)).astype(np.int8), rng.integers(0, 256, (16, 8)).astype(np.uint8)
    registers = {2: np.zeros(32, np.uint32), 3: np.zeros(32, np.uint32), 4: words(7), 5: words(-7)}
    for lane in range(32):
        group, four = lane // 4, slice(4 * (lane % 4), 4 * (lane % 4) + 4)
        registers[2][lane] = a[group, four].copy().view(np.uint32)[0]
        registers[3][lane] = b[four, group].copy().view(np.uint32)[0]
    warp = run("IMMA.8816.S8.U8 R6, R2.ROW, R3.COL, R4", registers)
    expected = a.astype(int) @ b.astype(int)
    for lane in range(32):
        row, column = lane // 4, 2 * (lane % 4)
        found = warp.registers[6:8, lane].copy().view(np.int32).tolist()
        assert found == [expected[row, column] + 7, expected[row, column + 1] - 7]


@pytest.mark.parametrize("transposed", [False, True])
def test_ldsm_loads_rows_of_matrices(transposed: bool) -> None:
    # row r of matrix m lies at 16 * (8 * m + r) and holds 256 * (8 * m + r) + column
    code = "STS.128 [R2], R4\nLDSM.16.M88.4 R8, [R2]" if not transposed else "STS.128 [R2], R4\nLDSM.16.MT88.4 R8, [R2]"
    element = 256 * LANE
    rows = {4 + n: element + 2 * n | (element + 2 * n + 1) << 16 for n in range(4)}
    warp = run(code, {2: LANE * 16} | rows, shared=512)
    for matrix in range(4):
        for lane in range(32):
            first, second = (lane // 4, 2 * (lane % 4)), (lane // 4, 2 * (lane % 4) + 1)
            if transposed:
                first, second = first[::-1], second[::-1]
            wanted = [256 * (8 * matrix + row) + column for row, column in (first, second)]
            value = int(warp.registers[8 + matrix][lane])
            assert [value & 0xFFFF, value >> 16] == wanted
