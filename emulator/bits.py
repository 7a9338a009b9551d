"""Logic, shifts, byte permutation and bit counting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.lanes import ALL, lanes_of, mask_of
from warpfile.emulator.source import Fetch
from warpfile.emulator.warp import Run, Warp

_COUNT8 = np.array([bin(value).count("1") for value in range(256)], dtype=np.uint8)
_REVERSED8 = np.array([int(f"{value:08b}"[::-1], 2) for value in range(256)], dtype=np.uint8)

Function = Callable[..., Any]  #: of lane masks and arrays alike

#: Functions of two variables by their table index bit ``(a << 1) | b``.
_TWO: dict[int, Function] = {
    0b0000: lambda a, b: a ^ a,
    0b0001: lambda a, b: ~(a | b),
    0b0010: lambda a, b: ~a & b,
    0b0011: lambda a, b: ~a,
    0b0100: lambda a, b: a & ~b,
    0b0101: lambda a, b: ~b,
    0b0110: lambda a, b: a ^ b,
    0b0111: lambda a, b: ~(a & b),
    0b1000: lambda a, b: a & b,
    0b1001: lambda a, b: ~(a ^ b),
    0b1010: lambda a, b: b | (a ^ a),
    0b1011: lambda a, b: ~a | b,
    0b1100: lambda a, b: a | (b ^ b),
    0b1101: lambda a, b: a | ~b,
    0b1110: lambda a, b: a | b,
    0b1111: lambda a, b: ~(a ^ a),
}


def lut3(table: int) -> Function:
    """Bitwise function of three operands; result bit = table[(a << 2) | (b << 1) | c]."""
    with_c = _TWO[sum((table >> 2 * index + 1 & 1) << index for index in range(4))]
    without_c = _TWO[sum((table >> 2 * index & 1) << index for index in range(4))]
    if with_c is without_c:
        return lambda a, b, c: with_c(a, b)
    return lambda a, b, c: c & with_c(a, b) | ~c & without_c(a, b)


@opcode("LOP3 ULOP3", "LUT PAND")
def lop3(decoder: Decoder) -> Run:
    """LOP3.LUT [p,] d, a, b, c, table, pin: p = (d != 0) or pin (``.PAND``: and)."""
    a, b, c = (decoder.source(position) for position in range(3))
    table = decoder.literal(3)
    if table is None:
        raise ValueError("table of LOP3 must be a literal")
    function = lut3(table)
    set_predicate = decoder.predicate_writer(0)
    if set_predicate is None:
        return decoder.result(lambda warp: function(a(warp), b(warp), c(warp)))
    write, both = decoder.writer(), decoder.has("PAND")
    given = decoder.predicate(4) if len(decoder.sources) > 4 else lambda warp: 0

    def run(warp: Warp, mask: int) -> None:
        value = function(a(warp), b(warp), c(warp))
        if write is not None:
            write(warp, mask, value)
        bits = mask_of(value != 0)
        set_predicate(warp, mask, bits & given(warp) if both else bits | given(warp))

    return run


@opcode("PLOP3 UPLOP3", "LUT", marks="SIGN")
def plop3(decoder: Decoder) -> Run:
    """Two functions of the same three predicates, one for each destination."""
    a, b, c = (decoder.predicate(position) for position in range(3))
    functions = [lut3(decoder.literal(position) or 0) for position in (3, 4)]
    writers = [decoder.predicate_writer(position) for position in range(2)]
    chosen = [(write, function) for write, function in zip(writers, functions, strict=True) if write is not None]

    def run(warp: Warp, mask: int) -> None:
        x, y, z = a(warp), b(warp), c(warp)
        for write, function in chosen:
            write(warp, mask, function(x, y, z) & ALL)

    return run


@opcode("SHF USHF", "L R W HI U32 S32 U64 S64")
def shf(decoder: Decoder) -> Run:
    """Funnel shift of {hi:lo}; the amount is clamped to the type's width or, with .W, wrapped."""
    low, shift, high = (decoder.source(position) for position in range(3))
    bits = 64 if decoder.has("U64", "S64") else 32
    wraps, left, upper = decoder.has("W"), decoder.has("L"), decoder.has("HI")
    signed = decoder.has("S32", "S64")
    amount = decoder.literal(1)
    if amount is not None and not left and upper and 0 < amount < bits and amount < 32:
        return decoder.result(_plain_right(high, amount, signed))
    if amount is not None and left and not upper and amount < 32:
        return decoder.result(lambda warp: low(warp) << np.uint32(amount))

    def compute(warp: Warp) -> np.ndarray:
        value = high(warp).astype(np.uint64) << np.uint64(32) | low(warp)
        count = shift(warp) & np.uint32(bits - 1) if wraps else np.minimum(shift(warp), np.uint32(bits))
        if left:
            value = value << count.astype(np.uint64)
        elif signed:
            value = (value.view(np.int64) >> count.astype(np.int64)).view(np.uint64)
        else:
            value = value >> count.astype(np.uint64)
        return (value >> np.uint64(32) if upper else value).astype(np.uint32)

    return decoder.result(compute)


