"""Reference of ``transpose``: rows become columns."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

SIDE, ROWS = 32, 8
SIZES = {"small": (50, 40), "large": (90, 75)}  # width, height


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height = SIZES[size]
    matrix = generator("transpose", size).integers(-(2**31), 2**31, (height, width)).astype(np.int32)
    return Launch(
        grid=(-(-width // SIDE), -(-height // SIDE), 1),
        block=(SIDE, ROWS, 1),
        arguments=(
            scalar("width", "i32", width),
            scalar("height", "i32", height),
            buffer("in", matrix),
            output("out", np.ascontiguousarray(matrix.T)),
        ),
    )
