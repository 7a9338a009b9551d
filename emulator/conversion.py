"""Conversions between integers and floating point, and rounding to integral values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from warpfile.compiler.operand_widths import conversion_types
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.float32 import canonical
from warpfile.emulator.narrow import FORMATS
from warpfile.emulator.rounding import directed, round_fraction, rounded32, to_odd
from warpfile.emulator.source import Fetch, flushed
from warpfile.emulator.warp import Run, Warp

_INTEGERS: dict[str, type] = {
    "S8": np.int8, "U8": np.uint8, "S16": np.int16, "U16": np.uint16,
    "S32": np.int32, "U32": np.uint32, "S64": np.int64, "U64": np.uint64,
}  # fmt: skip
_ROUNDERS = {"RN": np.rint, "TRUNC": np.trunc, "FLOOR": np.floor, "CEIL": np.ceil}
_TYPES = "F16 BF16 F32 F64 " + " ".join(_INTEGERS)
_NARROW = ("F16", "BF16")
_HALF_NAN = np.uint32(0x7FFF)
_DIRECTIONS = ("RM", "RP", "RZ")


def _integer(decoder: Decoder, kind: str) -> Fetch:
    """Integer source of a type as ``int64`` or ``uint64``."""
    if kind in ("S64", "U64"):
        pair = decoder.pair(0)
        return lambda warp: pair(warp).view(_INTEGERS[kind])
    source, dtype = decoder.source(0), _INTEGERS[kind]
    shift = np.uint32(next((_SHIFTS[mark] for mark in _marks(decoder) if mark in _SHIFTS), 0))
    return lambda warp: (source(warp) >> shift).astype(dtype).astype(np.int64)


def _marks(decoder: Decoder) -> tuple[str, ...]:
    return getattr(decoder.operand(0), "marks", ())


_HALVES = "H0 H1 H0_H0 H1_H1"
#: Bits below the part of a register that a mark names.
_SHIFTS = {"B0": 0, "B1": 8, "B2": 16, "B3": 24, "H0": 0, "H1": 16}


def _float(decoder: Decoder, kind: str) -> Fetch:
    """Floating-point source as ``float64`` (exact for every type)."""
    if kind == "F64":
        return decoder.float64(0)
    if kind in _NARROW:
        return half_source(decoder, kind)
    source = decoder.float32(0, decoder.has("FTZ"))
    return lambda warp: source(warp).astype(np.float64)


def half_source(decoder: Decoder, kind: str) -> Fetch:
    """The half of the source that its mark names, of type F16 or BF16, as ``float64``."""
    word, half = decoder.source(0), np.uint32(16 * any(mark.startswith("H1") for mark in _marks(decoder)))
    if kind == "F16":
        return lambda warp: (word(warp) >> half).astype(np.uint16).view(np.float16).astype(np.float64)
    upper, mask = np.uint32(16) - half, np.uint32(0xFFFF0000)  # of a single, which keeps what a NaN holds
    return lambda warp: (word(warp) << upper & mask).view(np.float32).astype(np.float64)


@opcode("I2F", f"RN RM RP RZ {_TYPES}", marks=" ".join(_SHIFTS))
def i2f(decoder: Decoder) -> Run:
    """Integer to floating point, rounded to nearest even or in the direction asked for."""
    dest, source = conversion_types(decoder.instruction)
    value, mode = _integer(decoder, source), decoder.one_of("RN", *_DIRECTIONS)
    if dest in _NARROW:
        return decoder.result(lambda warp: half_bits(to_odd(*_split(value(warp))), mode, dest))
    if dest == "F64":
        if mode == "RN" or source not in ("S64", "U64"):
            return decoder.result64(lambda warp: value(warp).astype(np.float64))
        return decoder.result64(lambda warp: _each(value(warp), mode))
    if mode == "RN":
        return decoder.result(lambda warp: value(warp).astype(np.float32).view(np.uint32))

    def toward(warp: Warp) -> np.ndarray:
        return rounded32(*_split(value(warp)), mode).view(np.uint32)

    return decoder.result(toward)


def _split(integers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Integers as a double and its error."""
    total = integers.astype(np.float64)
    pairs = zip(integers.tolist(), total.tolist(), strict=True)
    return total, np.array([float(integer - int(approximate)) for integer, approximate in pairs])


@opcode("I2FP", f"F32 S32 U32 RN {' '.join(_DIRECTIONS)}")
def i2fp(decoder: Decoder) -> Run:
    """I2FP.F32.{S32,U32}: I2F of words, on another unit."""
    source, mode = decoder.one_of("S32", "S32", "U32"), decoder.one_of("RN", *_DIRECTIONS)
    value = _integer(decoder, source)

    def compute(warp: Warp) -> np.ndarray:
        exact = value(warp).astype(np.float64)
        single = exact.astype(np.float32) if mode == "RN" else rounded32(exact, np.zeros_like(exact), mode)
        return single.view(np.uint32)

    return decoder.result(compute)


