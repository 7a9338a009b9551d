"""Double-precision arithmetic."""

from __future__ import annotations

import numpy as np

from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.rounding import directed64, fma64
from warpfile.emulator.warp import Run

_ROUNDINGS = "RN RM RP RZ"


@opcode("DADD", _ROUNDINGS)
def dadd(decoder: Decoder) -> Run:
    """d = a + b."""
    a, b = decoder.float64(0), decoder.float64(1)
    mode = decoder.one_of("RN", "RM", "RP", "RZ")
    if mode == "RN":
        return decoder.result64(lambda warp: a(warp) + b(warp))
    one = np.ones(1)
    return decoder.result64(lambda warp: directed64(a(warp), one, b(warp), mode))


@opcode("DMUL", _ROUNDINGS)
def dmul(decoder: Decoder) -> Run:
    """d = a * b."""
    a, b = decoder.float64(0), decoder.float64(1)
    mode = decoder.one_of("RN", "RM", "RP", "RZ")
    if mode == "RN":
        return decoder.result64(lambda warp: a(warp) * b(warp))

    def directed(warp: object) -> np.ndarray:
        x, y = a(warp), b(warp)  # type: ignore[arg-type]
        return directed64(x, y, np.copysign(0.0, x) * np.copysign(1.0, y), mode)

    return decoder.result64(directed)


@opcode("DFMA", _ROUNDINGS)
def dfma(decoder: Decoder) -> Run:
    """d = a * b + c with one rounding."""
    a, b, c = (decoder.float64(position) for position in range(3))
    mode = decoder.one_of("RN", "RM", "RP", "RZ")
    if mode == "RN":
        return decoder.result64(lambda warp: fma64(a(warp), b(warp), c(warp)))
    return decoder.result64(lambda warp: directed64(a(warp), b(warp), c(warp), mode))
