"""Reference of ``mvt``: x1 + A y1 and x2 + A' y2 for every matrix A, in double precision."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

THREADS = 32
SIZES = {"small": (1, 75), "large": (5, 100)}  # matrices, their rows and columns


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    matrices, n = SIZES[size]
    rng = generator("mvt", size)
    matrix = (rng.random((matrices, n, n)) * 2 - 1).astype(np.float32)
    y1, y2, x1, x2 = (rng.random((4, matrices, n)) * 2 - 1).astype(np.float32)
    rows = np.einsum("mij,mj->mi", matrix, y1, dtype=np.float64)
    columns = np.einsum("mji,mj->mi", matrix, y2, dtype=np.float64)
    return Launch(
        grid=(-(-n // THREADS), matrices, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            buffer("matrix", matrix),
            buffer("y1", y1),
            buffer("y2", y2),
            buffer("x1", x1, (x1 + rows).astype(np.float32), rtol=1e-5, atol=1e-5),
            buffer("x2", x2, (x2 + columns).astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
