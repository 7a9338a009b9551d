"""Reference of ``half2``: every operation of half precision rounded once, from its exact result.

Sums and products of half-precision numbers are exact in double precision as long as all are below 4: then they are
multiples of 2^-48 below 2^5.
"""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

SCALE = 0.375
SIZES = {"small": (4, 96, 380, 10), "large": (16, 128, 2000, 30)}  # blocks, threads, pairs, degree


def fused(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c in half precision, rounded once."""
    exact = [part.astype(np.float64) for part in (a, b, c)]
    assert all(np.abs(part).max() < 4 for part in exact)
    return (exact[0] * exact[1] + exact[2]).astype(np.float16)


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, n, degree = SIZES[size]
    rng = generator("half2", size)
    x = (rng.random((n, 2)) * 1.8 - 0.9).astype(np.float16)
    y = (rng.random((n, 2)) * 2 - 1).astype(np.float16)
    x[::16] *= np.float16(2**-12)  # products of these are below the smallest normal number
    coefficients = ((rng.random((degree + 1, 2)) - 0.5) / 2).astype(np.float16)

    poly = np.tile(coefficients[-1], (n, 1))
    for coefficient in coefficients[-2::-1]:
        poly = fused(poly, x, np.tile(coefficient, (n, 1)))
    cross = x[:, 1:] * y[:, ::-1] * np.array([-1, 1], np.float16)
    apart = x - y
    scaled = apart * np.float16(SCALE)
    square = np.clip(fused(x, x, y), 0, 1)
    wide = (apart + scaled).astype(np.float32)
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            scalar("degree", "i32", degree),
            scalar("scale", "f32", SCALE),
            buffer("x", x),
            buffer("y", y),
            buffer("coefficients", coefficients),
            output("poly", poly),
            output("product", fused(np.tile(x[:, :1], 2), y, cross)),
            output("clamped", np.clip(scaled + square, 0, 1)),
            output("norm", wide[:, 0] * np.float32(SCALE) + wide[:, 1]),
        ),
    )
