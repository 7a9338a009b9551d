"""Single-precision arithmetic: IEEE results, NaN canonical as NVIDIA documents (0x7fffffff)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpfile.compiler.model import Immediate
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.lanes import lanes_of, mask_of
from warpfile.emulator.rounding import TINY, fma32, rounded32, to_odd, two_sum
from warpfile.emulator.source import PAIRED, SHOWING, Fetch, flushed
from warpfile.emulator.warp import Run, Warp

Choose = Callable[[np.ndarray, np.ndarray], np.ndarray]
#: From an instruction and the values of its sources the bits of its result.
Operation = Callable[..., Fetch]

_NAN = np.uint32(0x7FFFFFFF)
_LIFT = 2.0**64
_ROUNDINGS = "RN RM RP RZ"
_SCALES = {"D2": 0.5, "D4": 0.25, "D8": 0.125, "M2": 2.0, "M4": 4.0, "M8": 8.0}


def canonical(values: np.ndarray) -> np.ndarray:
    """Bits of single-precision values, every NaN as 0x7fffffff."""
    bits = values.view(np.uint32)
    wrong = values != values
    return np.where(wrong, _NAN, bits) if wrong.any() else bits


def finished(decoder: Decoder, value: Fetch) -> Fetch:
    """Bits of a result, flushed, saturated and made canonical as the modifiers say."""
    flush, saturate = decoder.has("FTZ"), decoder.has("SAT")
    if not flush and not saturate:
        return lambda warp: canonical(value(warp))

    def compute(warp: Warp) -> np.ndarray:
        result = value(warp)
        if saturate:
            result = np.where(result > 0, np.minimum(result, np.float32(1)), np.float32(0))
        return canonical(flushed(result) if flush else result)

    return compute


def _exact_zero_sign(result: np.ndarray, a: np.ndarray, b: np.ndarray, mode: str) -> np.ndarray:
    """A sum that cancels exactly is -0 when rounding down, else +0."""
    cancelled = (result == 0) & (a == -b) & (np.signbit(a) != np.signbit(b))
    return np.where(cancelled, np.float32(-0.0 if mode == "RM" else 0.0), result)


def _tiny_flushed(result: np.ndarray, total: np.ndarray, error: np.ndarray, mode: str) -> np.ndarray:
    """Zero where ``total + error``, rounded to 24 bits with an unbounded exponent, is below the normal numbers."""
    total, error = total * _LIFT, error * _LIFT
    lifted = to_odd(total, error).astype(np.float32) if mode == "RN" else rounded32(total, error, mode)
    below = (np.abs(lifted) < TINY * _LIFT) & (total != 0)
    return np.where(below, np.copysign(np.float32(0), total.astype(np.float32)), result)


def _single(operation: Operation, count: int) -> Callable[[Decoder], Run]:
    """What decodes an operation on ``count`` sources of one word each."""

    def build(decoder: Decoder) -> Run:
        flush = decoder.has("FTZ")
        return decoder.result(operation(decoder, *(decoder.float32(position, flush) for position in range(count))))

    return build


def _double(operation: Operation, count: int) -> Callable[[Decoder], Run]:
    """What decodes the same operation on both words of pairs; a source marked .F32 is one word for both."""

    def build(decoder: Decoder) -> Run:
        flush = decoder.has("FTZ")
        low, high = (
            operation(decoder, *(decoder.half_of_pair(position, half, flush) for position in range(count)))
            for half in range(2)
        )
        return decoder.result64(lambda warp: np.stack(np.broadcast_arrays(low(warp), high(warp)), axis=-1))

    return build


def _sum(decoder: Decoder, a: Fetch, b: Fetch) -> Fetch:
    """d = a + b."""
    mode = decoder.one_of("RN", "RM", "RP", "RZ")
    if mode == "RN":
        return finished(decoder, lambda warp: a(warp) + b(warp))

    def directed(warp: Warp) -> np.ndarray:
        x, y = a(warp).astype(np.float64), b(warp).astype(np.float64)
        return _exact_zero_sign(rounded32(*two_sum(x, y), mode), x, y, mode)

    return finished(decoder, directed)


def _product(decoder: Decoder, a: Fetch, b: Fetch) -> Fetch:
    """d = a * b, times a power of two for .D2 and its like rounded once; .FTZ: see _tiny_flushed."""
    flush, mode = decoder.has("FTZ"), decoder.one_of("RN", "RM", "RP", "RZ")
    scale = next((factor for name, factor in _SCALES.items() if decoder.has(name)), 1.0)
    if mode == "RN" and scale == 1.0 and not flush:
        return finished(decoder, lambda warp: a(warp) * b(warp))

    def exact(warp: Warp) -> np.ndarray:
        product = a(warp).astype(np.float64) * b(warp) * scale
        single = product.astype(np.float32) if mode == "RN" else rounded32(product, np.zeros_like(product), mode)
        return _tiny_flushed(single, product, np.zeros_like(product), mode) if flush else single

    return finished(decoder, exact)


def _multiply_add(decoder: Decoder, a: Fetch, b: Fetch, c: Fetch) -> Fetch:
    """d = a * b + c with one rounding; .FTZ as in FMUL."""
    flush, mode = decoder.has("FTZ"), decoder.one_of("RN", "RM", "RP", "RZ")
    if mode == "RN" and not flush:
        return finished(decoder, lambda warp: fma32(a(warp), b(warp), c(warp)))

    def exact(warp: Warp) -> np.ndarray:
        x, y, z = a(warp), b(warp), c(warp)
        product, addend = x.astype(np.float64) * y, z.astype(np.float64)
        total, error = two_sum(product, addend)
        if mode == "RN":
            result = fma32(x, y, z)
        else:
            result = _exact_zero_sign(rounded32(total, error, mode), product, addend, mode)
        return _tiny_flushed(result, total, error, mode) if flush else result

    return finished(decoder, exact)


opcode("FADD UFADD", f"FTZ SAT {_ROUNDINGS}")(_single(_sum, 2))
opcode("FMUL UFMUL", f"FTZ SAT {_ROUNDINGS} {' '.join(_SCALES)}")(_single(_product, 2))
opcode("FFMA UFFMA", f"FTZ SAT {_ROUNDINGS}")(_single(_multiply_add, 3))
opcode("FADD2", f"FTZ {_ROUNDINGS}", marks=PAIRED)(_double(_sum, 2))
opcode("FMUL2", f"FTZ {_ROUNDINGS}", marks=PAIRED)(_double(_product, 2))
opcode("FFMA2", f"FTZ {_ROUNDINGS}", marks=PAIRED)(_double(_multiply_add, 3))


@opcode("FSEL", "FTZ")
def fsel(decoder: Decoder) -> Run:
    """a where the predicate is true, else b; sign marks apply to either.

    Doubles are selected word by word, so that the bits of a NaN count: where the listing hides them, no lane may take
    the literal.
    """
    flush = decoder.has("FTZ")
    a, b, chosen = decoder.float32(0, flush), decoder.float32(1, flush), decoder.predicate(2)

    def compute(warp: Warp) -> np.ndarray:
        return np.where(lanes_of(chosen(warp)), a(warp).view(np.uint32), b(warp).view(np.uint32))

    select = decoder.result(compute)
    hidden = [isinstance(one, Immediate) and one.hides_bits for one in decoder.sources[:2]]
    if not any(hidden):
        return select
    reason = f"must not take a NaN whose bits the listing hides ({decoder.instruction.text}); {SHOWING}"

    def checked(warp: Warp, mask: int) -> None:
        if mask & (chosen(warp) if hidden[0] else ~chosen(warp)):
            raise ExecutionError(f"{warp.name}: FSEL at {decoder.instruction.offset:#06x} {reason}")
        select(warp, mask)

    return checked


def extremes(x: np.ndarray, y: np.ndarray, keeps_nan: bool) -> tuple[np.ndarray, np.ndarray]:
    """Minimum and maximum, -0 below +0; of a number and a NaN the number, unless NaN is kept."""
    functions: tuple[Choose, Choose] = (np.minimum, np.maximum) if keeps_nan else (np.fmin, np.fmax)
    low, high = functions[0](x, y), functions[1](x, y)
    zeros = (x == 0) & (y == 0)
    if zeros.any():  # NumPy treats the zeros as equal
        zero = low.dtype.type(0)
        low = np.where(zeros & (np.signbit(x) | np.signbit(y)), -zero, np.where(zeros, zero, low))
        high = np.where(zeros & np.signbit(x) & np.signbit(y), -zero, np.where(zeros, zero, high))
    return low, high


@opcode("FMNMX", "FTZ NAN XORSIGN")
def fmnmx(decoder: Decoder) -> Run:
    """Minimum where the predicate is true, else maximum; .XORSIGN: with the product of the sources' signs."""
    flush, keeps_nan, signs = decoder.has("FTZ"), decoder.has("NAN"), decoder.has("XORSIGN")
    a, b, least = decoder.float32(0, flush), decoder.float32(1, flush), decoder.predicate(2)
    first, second = decoder.raw(0), decoder.raw(1)

    def compute(warp: Warp) -> np.ndarray:
        low, high = extremes(a(warp), b(warp), keeps_nan)
        value = np.where(lanes_of(least(warp)), low, high)
        if signs:
            value = np.copysign(value, np.where((first(warp) ^ second(warp)) >> np.uint32(31), -one, one))
        return canonical(value)

    one = np.float32(1)
    return decoder.result(compute)


