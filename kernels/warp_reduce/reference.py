"""Reference of ``warp_reduce``: sum, maximum and number of positive elements."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

SIZES = {"small": (4, 128, 1990), "large": (16, 128, 26500)}  # blocks, threads, elements


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, n = SIZES[size]
    values = generator("warp_reduce", size).integers(-1000, 1000, n).astype(np.int32)
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            buffer("in", values),
            buffer("total", np.zeros(1, np.int32), np.array([values.sum()], np.int32)),
            buffer("largest", np.full(1, -2000, np.int32), np.array([values.max()], np.int32)),
            buffer("positive", np.zeros(1, np.uint32), np.array([np.count_nonzero(values > 0)], np.uint32)),
        ),
    )
