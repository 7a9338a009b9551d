"""Reference of ``bitonic_sort``: every block's stretch of values in ascending order."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator

SIZES = {"small": (2, 64), "large": (8, 256)}  # blocks, threads


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads = SIZES[size]
    # Few enough distinct values that some are equal.
    values = generator("bitonic_sort", size).integers(-300, 300, (blocks, threads)).astype(np.int32)
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(buffer("values", values.ravel(), np.sort(values, axis=1).ravel()),),
    )
