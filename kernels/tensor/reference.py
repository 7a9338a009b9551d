"""Reference of ``tensor``: product of matrices of half precision, in single precision."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

TILE_M, TILE_N, THREADS = 32, 16, 128
SIZES = {"small": (2, 2, 48), "large": (4, 4, 96)}  # blocks to the right and down, length of the sums


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    across, down, k = SIZES[size]
    m, n = down * TILE_M, across * TILE_N
    rng = generator("tensor", size)
    a = rng.standard_normal((m, k)).astype(np.float16)
    b = rng.standard_normal((k, n)).astype(np.float16)
    # One product after another in float32; a matrix product of NumPy may depend on the machine in the last bit.
    c = np.zeros((m, n), np.float32)
    for step in range(k):
        c += a[:, step, None].astype(np.float32) * b[step].astype(np.float32)
    return Launch(
        grid=(across, down, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            scalar("k", "i32", k),
            buffer("a", a),
            buffer("b", b),
            # Tensor cores truncate where they add, in an order of their own.
            output("c", c, rtol=1e-5, atol=1e-4),
        ),
    )
