"""Reference of ``collatz``: n -> n / 2 if n is even, 3 n + 1 if it is odd, until n is 1."""

import numpy as np

from warpfile.kernels.launch import Launch, output, scalar

SIZES = {"small": (1, 128, 120), "large": (16, 128, 2000)}  # blocks, threads, start values
FIRST = {"small": 1, "large": 25}


def sequence(value: int) -> tuple[int, int]:
    """Number of steps to 1, and the largest value on the way."""
    steps, peak = 0, value
    while value != 1:
        value = 3 * value + 1 if value % 2 else value // 2
        steps, peak = steps + 1, max(peak, value)
    return steps, peak


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, count = SIZES[size]
    results = np.array([sequence(FIRST[size] + i) for i in range(count)], dtype=np.uint32)
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("first", "u32", FIRST[size]),
            scalar("count", "u32", count),
            output("steps", results[:, 0]),
            output("peak", results[:, 1]),
        ),
    )
