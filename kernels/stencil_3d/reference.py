"""Reference of ``stencil_3d``: one step in the inside of a grid; its outside stays."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

BLOCK = (32, 4, 1)
OWN, AROUND = 0.4, 0.1
SIZES = {"small": (44, 9, 7), "large": (66, 18, 10)}  # width, height, depth


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height, depth = SIZES[size]
    grid = generator("stencil_3d", size).random((depth, height, width)).astype(np.float32)
    exact = grid.astype(np.float64)
    around = sum(np.roll(exact, step, axis) for axis in range(3) for step in (1, -1))
    inside = (slice(1, -1),) * 3
    after = np.zeros_like(grid)
    after[inside] = (OWN * exact + AROUND * around)[inside]
    return Launch(
        grid=(-(-(width - 2) // BLOCK[0]), -(-(height - 2) // BLOCK[1]), 1),
        block=BLOCK,
        arguments=(
            scalar("width", "i32", width),
            scalar("height", "i32", height),
            scalar("depth", "i32", depth),
            scalar("own", "f32", OWN),
            scalar("around", "f32", AROUND),
            buffer("in", grid),
            buffer("out", np.zeros_like(grid), after, rtol=1e-5, atol=1e-5),
        ),
    )