@opcode("FMNMX3", "FTZ NAN")
def fmnmx3(decoder: Decoder) -> Run:
    """Minimum of three where the predicate is true, else maximum."""
    flush, keeps_nan = decoder.has("FTZ"), decoder.has("NAN")
    first, *others = (decoder.float32(position, flush) for position in range(3))
    least = decoder.predicate(3)

    def compute(warp: Warp) -> np.ndarray:
        low = high = first(warp)
        for other in others:
            found = other(warp)
            low, high = extremes(low, found, keeps_nan)[0], extremes(high, found, keeps_nan)[1]
        return canonical(np.where(lanes_of(least(warp)), low, high))

    return decoder.result(compute)


@opcode("FCHK", "DIVIDE FTZ")
def fchk(decoder: Decoder) -> Run:
    """p = whether a / b must take the slow path.

    NVIDIA does not publish the predicate. This one is a superset: operands that are no normal numbers, and quotients or
    reciprocals whose exponent comes near the ends of the range. The slow path is complete, so a superset is safe.
    """
    a, b, write = decoder.float32(0), decoder.float32(1), decoder.predicate_writer(0)

    def run(warp: Warp, mask: int) -> None:
        x = a(warp).view(np.uint32) >> np.uint32(23) & np.uint32(0xFF)
        y = b(warp).view(np.uint32) >> np.uint32(23) & np.uint32(0xFF)
        x, y = x.astype(np.int32), y.astype(np.int32)
        fits = (x > 24) & (x < 255) & (y > 2) & (y < 252) & (x - y > -124) & (x - y < 126)
        if write is not None:
            write(warp, mask, mask_of(~fits))

    return run
