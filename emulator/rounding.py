"""Exactly rounded arithmetic that NumPy does not offer: directed rounding and fused multiply-add.

Single precision works on exact double-precision products with an error term. Double precision follows S. Boldo,
G. Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", IEEE TC 2008,
within a safe exponent range, and exact rationals outside of it.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

_SPLIT = 134217729.0  # 2**27 + 1, Veltkamp's constant for 53 bits
_SAFE_LOW, _SAFE_HIGH = 2.0**-400, 2.0**400
_MIDPOINT = np.uint64(1 << 28)
_BELOW_SINGLE = np.uint64((1 << 29) - 1)
TINY = 2.0**-126  #: smallest normal number of single precision


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rounded sum and its exact error."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rounded product and its exact error (Veltkamp and Dekker); operands in the safe range."""
    product = a * b
    a_high = _SPLIT * a - (_SPLIT * a - a)
    b_high = _SPLIT * b - (_SPLIT * b - b)
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def to_odd(total: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Sum ``total + error`` rounded to odd: an inexact result gets an odd last bit."""
    bits = total.view(np.int64)
    outward = (error > 0) == (total > 0)
    step = np.where(outward, 1, -1)
    adjust = (error != 0) & (bits & 1 == 0) & np.isfinite(total)
    return np.where(adjust, bits + step, bits).view(np.float64)


def fma32(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c of single-precision values with one rounding to nearest even."""
    product = a.astype(np.float64) * b
    total = product + c
    low = total.view(np.uint64) & _BELOW_SINGLE
    if (low == _MIDPOINT).any() or (np.abs(total) < TINY).any():
        total = to_odd(*two_sum(product, c.astype(np.float64)))
    return total.astype(np.float32)


def rounded32(total: np.ndarray, error: np.ndarray, mode: str) -> np.ndarray:
    """``total + error`` rounded to single precision: RM down, RP up, RZ to zero."""
    return directed(total, error, mode, np.float32)


def directed(total: np.ndarray, error: np.ndarray, mode: str, dtype: type[np.floating]) -> np.ndarray:
    """``total + error`` rounded to a narrower type: RM down, RP up, RZ to zero."""
    nearest = total.astype(dtype)
    rest = total - nearest.astype(np.float64)
    rest = np.where(rest == 0, error, rest)
    rest = np.where(np.isfinite(total), rest, 0.0)
    if mode == "RM":
        return np.where(rest < 0, np.nextafter(nearest, dtype(-np.inf)), nearest)
    if mode == "RP":
        return np.where(rest > 0, np.nextafter(nearest, dtype(np.inf)), nearest)
    inward = np.where(nearest > 0, rest < 0, rest > 0) & (nearest != 0)
    return np.where(inward, np.nextafter(nearest, dtype(0)), nearest)


def fma64(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c of double-precision values with one rounding to nearest even."""
    a, b, c = np.broadcast_arrays(a, b, c)
    high, low = two_product(a, b)
    middle, rest = two_sum(c, low)
    top, carried = two_sum(high, middle)
    result = top + to_odd(*two_sum(rest, carried))
    sizes = np.abs(np.stack((a, b, c, high)))
    safe = ((sizes > _SAFE_LOW) & (sizes < _SAFE_HIGH)).all(axis=0)
    if not safe.all():
        result = result.copy()
        for lane in np.flatnonzero(~safe):
            result[lane] = exact64(float(a[lane]), float(b[lane]), float(c[lane]), "RN")
    return result


def directed64(a: np.ndarray, b: np.ndarray, c: np.ndarray, mode: str) -> np.ndarray:
    """a * b + c of double-precision values in a directed rounding mode, by exact rationals."""
    lanes = zip(*(np.asarray(x, dtype=np.float64).tolist() for x in np.broadcast_arrays(a, b, c)), strict=True)
    return np.array([exact64(x, y, z, mode) for x, y, z in lanes])


def exact64(a: float, b: float, c: float, mode: str) -> float:
    """a * b + c with one rounding; infinities, NaN and zeros as IEEE 754 has them."""
    if np.isfinite(a) and np.isfinite(b) and not np.isfinite(c):
        return c  # the product must not overflow before the sum
    if not (np.isfinite(a) and np.isfinite(b)):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    value = Fraction(a) * Fraction(b) + Fraction(c)
    if value == 0:
        negative = bool(np.signbit(a) ^ np.signbit(b))
        if negative != bool(np.signbit(c)):
            negative = mode == "RM"
        return -0.0 if negative else 0.0
    return round_fraction(value, mode)


def round_fraction(value: Fraction, mode: str) -> float:
    """A rational rounded to double precision: RN, RM, RP or RZ."""
    try:
        nearest = value.numerator / value.denominator
    except OverflowError:
        nearest = float("inf") if value > 0 else float("-inf")
    if mode == "RN":
        return nearest
    down = mode == "RM" or (mode == "RZ" and value > 0)
    exceeds = (np.isinf(nearest) and nearest > 0) or (np.isfinite(nearest) and Fraction(nearest) > value)
    falls_short = (np.isinf(nearest) and nearest < 0) or (np.isfinite(nearest) and Fraction(nearest) < value)
    if down and exceeds:
        return float(np.nextafter(nearest, -np.inf))
    if not down and falls_short:
        return float(np.nextafter(nearest, np.inf))
    return nearest
