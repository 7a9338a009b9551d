"""Reference of ``mathlib``: the functions in 40 decimal digits, so that it is the same on every machine."""

import math
from decimal import Decimal, localcontext

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

INF, NAN = math.inf, math.nan
SPECIAL = [
    *((0.0, 1.0), (-0.0, 2.0), (INF, INF), (-INF, -INF), (NAN, NAN), (-1.0, 0.5), (-2.0, 3.0), (5e-324, 2.0)),
    *((1e-310, -1.0), (1e308, 2.0), (1.0, 1e308), (2.0, 1023.5), (2.0, -1074.0), (10.0, 710.0), (0.5, -746.0)),
]
SIZES = {"small": (2, 64, 120), "large": (16, 128, 2000)}  # blocks, threads, elements
DIGITS = 40
LAST_PLACES = {"rtol": 1e-15}  # four units of the last place, the error that the CUDA programming guide allows
LAST_PLACES_SINGLE = {"rtol": 5e-7}


def rounded(value: Decimal) -> float:
    """The nearest double; Decimal keeps exponents that a double has not."""
    if value.is_nan():
        return NAN
    return float(value) if value.adjusted() < 400 else math.copysign(INF, value)


def logarithm(x: float) -> float:
    """ln(x)."""
    if x < 0:
        return NAN
    return rounded(Decimal(x).ln())


def exponential(x: float) -> float:
    """e**x."""
    return rounded(Decimal(x).exp())


def power(x: float, y: float) -> float:
    """x**y as C defines it: of a negative number only whole exponents."""
    if y == 0 or x == 1:
        return 1.0
    if math.isnan(x) or math.isnan(y) or (x < 0 and math.isfinite(x) and math.isfinite(y) and y != math.floor(y)):
        return NAN
    is_odd = math.isfinite(y) and y == math.floor(y) and math.fmod(y, 2) != 0
    size = abs(x)
    if size in (0, 1, INF) or math.isinf(y):
        grows = (size > 1) == (y > 0)
        result = 1.0 if size == 1 else INF if grows else 0.0
    else:
        result = rounded(Decimal(size) ** Decimal(y))
    return -result if is_odd and math.copysign(1, x) < 0 else result


def tangent(x: float) -> float:
    """tanh(x)."""
    if abs(x) > 40:
        return math.copysign(1.0, x)
    if math.isnan(x) or x == 0:
        return x
    twice = (Decimal(x) * 2).exp()
    return float((twice - 1) / (twice + 1))


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, n = SIZES[size]
    rng = generator("mathlib", size)
    a = np.ldexp(1 + rng.random(n), rng.integers(-60, 60, n))
    b = rng.standard_normal(n) * 12
    a[: len(SPECIAL)], b[: len(SPECIAL)] = np.array(SPECIAL).T
    single = (rng.standard_normal(n) * 2).astype(np.float32)
    single[:5] = [0.0, -0.0, INF, -INF, NAN]
    with localcontext(prec=DIGITS, Emax=10**17, Emin=-(10**17)) as context:
        context.clear_traps()
        results = [np.array([f(x) for x in given]) for f, given in ((logarithm, a), (exponential, b))]
        powers = np.array([power(x, y) for x, y in zip(a, b, strict=True)])
        tangents = np.array([tangent(float(x)) for x in single])
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            buffer("a", a),
            buffer("b", b),
            buffer("single", single),
            output("logarithm", results[0], **LAST_PLACES),
            output("exponential", results[1], **LAST_PLACES),
            output("power", powers, **LAST_PLACES),
            output("thirteenth", b / 13.0),
            output("tangent", tangents.astype(np.float32), **LAST_PLACES_SINGLE),
        ),
    )
