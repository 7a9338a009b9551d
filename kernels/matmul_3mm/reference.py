"""Reference of ``matmul_3mm``: C D, B C D and A B C D in double precision."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

BLOCK = (32, 8, 1)
SIZES = {"small": (11, 32), "large": (24, 96)}  # rows and columns of A, B and C; columns of D


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    n, columns = SIZES[size]
    rng = generator("matmul_3mm", size)
    a, b, c = (rng.random((3, n, n)) * 2 - 1).astype(np.float32)
    d = (rng.random((n, columns)) * 2 - 1).astype(np.float32)
    last = np.linalg.multi_dot((b.astype(np.float64), c, d))
    results = {"cd": c.astype(np.float64) @ d, "bcd": last, "abcd": a @ last}
    return Launch(
        grid=(columns // BLOCK[0], 1, 1),
        block=BLOCK,
        arguments=(
            scalar("n", "i32", n),
            scalar("columns", "i32", columns),
            *(buffer(name, matrix) for name, matrix in (("a", a), ("b", b), ("c", c), ("d", d))),
            *(output(name, exact.astype(np.float32), rtol=1e-5, atol=1e-5) for name, exact in results.items()),
        ),
    )
