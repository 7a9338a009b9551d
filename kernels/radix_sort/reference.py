"""Reference of ``radix_sort``: a stable sort of every 128 keys by some of their bits."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

THREADS = 128
FIRST_BIT, BITS = 3, 5
SIZES = {"small": 2, "large": 16}  # blocks


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks = SIZES[size]
    key = generator("radix_sort", size).integers(0, 2**32, (blocks, THREADS)).astype(np.uint32)
    order = np.argsort(key >> FIRST_BIT & 2**BITS - 1, axis=1, kind="stable")
    return Launch(
        grid=(blocks, 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("first_bit", "i32", FIRST_BIT),
            scalar("bits", "i32", BITS),
            buffer("key", key),
            output("sorted", np.take_along_axis(key, order, axis=1)),
        ),
    )
