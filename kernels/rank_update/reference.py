"""Reference of ``rank_update``: matrix products in double precision; the upper triangle stays."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

BLOCK = (32, 4, 1)
ALPHA, BETA = 1.5, 0.75
SIZES = {"small": (26, 9), "large": (70, 22)}  # rows and columns of C, columns of A and B


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    n, k = SIZES[size]
    rng = generator("rank_update", size)
    a, b = (rng.random((2, n, k)) * 2 - 1).astype(np.float32)
    c = (rng.random((n, n)) * 2 - 1).astype(np.float32)
    product = a.astype(np.float64) @ b.T
    after = np.where(np.tri(n, dtype=bool), ALPHA * (product + product.T) + BETA * c, c)
    return Launch(
        grid=(-(-n // BLOCK[0]), -(-n // BLOCK[1]), 1),
        block=BLOCK,
        arguments=(
            scalar("n", "i32", n),
            scalar("k", "i32", k),
            scalar("alpha", "f32", ALPHA),
            scalar("beta", "f32", BETA),
            buffer("a", a),
            buffer("b", b),
            buffer("c", c, after.astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
