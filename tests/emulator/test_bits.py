"""Logic, shifts, permutation and counting against bit-by-bit definitions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.harness import result, run, words

WORD = st.integers(0, 2**32 - 1)
M = 2**32 - 1
FEW = settings(max_examples=40, deadline=None)


@pytest.mark.parametrize("table", range(256))
def test_lop3_follows_every_truth_table(table: int) -> None:
    a, b, c = 0xF0, 0xCC, 0xAA  # the eight combinations, one per bit
    value = result(f"LOP3.LUT R0, R2, R3, R4, {table:#x}, !PT", {2: words(a), 3: words(b), 4: words(c)})[0]
    assert value & 0xFF == table


def test_lop3_predicate_tells_whether_the_result_is_not_zero() -> None:
    warp = run("LOP3.LUT P0, RZ, R2, 0x3, RZ, 0xc0, !PT", {2: words(4, 5)})
    assert warp.predicates[0] & 3 == 0b10


@FEW
@given(st.integers(0, 255), st.integers(0, 255), WORD, WORD, WORD)
def test_plop3_has_two_tables(first: int, second: int, a: int, b: int, c: int) -> None:
    warp = run(f"PLOP3.LUT P3, P4, P0, P1, P2, {first:#x}, {second:#x}", predicates={0: a, 1: b, 2: c})
    for lane in range(32):
        index = (a >> lane & 1) << 2 | (b >> lane & 1) << 1 | (c >> lane & 1)
        assert warp.predicates[3] >> lane & 1 == first >> index & 1
        assert warp.predicates[4] >> lane & 1 == second >> index & 1


@FEW
@given(
    WORD, WORD, st.integers(0, 80), st.sampled_from("LR"), st.sampled_from(["U32", "S32", "U64", "S64"]),
    st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip
def test_funnel_shift(
    low: int, high: int, amount: int, side: str, kind: str, wraps: bool, upper: bool, literal: bool
) -> None:
    name = f"SHF.{side}{'.W' if wraps else ''}.{kind}{'.HI' if upper else ''}"
    shift = f"{amount:#x}" if literal else "R5"
    value = int(result(f"{name} R0, R2, {shift}, R3", {2: words(low), 3: words(high), 5: words(amount)})[0])
    bits = 64 if kind.endswith("64") else 32
    count = amount % bits if wraps else min(amount, bits)
    wide = high << 32 | low
    if kind.startswith("S") and high >> 31:
        wide -= 2**64
    shifted = (wide << count if side == "L" else wide >> count) % 2**64
    assert value == (shifted >> 32 if upper else shifted & M)


@pytest.mark.parametrize(
    ("code", "value", "expected"),
    [
        ("SHF.R.U32.HI R0, RZ, 0x4, R2", 0x80000010, 0x08000001),
        ("SHF.R.S32.HI R0, RZ, 0x1f, R2", 0x80000010, M),
        ("SHF.R.S32.HI R0, RZ, 0x20, R2", 0x80000010, M),
        ("SHF.R.U32.HI R0, RZ, 0x20, R2", 0x80000010, 0),
        ("SHF.L.U32 R0, R2, 0x20, RZ", 1, 0),
        ("SHF.L.U32 R0, R2, 0x1f, RZ", 1, 0x80000000),
    ],
)
def test_plain_shifts(code: str, value: int, expected: int) -> None:
    assert result(code, {2: words(value)})[0] == expected


@FEW
@given(WORD, WORD, st.integers(0, 0xFFFF))
def test_prmt_index_mode(a: int, c: int, selector: int) -> None:
    pool = [(c << 32 | a) >> 8 * index & 255 for index in range(8)]
    expected = 0
    for index in range(4):
        code = selector >> 4 * index & 15
        byte = pool[code & 7]
        expected |= ((255 if byte & 128 else 0) if code & 8 else byte) << 8 * index
    assert result(f"PRMT R0, R2, {selector:#x}, R3", {2: words(a), 3: words(c)})[0] == expected
    assert result("PRMT R0, R2, R4, R3", {2: words(a), 3: words(c), 4: words(selector | 0xABC00000)})[0] == expected


@pytest.mark.parametrize(
    ("mode", "selector", "expected"),
    [
        ("F4E", 1, 0x44332211), ("F4E", 3, 0x66554433), ("B4E", 1, 0x66770011), ("B4E", 3, 0x00112233),
        ("RC8", 2, 0x22222222), ("ECL", 2, 0x33222222), ("ECR", 2, 0x22221100), ("RC16", 1, 0x33223322),
    ],
)  # fmt: skip
def test_prmt_modes_of_the_ptx_table(mode: str, selector: int, expected: int) -> None:
    registers = {2: words(0x33221100), 3: words(0x77665544)}
    assert result(f"PRMT.{mode} R0, R2, {selector:#x}, R3", registers)[0] == expected


@FEW
@given(WORD)
def test_bit_counting(value: int) -> None:
    code = "POPC R0, R2\nBREV R1, R2\nFLO.U32 R3, R2\nFLO.U32.SH R4, R2\nFLO R5, R2\nFLO R6, ~R2"
    warp = run(code, {2: words(value)})
    top = value.bit_length() - 1
    flipped = value ^ M if value >> 31 else value
    signed_top = (flipped.bit_length() - 1) & M
    expected = [bin(value).count("1"), int(f"{value:032b}"[::-1], 2), top & M, 31 - top if top >= 0 else M]
    assert [int(warp.registers[row][0]) for row in (0, 1, 3, 4, 5, 6)] == [*expected, signed_top, signed_top]


def test_select() -> None:
    assert result("SEL R0, R2, 0x7, !P0", {2: words(3)}, predicates={0: 1})[:2].tolist() == [7, 3]


def test_select_of_pairs() -> None:
    sources = {2: words(1), 3: words(2), 4: words(3), 5: words(4)}
    warp = run("SEL.64 R0, R2, R4, P0\nSEL.64 R6, R2, -0x1, P0", sources, {0: 1})
    assert warp.registers[0:2, :2].T.tolist() == [[1, 2], [3, 4]]
    assert warp.registers[6:8, :2].T.tolist() == [[1, 2], [M, M]]


def test_predicates_travel_through_a_register() -> None:
    warp = run("P2R R0, PR, RZ, 0x5\nR2P PR, R2, 0x3", {2: words(2)}, {0: 1, 1: 1, 2: M})
    assert warp.registers[0][:2].tolist() == [5, 4]
    assert (warp.predicates[0], warp.predicates[1], warp.predicates[2]) == (0, M, M)
