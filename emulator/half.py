"""Half-precision arithmetic on pairs: the low and the high half of a register side by side; with .BF16_V2 on bfloat16.

Sums are rounded once, from double precision with an exact error term. NaN results are 0x7fff as NVIDIA documents.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpfile.compiler.model import Immediate, Operand, Register
from warpfile.emulator.compare import BOOLEANS, FLOAT_COMPARES, name_of_compare
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.float32 import canonical, extremes
from warpfile.emulator.lanes import ALL, LANES, lanes_of, mask_of
from warpfile.emulator.narrow import BRAIN
from warpfile.emulator.rounding import to_odd, two_sum
from warpfile.emulator.source import Fetch
from warpfile.emulator.warp import Run, Warp

_TINY = 2.0**-14  #: smallest normal number
_LIFT = 2.0**12
_NAN = np.uint16(0x7FFF)
_SIGNS = np.array([15, 31], dtype=np.uint32)  #: of the halves
_BRAIN = "BF16_V2"
_MARKS = "H0_H0 H1_H1 H1_H0"
_PICKS = {"H0_H0": [0, 0], "H1_H1": [1, 1]}


def _operands(decoder: Decoder) -> list[tuple[int, Operand]]:
    """Positions of the sources; two literals in a row are the high and the low half of one."""
    found: list[tuple[int, Operand]] = []
    for position, operand in enumerate(decoder.sources):
        previous = found[-1] if found else None
        second = previous is not None and previous[0] == position - 1 and isinstance(previous[1], Immediate)
        if not (second and isinstance(operand, Immediate)):
            found.append((position, operand))
    return found


def _halves(decoder: Decoder, index: int) -> Fetch:
    """Both halves of the ``index``-th operand as ``float64[lanes, 2]``, low half first; with .FTZ flushed."""
    flush = decoder.has("FTZ")
    position, operand = _operands(decoder)[index]
    decoder.operand(position)
    if isinstance(operand, Immediate) and isinstance(operand.value, float):
        low = decoder.operand(position + 1)
        if not isinstance(low, Immediate):
            raise ValueError("literal of halves must be a pair")
        pair = np.array([float(low.value), operand.value])
        pair = _flushed(pair) if flush else pair
        return lambda warp: pair
    bits, picks = decoder.raw(position), None
    if isinstance(operand, Register):
        picks = next((_PICKS[mark] for mark in operand.marks if mark in _PICKS), None)
    magnitude, negate = getattr(operand, "absolute", False), getattr(operand, "negate", False)

    brain = decoder.has(_BRAIN)

    def fetch(warp: Warp) -> np.ndarray:
        pairs = np.broadcast_to(bits(warp), (LANES,)).copy().view(np.uint16).reshape(-1, 2)
        values = _singles(pairs) if brain else pairs.view(np.float16).astype(np.float64)
        if picks is not None:
            values = values[:, picks]
        values = _flushed(values) if flush else values
        values = np.abs(values) if magnitude else values
        return -values if negate else values

    return fetch


def _singles(brains: np.ndarray) -> np.ndarray:
    """Values of bfloat16, which are the upper halves of singles."""
    return (brains.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)


def _flushed(values: np.ndarray) -> np.ndarray:
    return np.where(np.abs(values) < _TINY, np.copysign(0.0, values), values)


def _packed(decoder: Decoder, exact: Fetch) -> Run:
    """Round to half precision (``.F32``: the low half to single precision) and write."""
    flush, saturate, single = decoder.has("FTZ"), decoder.has("SAT"), decoder.has("F32")
    relu, brain = decoder.has("RELU"), decoder.has(_BRAIN)

    def compute(warp: Warp) -> np.ndarray:
        values = exact(warp)
        if flush:  # looks at the exponent before it is bounded
            tiny = np.abs((values * _LIFT).astype(np.float16)) < _TINY * _LIFT
            values = np.where(tiny, np.copysign(0.0, values), values)
        if saturate:
            values = np.where(values > 0, np.minimum(values, 1.0), 0.0)
        if relu:
            values = np.where(values <= 0, 0.0, values)
        if single:
            return canonical(np.ascontiguousarray(values[:, 0]).astype(np.float32))
        if brain:
            bits = BRAIN.encoded(BRAIN.rounded(values)).astype(np.uint16)
        else:
            rounded = values.astype(np.float16)
            bits = np.where(np.isnan(rounded), _NAN, rounded.view(np.uint16))
        return np.ascontiguousarray(np.broadcast_to(bits, (LANES, 2))).view(np.uint32)[:, 0]

    return decoder.result(compute)


def _sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    total = a + b
    return np.where(np.isfinite(total), to_odd(*two_sum(a, b)), total)


@opcode("HADD2", f"F32 FTZ SAT {_BRAIN}", marks=_MARKS)
def hadd2(decoder: Decoder) -> Run:
    """d = a + b in both halves; HADD2.F32 widens the sum of the low ones."""
    a, b = _halves(decoder, 0), _halves(decoder, 1)
    return _packed(decoder, lambda warp: _sum(a(warp), b(warp)))


@opcode("HMUL2", f"FTZ SAT {_BRAIN}", marks=_MARKS)
def hmul2(decoder: Decoder) -> Run:
    """d = a * b in both halves."""
    a, b = _halves(decoder, 0), _halves(decoder, 1)
    return _packed(decoder, lambda warp: a(warp) * b(warp))


@opcode("HFMA2", f"FTZ SAT MMA RELU {_BRAIN}", marks=_MARKS)
def hfma2(decoder: Decoder) -> Run:
    """d = a * b + c in both halves, rounded once; .RELU: zero instead of a negative number."""
    a, b, c = (_halves(decoder, index) for index in range(3))
    return _packed(decoder, lambda warp: _sum(a(warp) * b(warp), c(warp)))


@opcode("HSETP2", f"FTZ {_BRAIN} {' '.join(FLOAT_COMPARES)} {' '.join(BOOLEANS)}", marks=_MARKS)
def hsetp2(decoder: Decoder) -> Run:
    """HSETP2.cmp.bool p, q, a, b, pin: p from the low halves, q from the high ones."""
    compare: Callable[[np.ndarray, np.ndarray], np.ndarray] = FLOAT_COMPARES[name_of_compare(decoder, FLOAT_COMPARES)]
    combine = BOOLEANS[decoder.one_of("AND", *BOOLEANS)]
    a, b, given = _halves(decoder, 0), _halves(decoder, 1), decoder.predicate(len(decoder.sources) - 1)
    writers = [decoder.predicate_writer(0), decoder.predicate_writer(1)]

    def run(warp: Warp, mask: int) -> None:
        result, pin = compare(a(warp), b(warp)), given(warp)
        for half, write in enumerate(writers):
            if write is not None:
                write(warp, mask, combine(mask_of(result[:, half]), pin))

    return run


@opcode("HSET2", f"BF FTZ {_BRAIN} {' '.join(FLOAT_COMPARES)} {' '.join(BOOLEANS)}", marks=_MARKS)
def hset2(decoder: Decoder) -> Run:
    """HSET2[.BF].cmp.bool d, a, b, pin: halves of ones (.BF: 1.0) where the comparison holds, else zero."""
    name = decoder.one_of("", *FLOAT_COMPARES)
    if not name:
        raise ValueError(f"comparison must be one of {', '.join(FLOAT_COMPARES)}")
    compare: Callable[[np.ndarray, np.ndarray], np.ndarray] = FLOAT_COMPARES[name]
    combine, true = BOOLEANS[decoder.one_of("AND", *BOOLEANS)], 0xFFFF
    if decoder.has("BF"):
        true = 0x3F80 if decoder.has(_BRAIN) else 0x3C00
    a, b, given = _halves(decoder, 0), _halves(decoder, 1), decoder.predicate(len(decoder.sources) - 1)

    def compute(warp: Warp) -> np.ndarray:
        result, pin = np.broadcast_to(compare(a(warp), b(warp)), (LANES, 2)), given(warp)
        halves = [lanes_of(combine(mask_of(result[:, half]), pin) & ALL) for half in range(2)]
        pair = np.stack([np.where(half, np.uint16(true), np.uint16(0)) for half in halves], axis=1)
        return np.ascontiguousarray(pair.astype(np.uint16)).view(np.uint32)[:, 0]

    return decoder.result(compute)


@opcode("HMNMX2", f"FTZ NAN XORSIGN {_BRAIN}", marks=_MARKS)
def hmnmx2(decoder: Decoder) -> Run:
    """Minimum of both halves where the predicate is true, else maximum; as FMNMX [?]."""
    a, b, least = _halves(decoder, 0), _halves(decoder, 1), decoder.predicate(len(decoder.sources) - 1)
    keeps_nan, signs = decoder.has("NAN"), decoder.has("XORSIGN")
    first, second = (decoder.raw(position) for position, _ in _operands(decoder)[:2])

    def compute(warp: Warp) -> np.ndarray:
        low, high = extremes(a(warp), b(warp), keeps_nan)
        value = np.where(lanes_of(least(warp))[:, None], low, high)
        if signs:
            negative = (first(warp) ^ second(warp))[:, None] >> _SIGNS & np.uint32(1)
            value = np.copysign(value, np.where(negative, -1.0, 1.0))
        return value

    return _packed(decoder, compute)
