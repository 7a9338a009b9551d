"""Reference of ``lu_interior``: the matrix behind the first 16 rows and columns, less their product."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

SIDE = 16
SIZES = {"small": 3, "large": 6}  # tiles in a row of the matrix, the border included


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    tiles = SIZES[size]
    n = tiles * SIDE
    matrix = (generator("lu_interior", size).random((n, n)) * 2 - 1).astype(np.float32)
    after = matrix.astype(np.float64)
    after[SIDE:, SIDE:] -= after[SIDE:, :SIDE] @ after[:SIDE, SIDE:]
    return Launch(
        grid=(tiles - 1, tiles - 1, 1),
        block=(SIDE, SIDE, 1),
        arguments=(
            scalar("n", "i32", n),
            buffer("matrix", matrix, after.astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
