"""Reference of ``absolute_differences``: of every block of 8x8 pixels with the frame before, at every place nearby."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

SIDE = 8
PLACES = (16, 8)  # along and across: one per thread
SIZES = {"small": (1, 2), "large": (5, 2)}  # blocks along and across


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    along, across = SIZES[size]
    width, height = along * SIDE, across * SIDE
    rng = generator("absolute_differences", size)
    frame = rng.integers(0, 256, (height, width)).astype(np.uint8)
    before = rng.integers(0, 256, (height + PLACES[1], width + PLACES[0])).astype(np.uint8)
    shape = (across, SIDE, along, SIDE)
    sums = np.zeros((across, along, PLACES[1], PLACES[0]), np.int32)
    for down in range(PLACES[1]):
        for right in range(PLACES[0]):
            moved = before[down : down + height, right : right + width]
            apart = np.abs(frame.astype(np.int32) - moved)
            sums[:, :, down, right] = apart.reshape(shape).sum(axis=(1, 3))
    return Launch(
        grid=(along, across, 1),
        block=(*PLACES, 1),
        arguments=(
            scalar("width", "i32", width),
            buffer("frame", frame),
            buffer("before", before),
            output("sums", sums),
        ),
    )
