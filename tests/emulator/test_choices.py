"""Which operand minima and maxima take: DSETP.MIN and .MAX, FMNMX, half comparisons and 1- and 4-bit matrices."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.emulator.harness import double, f32, result, run, words

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("a", "b", "least", "most"),  # whether a is the one to take
    [
        (1.0, 2.0, True, False), (2.0, 1.0, False, True), (-0.0, 0.0, True, False), (0.0, -0.0, False, True),
        (NAN, 1.0, False, False), (1.0, NAN, True, True), (-INF, INF, True, False), (5e-324, 0.0, False, True),
        (INF, NAN, True, True), (NAN, -INF, False, False),
    ],
)  # fmt: skip
def test_choice_between_doubles(a: float, b: float, least: bool, most: bool) -> None:
    registers = dict(zip((2, 3, 4, 5), (*double(a), *double(b)), strict=True))
    warp = run("DSETP.MIN.AND P0, P1, R2, R4, PT\nDSETP.MAX.AND P2, P3, R2, R4, PT", registers)
    assert [bool(warp.predicates[number] & 1) for number in range(4)] == [least, False, most, False]


def test_no_choice_between_two_nan() -> None:
    low, high = double(NAN)
    warp = run("DSETP.MIN.AND P0, P1, R2, R2, PT", {2: low, 3: high})
    assert (warp.predicates[0], warp.predicates[1] & 1) == (0, 1)


@pytest.mark.parametrize(
    ("a", "b", "low", "high"),
    [
        (1.0, NAN, 1.0, 1.0), (NAN, -2.0, -2.0, -2.0), (-0.0, 0.0, -0.0, 0.0), (0.0, -0.0, -0.0, 0.0),
        (INF, -INF, -INF, INF), (2.0**-149, 0.0, 0.0, 2.0**-149),
    ],
)  # fmt: skip
def test_choice_between_floats(a: float, b: float, low: float, high: float) -> None:
    registers = {2: f32(a), 3: f32(b)}
    assert result("FMNMX R0, R2, R3, PT", registers)[0] == f32(low)[0]
    assert result("FMNMX R0, R2, R3, !PT", registers)[0] == f32(high)[0]


def halves(low: float, high: float) -> np.ndarray:
    return np.resize(np.array([low, high], dtype=np.float16).view(np.uint32), 32)


def test_half_comparisons_into_registers() -> None:
    registers = {2: halves(1, NAN), 3: halves(1, 5)}
    assert result("HSET2.EQ.AND R0, R2, R3, PT", registers)[0] == 0x0000FFFF
    assert result("HSET2.BF.NEU.AND R0, R2, R3, PT", registers)[0] == 0x3C000000
    assert result("HSET2.BF.LT.AND R0, R2, 2, 7, PT", {2: halves(1, 8)})[0] == 0x00003C00
    assert result("HSET2.BF.EQ.AND R0, R2, R3, !PT", registers)[0] == 0
    assert result("HMNMX2 R0, R2, R3, PT", registers)[0] == halves(1, 5)[0]
    assert result("HMNMX2 R0, R2, R3, !PT", {2: halves(-1, 3), 3: halves(2, -4)})[0] == halves(2, 3)[0]


def test_matrix_of_four_bit_integers() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 16, (8, 32)), rng.integers(-8, 8, (32, 8))
    registers = {2: np.zeros(32, np.uint32), 3: np.zeros(32, np.uint32), 4: words(3), 5: words(-3)}
    for lane in range(32):
        group, eight = lane // 4, 8 * (lane % 4)
        registers[2][lane] = sum(int(a[group, eight + n]) << 4 * n for n in range(8))
        registers[3][lane] = sum((int(b[eight + n, group]) & 15) << 4 * n for n in range(8))
    warp = run("IMMA.8832.U4.S4 R6, R2.ROW, R3.COL, R4", registers)
    expected = a @ b
    for lane in range(32):
        row, column = lane // 4, 2 * (lane % 4)
        found = warp.registers[6:8, lane].copy().view(np.int32).tolist()
        assert found == [expected[row, column] + 3, expected[row, column + 1] - 3]


def test_matrix_of_bits() -> None:
    rng = np.random.default_rng(4)
    a, b = (rng.integers(0, 2**32, 32, dtype=np.uint32) for _ in range(2))
    warp = run("BMMA.88128.XOR.POPC R6, R2.ROW, R3.COL, R4", {2: a, 3: b, 4: words(1), 5: words(2)})
    for lane in range(32):
        row, column = lane // 4, 2 * (lane % 4)
        for step in range(2):
            pairs = zip(a[4 * row : 4 * row + 4], b[4 * (column + step) : 4 * (column + step) + 4], strict=True)
            wanted = sum(int(x ^ y).bit_count() for x, y in pairs) + 1 + step
            assert warp.registers[6 + step][lane] == wanted


def test_transposed_matrix_of_halves() -> None:
    low = np.arange(32, dtype=np.uint32) * 2
    warp = run("MOVM.16.MT88 R0, R2", {2: low | (low + 1) << np.uint32(16)})  # element (r, c) is 8 * r + c
    for lane in range(32):
        row, column = lane // 4, 2 * (lane % 4)
        value = int(warp.registers[0][lane])
        assert [value & 0xFFFF, value >> 16] == [8 * column + row, 8 * (column + 1) + row]
