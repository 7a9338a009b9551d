"""Reference of ``wide_accumulate``: matrix product in double precision."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

ROWS, COLUMNS = 8, 10  # results of one thread
BLOCK = (8, 8, 1)
SIZES = {"small": (1, 1, 9), "large": (3, 4, 12)}  # blocks to the right and down, length of the sums


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    across, down, k = SIZES[size]
    m, n = down * BLOCK[1] * ROWS, across * BLOCK[0] * COLUMNS
    rng = generator("wide_accumulate", size)
    a = rng.standard_normal((k, m)).astype(np.float32)
    b = rng.standard_normal((k, n)).astype(np.float32)
    c = (a.T.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    return Launch(
        grid=(across, down, 1),
        block=BLOCK,
        arguments=(
            scalar("m", "i32", m),
            scalar("n", "i32", n),
            scalar("k", "i32", k),
            buffer("a", a),
            buffer("b", b),
            output("c", c, rtol=1e-5, atol=1e-5),
        ),
    )
