"""Reference of ``matmul_2mm``: (A B) C from A B as single precision has it."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

BLOCK = (32, 8, 1)
SIZES = {"small": (14, 60, 18), "large": (32, 94, 40)}  # rows, columns, and what the second product sums over
DEPTH = 24  # what the first product sums over


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    rows, columns, between = SIZES[size]
    rng = generator("matmul_2mm", size)
    a, b, c = (rng.random(shape) * 2 - 1 for shape in ((rows, DEPTH), (DEPTH, between), (between, columns)))
    first, c = (a @ b).astype(np.float32), c.astype(np.float32)
    exact = first.astype(np.float64) @ c.astype(np.float64)
    return Launch(
        grid=(-(-columns // BLOCK[0]), -(-rows // BLOCK[1]), 1),
        block=BLOCK,
        arguments=(
            scalar("rows", "i32", rows),
            scalar("columns", "i32", columns),
            scalar("depth", "i32", between),
            buffer("ab", first),
            buffer("c", c),
            output("d", exact.astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
