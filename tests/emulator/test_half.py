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
