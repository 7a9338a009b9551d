"""Integer sums and minima of sm_90 and later (PTX ISA: add, min, max), on words, halves of them or, of sm_120, bytes.

Sums wrap before they are compared. CUDA's ``__vibmax_s16x2`` tells what the predicates are: whether the first operand
won or was equal, of the low half and of the high one.
"""

from __future__ import annotations

import numpy as np

from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.lanes import lanes_of, mask_of
from warpfile.emulator.source import Fetch
from warpfile.emulator.warp import Run, Warp

_TYPES: dict[str, type] = {
    "S32": np.int32, "U32": np.uint32, "16x2": np.uint16, "S16x2": np.int16, "U16x2": np.uint16,
}  # fmt: skip
_MINIMA = f"RELU {' '.join(_TYPES)}"
_BYTES: dict[str, type] = {"S8x4": np.int8, "U8x4": np.uint8}  #: of sm_120, in VIADD and VIMNMX


class _Parts:
    """Operands of an instruction as integers of its type, ``[lanes, parts]`` with the lowest part first."""

    def __init__(self, decoder: Decoder) -> None:
        self.decoder = decoder
        known = _TYPES | _BYTES
        self.dtype = known[decoder.one_of("S32", *known)]

    def source(self, position: int) -> Fetch:
        """Values of a source."""
        operand, words = self.decoder.operand(position), self.decoder.source(position)
        negate = np.dtype(self.dtype).itemsize < 4 and getattr(operand, "negate", False)
        if negate and np.dtype(self.dtype).itemsize == 2:
            raise ValueError(f"sign of source {position + 1} has no meaning for pairs")

        def parts(warp: Warp) -> np.ndarray:
            given = np.negative(words(warp)) if negate else words(warp)  # the sign is that of each byte
            found: np.ndarray = np.ascontiguousarray(given).view(self.dtype).reshape(len(given), -1)
            return np.negative(found) if negate else found

        return parts

    def result(self, values: Fetch) -> Run:
        """Write values of the type."""
        relu, zero = self.decoder.has("RELU"), self.dtype(0)

        def compute(warp: Warp) -> np.ndarray:
            found = np.maximum(values(warp), zero) if relu else values(warp)
            return np.ascontiguousarray(found).view(np.uint32)[:, 0]

        return self.decoder.result(compute)

    def chosen(self, position: int, *values: Fetch) -> Fetch:
        """The least of the values where the predicate is true, else the largest."""
        least = self.decoder.predicate(position)

        def choose(warp: Warp) -> np.ndarray:
            low = high = values[0](warp)
            for other in values[1:]:
                found = other(warp)
                low, high = np.minimum(low, found), np.maximum(high, found)
            return np.where(lanes_of(least(warp))[:, None], low, high)

        return choose


@opcode("VIADD", f"16x2 {' '.join(_BYTES)}")
def viadd(decoder: Decoder) -> Run:
    """d = a + b."""
    parts = _Parts(decoder)
    a, b = parts.source(0), parts.source(1)
    return parts.result(lambda warp: a(warp) + b(warp))


@opcode("VIADDMNMX", _MINIMA)
def viaddmnmx(decoder: Decoder) -> Run:
    """Minimum of a + b and c where the predicate is true, else maximum; .RELU: not below zero."""
    parts = _Parts(decoder)
    a, b, c = (parts.source(position) for position in range(3))
    return parts.result(parts.chosen(3, lambda warp: a(warp) + b(warp), c))


@opcode("VIMNMX3", _MINIMA)
def vimnmx3(decoder: Decoder) -> Run:
    """Minimum of three where the predicate is true, else maximum; .RELU as above."""
    parts = _Parts(decoder)
    return parts.result(parts.chosen(3, *(parts.source(position) for position in range(3))))


@opcode("VIMNMX UVIMNMX", f"{_MINIMA} {' '.join(_BYTES)}")
def vimnmx(decoder: Decoder) -> Run:
    """VIMNMX d, [p, q,] a, b, pin: minimum where pin is true, else maximum; p and q: a won or was equal, by part."""
    parts = _Parts(decoder)
    a, b, least = parts.source(0), parts.source(1), decoder.predicate(2)
    select = parts.result(parts.chosen(2, a, b))
    writers = [decoder.predicate_writer(place) for place in range(2)]

    def run(warp: Warp, mask: int) -> None:
        x, y = np.broadcast_arrays(a(warp), b(warp))
        won = np.where(lanes_of(least(warp))[:, None], x <= y, x >= y)
        select(warp, mask)
        for part, write in zip(range(won.shape[1]), writers, strict=False):
            if write is not None:
                write(warp, mask, mask_of(won[:, part]))

    return run if any(writers) else select