def half_bits(values: np.ndarray, mode: str, kind: str = "F16") -> np.ndarray:
    """Doubles rounded to half precision or bfloat16, in the low half of a word."""
    if kind == "BF16":
        return FORMATS[kind].encoded(FORMATS[kind].rounded(values, mode))
    half = values.astype(np.float16) if mode == "RN" else directed(values, np.zeros_like(values), mode, np.float16)
    return half.view(np.uint16).astype(np.uint32)


def _each(integers: np.ndarray, mode: str) -> np.ndarray:
    return np.array([round_fraction(Fraction(integer), mode) if integer else 0.0 for integer in integers.tolist()])


@opcode("F2I", f"FTZ NTZ RN TRUNC FLOOR CEIL {_TYPES}", marks=_HALVES)
def f2i(decoder: Decoder) -> Run:
    """Floating point to integer, saturating.

    NaN gives 0 with .NTZ or where neither type has 64 bits, else the type's top bit (PTX ISA, cvt).
    """
    dest, source = conversion_types(decoder.instruction)
    value, rounder = _float(decoder, source), _ROUNDERS[decoder.one_of("RN", "TRUNC", "FLOOR", "CEIL")]
    bits, unsigned = 8 * np.dtype(_INTEGERS[dest]).itemsize, dest[0] == "U"
    lowest, highest = (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)
    low, high = float(lowest), float(highest + 1)
    nan_is_zero = decoder.has("NTZ") or not {dest, source} & {"F64", "S64", "U64"}
    nan = 0 if nan_is_zero else 1 << bits - 1
    wide = np.uint64 if unsigned else np.int64

    def compute(warp: Warp) -> np.ndarray:
        exact = rounder(value(warp))
        inside = (exact >= low) & (exact < high)
        result = np.where(inside, exact, 0.0).astype(wide).view(np.uint64)
        limits = np.where(exact < 0, np.uint64(lowest % 2**64), np.uint64(highest))
        result = np.where(inside, result, limits)
        return np.where(np.isnan(exact), np.uint64(nan), result)

    if dest in ("S64", "U64"):
        return decoder.result64(compute)
    return decoder.result(lambda warp: compute(warp).astype(np.uint32))


@opcode("F2F", f"FTZ SAT RN RM RP RZ TRUNC FLOOR CEIL {_TYPES}", marks=_HALVES)
def f2f(decoder: Decoder) -> Run:
    """Between floating-point types; with TRUNC and its like to an integral value.

    NaN keeps sign and leading payload bits to and from double precision, quiet; between the others it is canonical.
    """
    dest, source = conversion_types(decoder.instruction)
    value, mode = _float(decoder, source), decoder.one_of("RN", *_DIRECTIONS)
    if decoder.has("TRUNC", "FLOOR", "CEIL"):
        return _integral(decoder, dest, value)
    if dest == "F64":
        return decoder.result64(lambda warp: value(warp) * 1.0)  # which makes NaN quiet
    if dest in _NARROW:
        return _to_half(decoder, source, value, mode, dest)
    flush, saturate = decoder.has("FTZ"), decoder.has("SAT")

    def compute(warp: Warp) -> np.ndarray:
        exact = value(warp)
        single = exact.astype(np.float32) if mode == "RN" else rounded32(exact, np.zeros_like(exact), mode)
        if saturate:
            single = np.where(single > 0, np.minimum(single, np.float32(1)), np.float32(0))
        single = flushed(single) if flush else single
        return single.view(np.uint32) if source == "F64" else canonical(single)

    return decoder.result(compute)


def _to_half(decoder: Decoder, source: str, value: Fetch, mode: str, dest: str) -> Run:
    def compute(warp: Warp) -> np.ndarray:
        exact = value(warp) * 1.0  # which makes NaN quiet
        bits = half_bits(exact, mode, dest)
        return bits if source == "F64" else np.where(np.isnan(exact), _HALF_NAN, bits)

    return decoder.result(compute)


@opcode("FRND", f"FTZ RN TRUNC FLOOR CEIL {_TYPES}", marks=_HALVES)
def frnd(decoder: Decoder) -> Run:
    """Round to an integral value of the same type."""
    dest, source = conversion_types(decoder.instruction)
    return _integral(decoder, dest, _float(decoder, source))


def _integral(decoder: Decoder, dest: str, value: Fetch) -> Run:
    rounder = _ROUNDERS[decoder.one_of("RN", "TRUNC", "FLOOR", "CEIL")]
    if dest == "F64":
        return decoder.result64(lambda warp: rounder(value(warp)))
    if dest in _NARROW:
        return decoder.result(lambda warp: canonical_half(rounder(value(warp)), dest))
    return decoder.result(lambda warp: canonical(rounder(value(warp)).astype(np.float32)))


def canonical_half(values: np.ndarray, kind: str = "F16") -> np.ndarray:
    """Doubles rounded to nearest as :func:`half_bits`, NaN canonical."""
    return np.where(np.isnan(values), _HALF_NAN, half_bits(values, "RN", kind))
