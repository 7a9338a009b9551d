"""Reference of ``pathfinder``: the sums of the cheapest ways through all columns at once, row by row."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

THREADS = 128
SIZES = {"small": (220, 6), "large": (800, 14)}  # columns, rows


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    columns, rows = SIZES[size]
    rng = generator("pathfinder", size)
    before = rng.integers(0, 100, columns)
    cost = rng.integers(0, 10, (rows, columns))
    reached = before
    for row in cost:
        beside = np.pad(reached, 1, mode="edge")
        reached = row + np.stack((beside[:-2], beside[1:-1], beside[2:])).min(axis=0)
    return Launch(
        grid=(-(-columns // (THREADS - 2 * rows)), 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("columns", "i32", columns),
            scalar("rows", "i32", rows),
            buffer("cost", cost.astype(np.int32)),
            buffer("before", before.astype(np.int32)),
            output("after", reached.astype(np.int32)),
        ),
    )
