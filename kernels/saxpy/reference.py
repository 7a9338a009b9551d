"""Reference of ``saxpy``: y = a x + y."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

A = 2.5
SIZES = {"small": (10, 2500), "large": (64, 16300)}  # blocks, elements; neither fills its last warp


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, n = SIZES[size]
    rng = generator("saxpy", size)
    x, y = (rng.random((2, n)) * 2 - 1).astype(np.float32)
    expected = (A * x.astype(np.float64) + y).astype(np.float32)
    return Launch(
        grid=(blocks, 1, 1),
        block=(256, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            scalar("a", "f32", A),
            buffer("x", x),
            buffer("y", y, expected, rtol=1e-6, atol=1e-7),
        ),
    )
