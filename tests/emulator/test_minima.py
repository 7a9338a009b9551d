"""Sums and minima of sm_90 and later against their definitions in CUDA and PTX, lane by lane."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emulator.harness import result, run, words
from warpfile.emulator.errors import ExecutionError

FEW = settings(max_examples=60, deadline=None)
EDGES = [0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFF8000, 0x80007FFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]
WORD = st.integers(0, 2**32 - 1) | st.sampled_from(EDGES)
#: Mark of a type: bits and whether it has a sign.
TYPES = {"": (32, True), ".U32": (32, False), ".S16x2": (16, True), ".U16x2": (16, False)}
BYTES = {".S8x4": (8, True), ".U8x4": (8, False)}


def number(word: int, bits: int, signed: bool) -> int:
    """What the low bits of a word mean."""
    word &= (1 << bits) - 1
    return word - (1 << bits) if signed and word >> bits - 1 else word


def by_part(mark: str, function: Callable[..., int], *given_words: int) -> int:
    """A function of the parts of words, which are the whole words or their halves."""
    bits, signed = (TYPES | BYTES)[mark]
    total = 0
    for shift in range(0, 32, bits):
        parts = [number(word >> shift, bits, signed) for word in given_words]
        total |= function(*parts) % (1 << bits) << shift
    return total


def wrapped(mark: str, value: int) -> int:
    return number(value, *TYPES[mark])


@FEW
@given(st.sampled_from(list(TYPES)), st.booleans(), WORD, WORD, WORD)
def test_minima_of_two_of_three_and_of_a_sum(mark: str, least: bool, a: int, b: int, c: int) -> None:
    choose, given_words = min if least else max, {2: words(a), 3: words(b), 4: words(c)}
    pin = "PT" if least else "!PT"
    forms = [
        (f"VIMNMX{mark} R0, R2, R3, {pin}", by_part(mark, lambda x, y, z: choose(x, y), a, b, c)),
        (f"VIMNMX3{mark} R0, R2, R3, R4, {pin}", by_part(mark, lambda x, y, z: choose(x, y, z), a, b, c)),
        (f"VIADDMNMX{mark} R0, R2, R3, R4, {pin}",
         by_part(mark, lambda x, y, z: choose(wrapped(mark, x + y), z), a, b, c)),
    ]  # fmt: skip
    for code, wanted in forms:
        assert result(code, given_words)[0] == wanted, code


@FEW
@given(st.sampled_from(list(BYTES)), st.booleans(), WORD, WORD)
def test_minima_of_bytes(mark: str, least: bool, a: int, b: int) -> None:
    code = f"VIMNMX{mark} R0, R2, R3, {'PT' if least else '!PT'}"
    assert result(code, {2: words(a), 3: words(b)})[0] == by_part(mark, min if least else max, a, b)


@FEW
@given(st.sampled_from(["", ".S16x2"]), st.booleans(), WORD, WORD, WORD)
def test_relu_is_never_below_zero(mark: str, least: bool, a: int, b: int, c: int) -> None:
    choose, pin = min if least else max, "PT" if least else "!PT"
    given_words = {2: words(a), 3: words(b), 4: words(c)}
    found = result(f"VIMNMX3{mark}.RELU R0, R2, R3, R4, {pin}", given_words)[0]
    assert found == by_part(mark, lambda x, y, z: max(choose(x, y, z), 0), a, b, c)


@FEW
@given(st.sampled_from(list(TYPES)), st.booleans(), WORD, WORD)
def test_predicates_tell_by_part_whether_the_first_won(mark: str, least: bool, a: int, b: int) -> None:
    pin = "PT" if least else "!PT"
    warp = run(f"VIMNMX{mark} R0, P0, P1, R2, R3, {pin}", {2: words(a), 3: words(b)})
    bits, signed = TYPES[mark]
    for place, shift in enumerate(range(0, 32, bits)):
        x, y = (number(word >> shift, bits, signed) for word in (a, b))
        assert warp.predicates[place] & 1 == (x <= y if least else x >= y)


@FEW
@given(st.booleans(), st.booleans(), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_minima_of_pairs(signed: bool, least: bool, a: int, b: int) -> None:
    x, y = (value - (1 << 64) if signed and value >> 63 else value for value in (a, b))
    given_words = {2: words(a % 2**32), 3: words(a >> 32), 4: words(b % 2**32), 5: words(b >> 32)}
    warp = run(f"IMNMX.{'S' if signed else 'U'}64 PT, PT, R6, R2, R4, {'PT' if least else '!PT'}, !PT", given_words)
    low, high = (int(warp.registers[row][0]) for row in (6, 7))
    assert low | high << 32 == (min if least else max)(x, y) % 2**64


@pytest.mark.parametrize("code", ["IMNMX.S64 P0, PT, R6, R2, R4, PT, !PT", "IMNMX.S64 PT, PT, R6, R2, R4, PT, P1"])
def test_what_minima_of_pairs_do_with_predicates_is_not_known(code: str) -> None:
    with pytest.raises(ExecutionError, match=r"of IMNMX on pairs must be !PT|predicate result 1 has no meaning"):
        run(code)


def test_the_choice_is_by_lane() -> None:
    warp = run("VIMNMX R0, R2, R3, P0", {2: words(1), 3: words(5)}, {0: 0xF})
    assert warp.registers[0].tolist() == [1] * 4 + [5] * 28


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("VIADD R0, R2, R3", 0x1_0003 + 0xFFFF),
        ("VIADD R0, R2, -R3", 0x1_0003 - 0xFFFF),
        ("VIADD R0, R2, 0xfff00000", 0xFFF10003),
        ("VIADD R0, R2, -0x4", 0xFFFF),
        ("VIADD.16x2 R0, R2, R3", 0x1_0002),
        ("VIADD.U8x4 R0, R2, R3", 0x1_FF02),
        ("VIADD.U8x4 R0, R2, -R3", 0x1_0104),
        ("VIADDMNMX R0, R2, -R3, 0xb9600000, !PT", 4),
        ("VIADDMNMX.U32 R0, R2, 0x1, R3, PT", 0xFFFF),
        ("VIMNMX R0, R2, -0x2, !PT", 0x10003),
    ],
)
def test_sums_and_literals(code: str, wanted: int) -> None:
    assert result(code, {2: words(0x1_0003), 3: words(0xFFFF)})[0] == wanted


def test_a_sign_of_pairs_is_an_error() -> None:
    with pytest.raises(ExecutionError, match="sign of source 2 has no meaning for pairs"):
        run("VIADD.16x2 R0, R2, -R3")
