"""Reference of ``divide_double``: correctly rounded operations in double precision."""

import math
from fractions import Fraction

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

LIMIT = 1e9
SPECIAL = np.array([(0, 3), (np.inf, 2), (np.nan, 1), (np.inf, np.inf), (0, 0), (1, 0), (1, np.inf), (1, np.nan)])
SIZES = {"small": (4, 64, 250), "large": (16, 128, 2000)}  # blocks, threads, elements


def doubles(rng: np.random.Generator, n: int) -> np.ndarray:
    """Values of both signs; every eighth is so large or small that the fast sequences do not serve it."""
    exponents = np.where(rng.integers(0, 8, n) == 0, rng.integers(-1070, 1023, n), rng.integers(-20, 20, n))
    return np.ldexp((1 + rng.random(n)) * (rng.integers(0, 2, n) * 2 - 1), exponents)


def fused(x: float, y: float, z: float) -> float:
    """x * y + z, rounded once: the exact rational number as a float. Only z may be infinite or NaN."""
    if not math.isfinite(z):
        return z
    try:
        return float(Fraction(x) * Fraction(y) + Fraction(z))
    except OverflowError:
        return math.copysign(math.inf, z)


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, n = SIZES[size]
    rng = generator("divide_double", size)
    a, b = doubles(rng, n), np.abs(doubles(rng, n))
    a[: len(SPECIAL)], b[: len(SPECIAL)] = SPECIAL.T
    single = (rng.standard_normal(n) * 1000).astype(np.float32)
    whole = rng.integers(-40000, 40000, n).astype(np.int32)
    wide, count = single.astype(np.float64), whole.astype(np.float64)
    with np.errstate(all="ignore"):
        quotient = a / b
    quotient[np.isnan(quotient)] = np.nan  # the sign of 0 / 0 depends on the machine
    sums = [fused(x, y, z) for x, y, z in zip(wide, count, a, strict=True)]
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            scalar("limit", "f64", LIMIT),
            buffer("a", a),
            buffer("b", b),
            buffer("single", single),
            buffer("whole", whole),
            output("quotient", quotient),
            output("root", np.sqrt(b)),
            output("fused", np.array(sums)),
            output("narrow", np.minimum(wide + count * count, LIMIT).astype(np.float32)),
            output("floor_of", np.floor(wide).astype(np.int32)),
        ),
    )
