"""Double-precision arithmetic."""

from __future__ import annotations

import numpy as np

from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.rounding import directed64, fma64
from warpfile.emulator.warp import Run, Warp

_ROUNDINGS = "RN RM RP RZ"


_QUIET = np.uint64(1 << 51)
_INVALID = np.uint64(0xFFF8_0000_0000_0000)


def _with_nan(value: np.ndarray, *operands: np.ndarray) -> np.ndarray:
    """The value; where it is NaN the first operand that is one, made quiet, or the one of invalid operations."""
    wrong = np.isnan(value)
    if not wrong.any():
        return value
    bits = np.where(wrong, _INVALID, value.view(np.uint64))
    for operand in reversed(np.broadcast_arrays(*operands)):
        bits = np.where(np.isnan(operand), operand.view(np.uint64) | _QUIET, bits)
    return bits.view(np.float64)


@opcode("DADD", _ROUNDINGS)
def dadd(decoder: Decoder) -> Run:
    """d = a + b."""
    a, b = decoder.float64(0), decoder.float64(1)
    mode = decoder.one_of("RN", "RM", "RP", "RZ")
    one = np.ones(1)

    def compute(warp: Warp) -> np.ndarray:
        x, y = a(warp), b(warp)
        return _with_nan(x + y if mode == "RN" else directed64(x, one, y, mode), y, x)

    return decoder.result64(compute)


@opcode("DMUL", _ROUNDINGS)
def dmul(decoder: Decoder) -> Run:
    """d = a * b."""
    a, b = decoder.float64(0), decoder.float64(1)
    mode = decoder.one_of("RN", "RM", "RP", "RZ")

    def compute(warp: Warp) -> np.ndarray:
        x, y = a(warp), b(warp)
        if mode == "RN":
            return _with_nan(x * y, y, x)
        return _with_nan(directed64(x, y, np.copysign(0.0, x) * np.copysign(1.0, y), mode), y, x)

    return decoder.result64(compute)


@opcode("DFMA", _ROUNDINGS)
def dfma(decoder: Decoder) -> Run:
    """d = a * b + c with one rounding."""
    a, b, c = (decoder.float64(position) for position in range(3))
    mode = decoder.one_of("RN", "RM", "RP", "RZ")

    def compute(warp: Warp) -> np.ndarray:
        x, y, z = a(warp), b(warp), c(warp)
        return _with_nan(fma64(x, y, z) if mode == "RN" else directed64(x, y, z, mode), y, z, x)

    return decoder.result64(compute)
