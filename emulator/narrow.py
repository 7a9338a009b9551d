"""Narrow floating-point formats: their values, rounding to them, and F2FP, which packs and unpacks them (PTX ISA: cvt).

NaN becomes all ones below the sign, as NVIDIA documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warpfile.compiler.model import Register
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.source import Fetch
from warpfile.emulator.warp import Run, Warp


@dataclass(frozen=True)
class Format:
    """``bits`` in all, ``fraction`` of them behind the point; ``largest`` is the biggest finite value.

    ``has_infinity``: the highest exponent is that of infinity and NaN, otherwise only its last value is NaN.
    """

    bits: int
    fraction: int
    bias: int
    largest: float
    has_infinity: bool = True

    def rounded(self, values: np.ndarray, mode: str = "RN", finite: bool = False) -> np.ndarray:
        """Doubles rounded to the format, to nearest even (RN) or to zero (RZ); ``finite`` saturates."""
        exponent = np.maximum(np.frexp(values)[1] - 1, 1 - self.bias)
        scaled = np.ldexp(values, self.fraction - exponent)
        found = np.ldexp(np.rint(scaled) if mode == "RN" else np.trunc(scaled), exponent - self.fraction)
        limit = self.largest if finite or mode == "RZ" else np.inf
        infinite = np.isinf(values) & (not finite)
        return np.where((np.abs(found) > self.largest) & ~infinite, np.copysign(limit, values), found)

    def encoded(self, values: np.ndarray) -> np.ndarray:
        """Bits of doubles that the format holds, as ``uint32``."""
        size, ones = np.abs(values), (1 << self.bits - 1) - 1
        exponent = np.where(size == 0, 1 - self.bias, np.maximum(np.frexp(size)[1] - 1, 1 - self.bias))
        units = np.ldexp(np.where(np.isfinite(size), size, 0.0), self.fraction - exponent).astype(np.int64)
        found = units + (exponent + self.bias - 1 << self.fraction)
        found = np.where(np.isinf(size), ones >> self.fraction << self.fraction, found)
        found = np.where(np.signbit(values), found | 1 << self.bits - 1, found)
        return np.where(np.isnan(values), ones, found).astype(np.uint32)

    def decoded(self, words: np.ndarray) -> np.ndarray:
        """Values of the lowest bits of ``uint32`` as doubles."""
        bits = words.astype(np.int64)
        fraction, exponent = bits & (1 << self.fraction) - 1, bits >> self.fraction & self._highest
        units = np.where(exponent > 0, fraction + (1 << self.fraction), fraction)
        size = np.ldexp(units.astype(np.float64), np.maximum(exponent, 1) - self.bias - self.fraction)
        if self.has_infinity:
            size = np.where(exponent == self._highest, np.where(fraction == 0, np.inf, np.nan), size)
        else:
            size = np.where(bits & (1 << self.bits - 1) - 1 == (1 << self.bits - 1) - 1, np.nan, size)
        return np.where(bits >> self.bits - 1 & 1, -size, size)

    @property
    def _highest(self) -> int:
        return (1 << self.bits - 1 - self.fraction) - 1


BRAIN = Format(16, 7, 127, float.fromhex("0x1.fep127"))
FORMATS: dict[str, Format] = {
    "F16": Format(16, 10, 15, 65504.0),
    "BF16": BRAIN,
    "E4M3": Format(8, 3, 7, 448.0, has_infinity=False),
    "E5M2": Format(8, 2, 15, 57344.0),
    "TF32": Format(19, 10, 127, float.fromhex("0x1.ffcp127")),
    "F32": Format(32, 23, 127, float.fromhex("0x1.fffffep127")),
}
_SHAPES = "PACK_AB PACK_B MERGE_C PACK_AB_MERGE_C UNPACK_B UNPACK_B_MERGE_C"
_TF32_SHIFT = np.uint32(13)


@opcode("F2FP", f"{' '.join(FORMATS)} {_SHAPES} RN RZ RELU SATFINITE", marks="H0 H1 H0_H0 H1_H1")
def f2fp(decoder: Decoder) -> Run:
    """F2FP.dest.source.shape: PACK_AB has a in the upper and b in the lower half, UNPACK_B two values of b's low half.

    What is merged from c must be zero.
    """
    names = [name for name in decoder.modifiers if name in FORMATS]
    dest = FORMATS[names[0] if names else "F16"]
    source = names[1] if len(names) > 1 else "F32"
    shape = decoder.one_of("PACK_AB", *_SHAPES.split())
    _check_merged(decoder, shape)
    count = 2 if "AB" in shape else 1
    values = [_values(decoder, position, source) for position in reversed(range(count))]
    mode, finite, relu = decoder.one_of("RN", "RZ"), decoder.has("SATFINITE"), decoder.has("RELU")

    def compute(warp: Warp) -> np.ndarray:
        exact = np.concatenate(np.broadcast_arrays(*(one(warp) for one in values)), axis=1)
        exact = dest.rounded(exact, mode, finite)
        exact = np.where(exact <= 0, 0.0, exact) if relu else exact
        words = dest.encoded(exact)
        shifts = np.arange(words.shape[1], dtype=np.uint32) * np.uint32(dest.bits)
        total: np.ndarray = np.bitwise_or.reduce(words << shifts, axis=1)
        return total << _TF32_SHIFT if dest is FORMATS["TF32"] else total

    return decoder.result(compute)


def _check_merged(decoder: Decoder, shape: str) -> None:
    if shape.endswith("MERGE_C"):
        operand = decoder.operand(len(decoder.sources) - 1)
        if not (isinstance(operand, Register) and operand.is_zero):
            raise ValueError("what F2FP merges must be RZ")


def _values(decoder: Decoder, position: int, source: str) -> Fetch:
    """Values of a source as ``float64[lanes, values]``, lowest first: one single, or two narrow ones."""
    if source == "F32":
        single = decoder.float32(position)
        return lambda warp: single(warp).astype(np.float64)[:, None]
    words, kind = decoder.source(position), FORMATS[source]
    marks = getattr(decoder.operand(position), "marks", ())
    first = 16 if any(mark.startswith("H1") for mark in marks) and kind.bits == 8 else 0
    shifts = np.array([first, first + kind.bits], dtype=np.uint32)
    return lambda warp: kind.decoded(words(warp)[:, None] >> shifts)
