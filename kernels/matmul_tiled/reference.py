"""Reference of ``matmul_tiled``: C = A B."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

TILE = 16
SIZES = {"small": (30, 28, 24), "large": (64, 60, 70)}  # m, n, k; ragged, so that edge tiles are padded


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    m, n, k = SIZES[size]
    rng = generator("matmul_tiled", size)
    a = (rng.random((m, k)) * 2 - 1).astype(np.float32)
    b = (rng.random((k, n)) * 2 - 1).astype(np.float32)
    # Sums of products in plain order: a BLAS would make the last bit depend on the machine.
    products = a.astype(np.float64)[:, :, None] * b.astype(np.float64)[None, :, :]
    c = np.add.accumulate(products, axis=1)[:, -1, :].astype(np.float32)
    grid = (-(-n // TILE), -(-m // TILE), 1)
    return Launch(
        grid=grid,
        block=(TILE, TILE, 1),
        arguments=(
            scalar("m", "i32", m),
            scalar("n", "i32", n),
            scalar("k", "i32", k),
            buffer("a", a),
            buffer("b", b),
            output("c", c, rtol=1e-5, atol=1e-5),
        ),
    )