def _plain_right(high: Fetch, amount: int, signed: bool) -> Fetch:
    if signed:
        return lambda warp: (high(warp).view(np.int32) >> np.int32(amount)).view(np.uint32)
    return lambda warp: high(warp) >> np.uint32(amount)


#: Byte numbers that the PRMT modes pick for selector 0..3, lowest byte first (PTX ISA, prmt).
_MODES = {
    "F4E": ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6)),
    "B4E": ((0, 7, 6, 5), (1, 0, 7, 6), (2, 1, 0, 7), (3, 2, 1, 0)),
    "RC8": ((0, 0, 0, 0), (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)),
    "ECL": ((0, 1, 2, 3), (1, 1, 2, 3), (2, 2, 2, 3), (3, 3, 3, 3)),
    "ECR": ((0, 0, 0, 0), (0, 1, 1, 1), (0, 1, 2, 2), (0, 1, 2, 3)),
    "RC16": ((0, 1, 0, 1), (2, 3, 2, 3), (0, 1, 0, 1), (2, 3, 2, 3)),
}


@opcode("PRMT UPRMT", "F4E B4E RC8 ECL ECR RC16")
def prmt(decoder: Decoder) -> Run:
    """Each result byte is a byte of {c:a} or, in index mode with selector bit 3, its sign repeated."""
    a, selector, c = (decoder.source(position) for position in range(3))
    mode = next((mode for mode in _MODES if decoder.has(mode)), None)
    nibbles = np.arange(0, 16, 4, dtype=np.uint32)

    def compute(warp: Warp) -> np.ndarray:
        pool = np.stack(np.broadcast_arrays(a(warp), c(warp)), axis=1).view(np.uint8)
        select = np.broadcast_to(selector(warp), pool.shape[:1])
        if mode is not None:
            picks = np.array(_MODES[mode])[select & np.uint32(3)]
            return np.take_along_axis(pool, picks, axis=1).view(np.uint32)[:, 0]
        codes = select[:, None] >> nibbles & np.uint32(15)
        found = np.take_along_axis(pool, (codes & 7).astype(np.int64), axis=1)
        signs = (found.view(np.int8) >> 7).view(np.uint8)
        return np.ascontiguousarray(np.where(codes & 8, signs, found)).view(np.uint32)[:, 0]

    return decoder.result(compute)


@opcode("POPC UPOPC")
def popc(decoder: Decoder) -> Run:
    """Number of set bits."""
    source = decoder.source(0)

    def compute(warp: Warp) -> np.ndarray:
        counts = _COUNT8[np.ascontiguousarray(source(warp)).view(np.uint8)]
        return counts.reshape(-1, 4).sum(axis=1, dtype=np.uint32)

    return decoder.result(compute)


@opcode("BREV UBREV")
def brev(decoder: Decoder) -> Run:
    """Bits in reverse order."""
    source = decoder.source(0)

    def compute(warp: Warp) -> np.ndarray:
        octets = _REVERSED8[np.ascontiguousarray(source(warp)).view(np.uint8)].reshape(-1, 4)
        return np.ascontiguousarray(octets[:, ::-1]).view(np.uint32)[:, 0]

    return decoder.result(compute)


@opcode("FLO UFLO", "U32 S32 SH")
def flo(decoder: Decoder) -> Run:
    """Place of the highest set bit (signed: of the highest bit unlike the sign), all ones if there is none.

    ``.SH`` gives the left shift that brings that bit to the top.
    """
    source, unsigned, shift = decoder.source(0), decoder.has("U32"), decoder.has("SH")

    def compute(warp: Warp) -> np.ndarray:
        value = source(warp)
        if not unsigned:
            value = value ^ (value.view(np.int32) >> 31).view(np.uint32)
        place = np.frexp(value.astype(np.float64))[1] - 1
        if shift:
            place = np.where(place < 0, place, 31 - place)
        return place.astype(np.int32).view(np.uint32)

    return decoder.result(compute)


@opcode("MOV UMOV", "64")
def mov(decoder: Decoder) -> Run:
    """Copy; a second operand is a byte mask that ptxas leaves at its default."""
    return decoder.result64(decoder.pair(0)) if decoder.has("64") else decoder.result(decoder.source(0))


@opcode("SEL USEL", "64")
def sel(decoder: Decoder) -> Run:
    """a where the predicate is true, else b; .64, of sm_120: of pairs."""
    chosen, width = decoder.predicate(2), decoder.width
    fetch, result = (decoder.pair, decoder.result64) if decoder.has("64") else (decoder.source, decoder.result)
    a, b = fetch(0), fetch(1)
    return result(lambda warp: np.where(lanes_of(chosen(warp))[:width], a(warp), b(warp)))
