"""Reference of ``merge_step``: a stable sort of every pair of runs."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

THREADS = 128
SIZES = {"small": (400, 32), "large": (2500, 128)}  # keys, length of a run


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    n, length = SIZES[size]
    rng = generator("merge_step", size)
    key = rng.integers(0, n // 2, n)
    for start in range(0, n, length):
        key[start : start + length].sort()
    order = np.concatenate(
        [start + np.argsort(key[start : start + 2 * length], kind="stable") for start in range(0, n, 2 * length)]
    )
    value = rng.integers(-1000, 1000, n)
    return Launch(
        grid=(-(-n // THREADS), 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            scalar("length", "i32", length),
            buffer("key", key.astype(np.int32)),
            buffer("value", value.astype(np.int32)),
            output("key_after", key[order].astype(np.int32)),
            output("value_after", value[order].astype(np.int32)),
        ),
    )
