"""Directed rounding against exact rationals, rounded here by counting in units of the last place."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.harness import double, doubles, f32, result, run, words
from warpfile.emulator.lanes import ALL

MODES = ("RN", "RM", "RP", "RZ")
FEW = settings(max_examples=60, deadline=None)
SINGLES = st.floats(width=32, allow_nan=False, allow_infinity=False) | st.sampled_from(
    [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0**-149,
        -(2.0**-149),
        2.0**-126,
        1.5 * 2.0**-126,
        3.4028234663852886e38,
        2.0**24,
        2.0**-24,
    ]
)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 5e-324, 2.0**-1022, 1.7976931348623157e308, 2.0**53, 2.0**-53, 1.0 + 2.0**-52]
)


def rounded(value: Fraction, mode: str, digits: int, lowest: int, highest: int) -> float:
    """A rational as a float with ``digits`` binary digits; exponents of the last place from ``lowest`` on."""
    if value == 0:
        return 0.0
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= size < Fraction(2) ** exponent
    unit = Fraction(2) ** max(exponent - digits + 1, lowest)
    down = math.floor(value / unit)
    rest = value / unit - down
    up = {"RN": rest > Fraction(1, 2) or (rest == Fraction(1, 2) and down % 2), "RM": False, "RP": rest > 0}
    count = down + bool(up.get(mode, rest > 0 and value < 0))
    found = count * unit
    if abs(found) >= Fraction(2) ** highest:
        largest = float((Fraction(2) ** digits - 1) * Fraction(2) ** (highest - digits))
        inward = mode == "RZ" or mode == ("RM" if value > 0 else "RP")
        return math.copysign(largest if inward else math.inf, 1 if value > 0 else -1)
    return math.copysign(float(found), 1 if value > 0 else -1)


def single(value: Fraction, mode: str) -> float:
    return rounded(value, mode, 24, -149, 128)


def wide(value: Fraction, mode: str) -> float:
    return rounded(value, mode, 53, -1074, 1024)


def bits32(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


def bits64(value: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", value))[0])


@FEW
@given(SINGLES, SINGLES, SINGLES)
def test_single_precision(a: float, b: float, c: float) -> None:
    x, y, z = Fraction(a), Fraction(b), Fraction(c)
    registers = {2: f32(a), 3: f32(b), 4: f32(c)}
    for mode in MODES:
        for code, exact in (("FADD", x + y), ("FMUL", x * y), ("FFMA", x * y + z)):
            marked = code if mode == "RN" else f"{code}.{mode}"
            text = f"{marked} R0, R2, R3" + (", R4" if code == "FFMA" else "")
            if exact != 0:
                assert result(text, registers)[0] == bits32(single(exact, mode)), text


@FEW
@given(DOUBLES, DOUBLES, DOUBLES)
def test_double_precision(a: float, b: float, c: float) -> None:
    registers = {}
    for number, value in ((2, a), (4, b), (6, c)):
        registers[number], registers[number + 1] = double(value)
    x, y, z = Fraction(a), Fraction(b), Fraction(c)
    for mode in MODES:
        for code, exact in (("DADD", x + y), ("DMUL", x * y), ("DFMA", x * y + z)):
            marked = code if mode == "RN" else f"{code}.{mode}"
            text = f"{marked} R0, R2, R4" + (", R6" if code == "DFMA" else "")
            if exact != 0:
                assert bits64(float(doubles(run(text, registers), 0)[0])) == bits64(wide(exact, mode)), text


@pytest.mark.parametrize(("mode", "sign"), [("RN", 0), ("RM", 1), ("RP", 0), ("RZ", 0)])
def test_exact_cancellation_has_the_sign_of_the_direction(mode: str, sign: int) -> None:
    mark = "" if mode == "RN" else f".{mode}"
    registers = {2: f32(1.5), 3: f32(-1.5), 4: f32(1.0)}
    assert result(f"FADD{mark} R0, R2, R3", registers)[0] >> 31 == sign
    assert result(f"FFMA{mark} R0, R2, R4, R3", registers)[0] >> 31 == sign
    low, high = double(1.5)
    wide_registers = {2: low, 3: high, 4: low, 5: high ^ np.uint32(1 << 31)}
    assert run(f"DADD{mark} R0, R2, R4", wide_registers).registers[1][0] >> 31 == sign


@FEW
@given(st.integers(0, 2**32 - 1) | st.sampled_from([0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 2**24 + 1]))
def test_integers_to_single_precision(word: int) -> None:
    signed = word - 2**32 if word >> 31 else word
    for mode in MODES:
        mark = "" if mode == "RN" else f".{mode}"
        assert result(f"I2F{mark} R0, R2", {2: words(word)})[0] == bits32(single(Fraction(signed), mode))
        assert result(f"I2F.U32{mark} R0, R2", {2: words(word)})[0] == bits32(single(Fraction(word), mode))


@FEW
@given(DOUBLES)
def test_doubles_to_single_precision(value: float) -> None:
    low, high = double(value)
    for mode in MODES:
        mark = "" if mode == "RN" else f".{mode}"
        if value != 0:
            wanted = bits32(single(Fraction(value), mode))
            assert result(f"F2F.F32.F64{mark} R0, R2", {2: low, 3: high})[0] == wanted


@FEW
@given(SINGLES)
def test_floats_to_integers_saturate(value: float) -> None:
    directions = {"": round, ".TRUNC": math.trunc, ".FLOOR": math.floor, ".CEIL": math.ceil}
    for mark, direction in directions.items():
        number = direction(Fraction(value))
        signed = max(-(2**31), min(2**31 - 1, number))
        assert result(f"F2I{mark}.NTZ R0, R2", {2: f32(value)})[0] == signed & ALL
        assert result(f"F2I.U32{mark}.NTZ R0, R2", {2: f32(value)})[0] == max(0, min(2**32 - 1, number))


def test_infinities_and_nan_to_integers() -> None:
    source = words(0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000)
    assert result("F2I.TRUNC.NTZ R0, R2", {2: source})[:4].tolist() == [0x7FFFFFFF, 0x80000000, 0, 0]
    assert result("F2I.U32.TRUNC.NTZ R0, R2", {2: source})[:4].tolist() == [ALL, 0, 0, 0]
