"""F2FP and the narrow formats against their definitions: exact rationals, and NumPy for half precision."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.emulator.harness import f32, result, run, words
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.narrow import FORMATS

RNG = np.random.default_rng(5)
#: Of a format, by its definition: bits of the fraction, bias, and how many codes are finite, in ascending order.
LADDERS = {"E4M3": (3, 7, 0x7F), "E5M2": (2, 15, 0x7C), "F16": (10, 15, 0x7C00), "BF16": (7, 127, 0x7F80)}


def magnitude(code: int, fraction: int, bias: int) -> Fraction:
    """Value of a code without sign."""
    exponent, rest = code >> fraction, code & (1 << fraction) - 1
    if exponent == 0:
        return Fraction(rest) * Fraction(2) ** (1 - bias - fraction)
    return (Fraction(rest) + (1 << fraction)) * Fraction(2) ** (exponent - bias - fraction)


def nearest(value: Fraction, name: str) -> int:
    """Code of the nearest magnitude, of two the even one; one step beyond the largest stands for all above."""
    fraction, bias, count = LADDERS[name]
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if magnitude(middle, fraction, bias) <= value else (low, middle)
    below, above = value - magnitude(low, fraction, bias), magnitude(high, fraction, bias) - value
    return low if below < above or (below == above and low % 2 == 0) else high


def samples(name: str) -> np.ndarray:
    """Singles around all of the format's range, ties and their neighbours among them."""
    fraction, bias, count = LADDERS[name]
    codes = np.unique(RNG.integers(0, count - 1, 48))
    ties = [float(magnitude(int(c), fraction, bias) + magnitude(int(c) + 1, fraction, bias)) / 2 for c in codes]
    ties = np.array(ties, dtype=np.float32)
    return np.concatenate([ties, np.nextafter(ties, np.float32(0)), np.nextafter(ties, np.float32(np.inf))])


@pytest.mark.parametrize("name", ["F16", "BF16"])
def test_packing_rounds_each_half_to_nearest(name: str) -> None:
    found = samples(name)
    for start in range(0, len(found) - 31, 32):
        low, high = found[start : start + 32], -found[::-1][start : start + 32]
        code = f"F2FP.{name}.F32.PACK_AB R0, R2, R3"
        for word, a, b in zip(result(code, {2: f32(*high), 3: f32(*low)}).tolist(), high, low, strict=True):
            assert word & 0xFFFF == nearest(Fraction(float(b)), name)
            assert word >> 16 == 0x8000 | nearest(Fraction(float(-a)), name)


@pytest.mark.parametrize("name", ["E4M3", "E5M2"])
def test_bytes_saturate_and_round_to_nearest(name: str) -> None:
    found, (_, _, count) = samples(name), LADDERS[name]
    code = f"F2FP.SATFINITE.{name}.F32.PACK_AB_MERGE_C R0, R2, R3, RZ"
    for start in range(0, len(found) - 31, 32):
        low = found[start : start + 32]
        for word, value in zip(result(code, {2: f32(1e9), 3: f32(*low)}).tolist(), low, strict=True):
            assert word & 0xFF == min(nearest(Fraction(float(value)), name), count - 1)
            assert word >> 8 == count - 1


@pytest.mark.parametrize("name", ["E4M3", "E5M2"])
def test_every_byte_is_unpacked_and_comes_back(name: str) -> None:
    fraction, bias, count = LADDERS[name]
    for start in range(0, 256, 32):
        codes = np.arange(start, start + 32)
        pairs = run(f"F2FP.F16.{name}.UNPACK_B R0, R2", {2: words(*(codes | 0x3800).tolist())}).registers[0]
        halves = (pairs & 0xFFFF).astype(np.uint16).view(np.float16)
        for code, half in zip(codes.tolist(), halves.tolist(), strict=True):
            if code & 0x7F < count:
                assert Fraction(half) == magnitude(code & 0x7F, fraction, bias) * (-1 if code >> 7 else 1)
            else:
                assert np.isinf(half) if name == "E5M2" and code & 0x7F == 0x7C else np.isnan(half)
        finite = codes & 0x7F < count
        back = result(f"F2FP.SATFINITE.{name}.F16.UNPACK_B_MERGE_C R0, R2, RZ", {2: pairs})
        assert np.array_equal(back[finite] & 0xFF, codes[finite])


def test_half_precision_is_what_numpy_has() -> None:
    values = RNG.standard_normal(32).astype(np.float32) * np.float32(10) ** RNG.integers(-9, 4, 32)
    wanted = values.astype(np.float16).view(np.uint16)
    assert np.array_equal(result("F2FP.PACK_AB R0, RZ, R3", {3: f32(*values)}), wanted)
    assert np.array_equal(FORMATS["F16"].decoded(wanted.astype(np.uint32)), wanted.view(np.float16).astype(np.float64))


@pytest.mark.parametrize(
    ("code", "value", "wanted"),
    [
        ("F2FP.F16.F32.PACK_AB R0, RZ, R2", 65519.0, 0x7BFF),
        ("F2FP.F16.F32.PACK_AB R0, RZ, R2", 65520.0, 0x7C00),
        ("F2FP.F16.F32.PACK_AB.RZ R0, RZ, R2", -1e9, 0xFBFF),
        ("F2FP.F16.F32.PACK_AB R0, RZ, R2", float("-inf"), 0xFC00),
        ("F2FP.F16.F32.PACK_AB.RZ R0, RZ, R2", float("inf"), 0x7C00),
        ("F2FP.F16.F32.PACK_AB R0, RZ, R2", float("nan"), 0x7FFF),
        ("F2FP.F16.F32.PACK_AB R0, RZ, R2", -0.0, 0x8000),
        ("F2FP.BF16.F32.PACK_AB.RZ R0, RZ, R2", 1.0078124, 0x3F80),
        ("F2FP.RELU.BF16.F32.MERGE_C R0, R2, RZ", -3.0, 0),
        ("F2FP.RELU.F16.F32.MERGE_C R0, R2, RZ", 1.5, 0x3E00),
        ("F2FP.RELU.F16.F32.PACK_AB R0, RZ, R2", float("nan"), 0x7FFF),
        ("F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C R0, RZ, R2, RZ", float("inf"), 0x7E),
        ("F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C R0, RZ, R2, RZ", float("nan"), 0x7F),
        ("F2FP.TF32.F32.PACK_B R0, R2", 1.00048828125, 0x3F800000),
        ("F2FP.TF32.F32.PACK_B R0, R2", 1.00146484375, 0x3F804000),
        ("F2FP.RELU.TF32.F32.PACK_B.RZ R0, R2", 1.00146484375, 0x3F802000),
    ],
)
def test_edges(code: str, value: float, wanted: int) -> None:
    assert result(code, {2: f32(value)})[0] == wanted


def test_what_is_merged_must_be_zero() -> None:
    with pytest.raises(ExecutionError, match="merges must be RZ"):
        run("F2FP.RELU.BF16.F32.MERGE_C R0, R2, R3")
