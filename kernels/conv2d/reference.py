"""Reference of ``conv2d``: correlation with fixed weights inside, the border as it was."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

WEIGHTS = np.array([[3, -6, 10], [-4, 8, -14], [5, -12, 2]]) / 16
BLOCK = (32, 8, 1)
SIZES = {"small": (90, 14), "large": (94, 38)}  # width, height


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height = SIZES[size]
    rng = generator("conv2d", size)
    image = rng.standard_normal((height, width)).astype(np.float32)
    before = np.full((height, width), -1, np.float32)
    after = before.copy()
    windows = np.lib.stride_tricks.sliding_window_view(image.astype(np.float64), (3, 3))
    after[1:-1, 1:-1] = (windows * WEIGHTS).sum(axis=(2, 3))
    return Launch(
        grid=(-(-width // BLOCK[0]), -(-height // BLOCK[1]), 1),
        block=BLOCK,
        arguments=(
            scalar("width", "i32", width),
            scalar("height", "i32", height),
            buffer("in", image),
            buffer("out", before, after, rtol=1e-5, atol=1e-5),
        ),
    )
