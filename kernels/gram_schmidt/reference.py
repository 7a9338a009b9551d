"""Reference of ``gram_schmidt``: the projection of all columns at once in double precision."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

THREADS = 64
SIZES = {"small": (20, 250), "large": (26, 620)}  # rows, columns


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    rows, columns = SIZES[size]
    rng = generator("gram_schmidt", size)
    direction = rng.standard_normal(rows)
    unit = (direction / np.linalg.norm(direction)).astype(np.float32)
    matrix = rng.standard_normal((rows, columns)).astype(np.float32)
    part = unit.astype(np.float64) @ matrix
    return Launch(
        grid=(-(-columns // THREADS), 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("rows", "i32", rows),
            scalar("columns", "i32", columns),
            buffer("unit", unit),
            buffer("matrix", matrix, (matrix - np.outer(unit, part)).astype(np.float32), rtol=1e-5, atol=1e-5),
            output("part", part.astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
