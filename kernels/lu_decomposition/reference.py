"""Reference of ``lu_decomposition``: factors that are drawn first, and the matrix as their product.

The unit lower factor and the upper one are stored in one matrix, as usual. Without pivots from other rows they are the
only ones, so the kernel must find the factors that were drawn.
"""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator

SIDE = 16
SIZES = {"small": 1, "large": 4}  # matrices


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    matrices = SIZES[size]
    rng = generator("lu_decomposition", size)
    lower = np.tril(rng.random((matrices, SIDE, SIDE)) - 0.5, -1)
    upper = np.triu(rng.random((matrices, SIDE, SIDE)) - 0.5, 1) + 2 * np.eye(SIDE)
    product = (lower + np.eye(SIDE)) @ upper
    return Launch(
        grid=(matrices, 1, 1),
        block=(SIDE, SIDE, 1),
        arguments=(
            buffer(
                "matrix",
                product.astype(np.float32),
                (lower + upper).astype(np.float32),
                rtol=1e-4,
                atol=1e-5,
            ),
        ),
    )
