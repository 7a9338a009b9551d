"""Reference of ``unrolled_poly``: a polynomial at every point, and the sum of the values that one thread owns."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

POINTS = 20
SIZES = {"small": (4, 64, 7), "large": (16, 128, 15)}  # blocks, threads, degree


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, degree = SIZES[size]
    rng = generator("unrolled_poly", size)
    coefficients = (rng.random(degree + 1) * 2 - 1).astype(np.float32)
    x = (rng.random((blocks, POINTS, threads)) * 2 - 1).astype(np.float32)
    y = np.zeros(x.shape)
    for power, coefficient in enumerate(coefficients.astype(np.float64)):
        y += coefficient * x.astype(np.float64) ** power
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("degree", "i32", degree),
            buffer("coefficients", coefficients),
            buffer("x", x.ravel()),
            output("y", y.ravel().astype(np.float32), rtol=1e-4, atol=1e-5),
            output("sums", y.sum(axis=1).ravel().astype(np.float32), rtol=1e-4, atol=1e-4),
        ),
    )
