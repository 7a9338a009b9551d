"""Bit fields, dot products of bytes and integer conversions against plain Python."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.harness import result, run, words

M = 2**32 - 1
WORD = st.integers(0, M) | st.sampled_from([0, 1, 31, 32, 33, 63, 64, 2**31 - 1, 2**31, M])
FEW = settings(max_examples=60, deadline=None)


def part(word: int, kind: str, number: int) -> int:
    width = int(kind[1:])
    value = word >> width * number & (1 << width) - 1
    return value - (1 << width) if kind[0] == "S" and value >> width - 1 else value


@FEW
@given(WORD, WORD, WORD, st.sampled_from(["U8", "S8"]), st.sampled_from(["U8", "S8"]))
def test_dot_product_of_bytes(a: int, b: int, c: int, first: str, second: str) -> None:
    found = result(f"IDP.4A.{first}.{second} R0, R2, R3, R4", {2: words(a), 3: words(b), 4: words(c)})[0]
    assert found == (c + sum(part(a, first, i) * part(b, second, i) for i in range(4))) & M


@FEW
@given(WORD, WORD, WORD, st.sampled_from(["U16", "S16"]), st.sampled_from(["U8", "S8"]))
def test_dot_product_of_halves_with_bytes(a: int, b: int, c: int, first: str, second: str) -> None:
    registers = {2: words(a), 3: words(b), 4: words(c)}
    for place, offset in (("LO", 0), ("HI", 2)):
        found = result(f"IDP.2A.{place}.{first}.{second} R0, R2, R3, R4", registers)[0]
        assert found == (c + sum(part(a, first, i) * part(b, second, offset + i) for i in range(2))) & M


@FEW
@given(WORD, WORD, WORD, st.sampled_from(["S16", "U16", "S8", "U8"]))
def test_packing_saturates(a: int, b: int, c: int, kind: str) -> None:
    bits, registers = int(kind[1:]), {2: words(a), 3: words(b), 4: words(c)}
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "S" else (0, (1 << bits) - 1)
    upper, lower = (max(least, min(most, part(word, "S32", 0))) & (1 << bits) - 1 for word in (a, b))
    above = c << 2 * bits if bits == 8 else 0
    found = result(f"I2IP.{kind}.S32.SAT R0, R2, R3, {'R4' if bits == 8 else 'RZ'}", registers)[0]
    assert found == (above | upper << bits | lower) & M


@FEW
@given(WORD, WORD)
def test_masks(start: int, count: int) -> None:
    registers = {2: words(start), 3: words(count)}
    ones = {bit for bit in range(32) if start <= bit < start + count}
    assert result("BMSK R0, R2, R3", registers)[0] == sum(1 << bit for bit in ones)
    first, width = start % 32, count % 32
    ones = {bit for bit in range(32) if first <= bit < first + width}
    assert result("BMSK.W R0, R2, R3", registers)[0] == sum(1 << bit for bit in ones)
    assert run("UBMSK UR4, UR5, 0x3\nMOV R0, UR4").registers[0][0] == 7


@FEW
@given(WORD, WORD)
def test_extension_from_a_width(value: int, width: int) -> None:
    registers = {2: words(value), 3: words(width)}
    for mark, used in (("", min(width, 32)), (".W", width % 32)):
        low = value & (1 << used) - 1
        signed = low - (1 << used) if used and low >> used - 1 else low
        assert result(f"SGXT{mark}.U32 R0, R2, R3", registers)[0] == low
        assert result(f"SGXT{mark} R0, R2, R3", registers)[0] == signed & M
    assert run("UMOV UR5, 0x80\nUSGXT UR4, UR5, 0x8\nMOV R0, UR4").registers[0][0] == 0xFFFFFF80


@pytest.mark.parametrize(
    ("code", "value", "expected"),
    [
        ("I2I.S8.S32.SAT", 200, 127),
        ("I2I.S8.S32.SAT", -200, -128),
        ("I2I.S8.S32.SAT", -1, -1),
        ("I2I.U8.S32.SAT", -1, 0),
        ("I2I.U8.U32.SAT", 300, 255),
        ("I2I.U16.S32.SAT", 70000, 65535),
        ("I2I.S16.S32.SAT", -(2**31), -32768),
        ("I2I.S16.S32", 0x18000, -32768),
        ("I2I.U8.S32", 0x1FF, 255),
    ],
)
def test_integer_conversions(code: str, value: int, expected: int) -> None:
    assert result(f"{code} R0, R2", {2: words(value)})[0] == expected & M


@FEW
@given(WORD, WORD, WORD)
def test_differences_of_bytes(a: int, b: int, c: int) -> None:
    registers = {2: words(a), 3: words(b), 4: words(c)}
    for kind in ("U8", "S8"):
        found = [abs(part(a, kind, i) - part(b, kind, i)) for i in range(4)]
        assert result(f"VABSDIFF4.{kind} R0, R2, R3, RZ", registers)[0] == sum(d << 8 * i for i, d in enumerate(found))
        assert result(f"VABSDIFF4.{kind}.ACC R0, R2, R3, R4", registers)[0] == (c + sum(found)) & M
