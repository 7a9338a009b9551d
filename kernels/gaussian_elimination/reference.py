"""Reference of ``gaussian_elimination``: one step with a pivot from the diagonal, as an outer product."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

BLOCK = (16, 8, 1)
SIZES = {"small": (50, 3), "large": (100, 2)}  # rows, pivot


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    n, pivot = SIZES[size]
    rng = generator("gaussian_elimination", size)
    matrix = (rng.random((n, n)) + np.eye(n) * n).astype(np.float32)
    right = rng.random(n).astype(np.float32)
    multiplier = np.zeros(n, np.float32)
    multiplier[pivot + 1 :] = matrix[pivot + 1 :, pivot] / matrix[pivot, pivot]
    together = np.column_stack((matrix, right)).astype(np.float64)
    together[pivot + 1 :, pivot:] -= np.outer(multiplier[pivot + 1 :], together[pivot, pivot:])
    after = together.astype(np.float32)
    return Launch(
        grid=(-(-(n - pivot) // BLOCK[0]), -(-(n - pivot - 1) // BLOCK[1]), 1),
        block=BLOCK,
        arguments=(
            scalar("n", "i32", n),
            scalar("pivot", "i32", pivot),
            buffer("multiplier", multiplier),
            buffer("matrix", matrix, np.ascontiguousarray(after[:, :n]), rtol=1e-5, atol=1e-6),
            buffer("right", right, np.ascontiguousarray(after[:, n]), rtol=1e-5, atol=1e-6),
        ),
    )
