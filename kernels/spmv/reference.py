"""Reference of ``spmv``: y = A x with a sparse A."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

SIZES = {"small": (3, 64, 180, 22), "large": (16, 128, 2000, 22)}  # blocks, threads, rows, limit of the row length


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, rows, limit = SIZES[size]
    rng = generator("spmv", size)
    lengths = rng.integers(0, limit, rows)
    row_start = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    column = rng.integers(0, rows, row_start[-1]).astype(np.int32)
    weight = (rng.random(row_start[-1]) * 2 - 1).astype(np.float32)
    x = (rng.random(rows) * 2 - 1).astype(np.float32)
    y = np.zeros(rows)
    np.add.at(y, np.repeat(np.arange(rows), lengths), weight.astype(np.float64) * x[column])
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("rows", "i32", rows),
            buffer("row_start", row_start),
            buffer("column", column),
            buffer("weight", weight),
            buffer("x", x),
            output("y", y.astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
