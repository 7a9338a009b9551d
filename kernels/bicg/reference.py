"""Reference of ``bicg``: a matrix times one vector, and its transpose times another."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

THREADS = 64
SIZES = {"small": (70, 50), "large": (250, 130)}  # rows, columns


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    rows, columns = SIZES[size]
    rng = generator("bicg", size)
    matrix, p, r = ((rng.random(shape) * 2 - 1).astype(np.float32) for shape in ((rows, columns), columns, rows))
    exact = matrix.astype(np.float64)
    return Launch(
        grid=(-(-max(rows, columns) // THREADS), 2, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("rows", "i32", rows),
            scalar("columns", "i32", columns),
            buffer("matrix", matrix),
            buffer("p", p),
            buffer("r", r),
            output("q", (exact @ p).astype(np.float32), rtol=1e-5, atol=1e-5),
            output("s", (exact.T @ r).astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
