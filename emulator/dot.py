"""Bit fields, dot products of bytes and conversions between integers (PTX ISA: bmsk, szext, dp4a, dp2a, vabsdiff4)."""

from __future__ import annotations

import numpy as np

from warpfile.compiler.operand_widths import conversion_types
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.source import Fetch
from warpfile.emulator.warp import Run, Warp

_WORD = np.uint32(32)
_LOW5 = np.uint32(31)
_HALF = 16  #: bits
_ONES = np.uint32(0xFFFFFFFF)


def _ones_from(place: np.ndarray) -> np.ndarray:
    """All ones from bit ``place`` on; none from 32 on."""
    return np.where(place < _WORD, _ONES << np.minimum(place, _LOW5), np.uint32(0)).astype(np.uint32)


@opcode("BMSK UBMSK", "W C")
def bmsk(decoder: Decoder) -> Run:
    """d = ``b`` ones from bit ``a`` on; amounts of 32 and more clamp, or with .W wrap."""
    start, count, wraps = decoder.source(0), decoder.source(1), decoder.has("W")

    def compute(warp: Warp) -> np.ndarray:
        first, width = start(warp), count(warp)
        if wraps:
            first, width = first & _LOW5, width & _LOW5
        end = np.minimum(first, _WORD) + np.minimum(width, _WORD)
        return _ones_from(first) & ~_ones_from(end)

    return decoder.result(compute)


@opcode("SGXT USGXT", "W U32 S32")
def sgxt(decoder: Decoder) -> Run:
    """d = the low ``b`` bits of ``a``, sign-extended or with .U32 zero-extended; b clamps, or with .W wraps."""
    source, count, wraps, unsigned = decoder.source(0), decoder.source(1), decoder.has("W"), decoder.has("U32")

    def compute(warp: Warp) -> np.ndarray:
        value, width = source(warp), count(warp)
        if wraps:
            width = width & _LOW5
        upper = _ones_from(width)
        sign = value >> (width - np.uint32(1) & _LOW5) & np.uint32(1)
        negative = (sign != 0) & (width != 0) & (width < _WORD) & (not unsigned)
        return np.where(negative, value | upper, value & ~upper)

    return decoder.result(compute)


_PARTS = {"U8": np.uint8, "S8": np.int8, "U16": np.uint16, "S16": np.int16}


def _parts(fetch: Fetch, kind: str) -> Fetch:
    """Bytes or halves of a word as ``int64[lanes, parts]``, lowest first."""
    dtype = _PARTS[kind]

    def split(warp: Warp) -> np.ndarray:
        words = np.ascontiguousarray(fetch(warp))
        return words.view(dtype).reshape(len(words), -1).astype(np.int64)

    return split


@opcode("IDP", "4A 2A LO HI U8 S8 U16 S16")
def idp(decoder: Decoder) -> Run:
    """IDP.4A d, a, b, c: c plus four products of bytes; .2A: two of halves with bytes 0, 1 (.LO) or 2, 3 (.HI)."""
    kinds = [mark for mark in decoder.modifiers if mark in _PARTS]
    if len(kinds) != 2 or not decoder.has("4A", "2A"):
        raise ValueError("IDP must be 4A or 2A with the types of both factors")
    a, b, c = _parts(decoder.source(0), kinds[0]), _parts(decoder.source(1), kinds[1]), decoder.source(2)
    chosen = slice(0, 4) if decoder.has("4A") else slice(2, 4) if decoder.has("HI") else slice(0, 2)

    def compute(warp: Warp) -> np.ndarray:
        total = (a(warp) * b(warp)[:, chosen]).sum(axis=1)
        return total.astype(np.uint32) + c(warp)

    return decoder.result(compute)


@opcode("VABSDIFF4", "U8 S8 ACC")
def vabsdiff4(decoder: Decoder) -> Run:
    """Differences of the four bytes without sign, side by side; .ACC adds them up on c."""
    kind = decoder.one_of("U8", "S8", "U8")
    a, b, c = _parts(decoder.source(0), kind), _parts(decoder.source(1), kind), decoder.source(2)
    adds = decoder.has("ACC")

    def compute(warp: Warp) -> np.ndarray:
        differences = np.abs(a(warp) - b(warp))
        if adds:
            return differences.sum(axis=1).astype(np.uint32) + c(warp)
        return np.ascontiguousarray(differences.astype(np.uint8)).view(np.uint32)[:, 0]

    return decoder.result(compute)


@opcode("I2IP", "SAT S32 S16 U16 S8 U8 S4 U4 S2 U2")
def i2ip(decoder: Decoder) -> Run:
    """I2IP.type.S32.SAT d, a, b, c as cvt.pack of the PTX ISA: b at the bottom, a above it, then c unless 16 bits."""
    kind = decoder.modifiers[0]
    bits, signed = int(kind[1:]), kind[0] == "S"
    if not decoder.has("SAT") or decoder.modifiers[1:2] != ("S32",):
        raise ValueError("I2IP must name the type, S32 and SAT")
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    a, b, c = decoder.signed(0), decoder.signed(1), decoder.source(2)
    size, ones = np.uint32(bits), np.uint32((1 << bits) - 1)

    def compute(warp: Warp) -> np.ndarray:
        upper, lower = (np.clip(one(warp), low, high).view(np.uint32) & ones for one in (a, b))
        above = c(warp) << size << size if bits < _HALF else np.uint32(0)
        return above | upper << size | lower

    return decoder.result(compute)


@opcode("I2I", "SAT U8 S8 U16 S16 U32 S32")
def i2i(decoder: Decoder) -> Run:
    """Integer of another type, its low bits extended to a word; .SAT goes to the nearest value of the type."""
    dest, source = conversion_types(decoder.instruction)
    fetch, saturate = decoder.source(0), decoder.has("SAT")
    width, signed = int(dest[1:]), dest[0] == "S"
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)

    def compute(warp: Warp) -> np.ndarray:
        value = fetch(warp).astype(np.dtype(f"{'i' if source[0] == 'S' else 'u'}{int(source[1:]) // 8}"))
        wide = value.astype(np.int64)
        wide = np.clip(wide, low, high) if saturate else (wide - low) % (1 << width) + low
        return wide.astype(np.uint32)

    return decoder.result(compute)
