"""Reference of ``matmul_registers``: C = A B, with A stored column by column."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

TILE = 32
SIZES = {"small": (64, 32, 32), "large": (128, 128, 32)}  # m, n, k


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    m, n, k = SIZES[size]
    rng = generator("matmul_registers", size)
    columns = (rng.random((k, m)) * 2 - 1).astype(np.float32)
    rows = (rng.random((k, n)) * 2 - 1).astype(np.float32)
    exact = (columns.astype(np.float64)[:, :, None] * rows.astype(np.float64)[:, None, :]).sum(axis=0)
    return Launch(
        grid=(n // TILE, m // TILE, 1),
        block=(8, 8, 1),
        arguments=(
            scalar("m", "i32", m),
            scalar("n", "i32", n),
            scalar("k", "i32", k),
            buffer("a", columns),
            buffer("b", rows),
            output("c", exact.astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
