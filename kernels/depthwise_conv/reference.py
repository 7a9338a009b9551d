"""Reference of ``depthwise_conv``: correlation of every padded plane with its own filter, scaled, shifted, clipped."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

BLOCK = (32, 8, 1)
SIZES = {"small": (28, 14, 2), "large": (56, 56, 2)}  # width, height, channels


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height, channels = SIZES[size]
    rng = generator("depthwise_conv", size)
    padded = np.zeros((channels, height + 2, width + 2), np.float32)
    padded[:, 1:-1, 1:-1] = rng.random((channels, height, width)) * 6  # what a ReLU6 leaves
    weight = rng.standard_normal((channels, 3, 3)).astype(np.float32)
    scale, shift = rng.random((2, channels)).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(padded.astype(np.float64), (3, 3), axis=(1, 2))
    sums = np.einsum("chwij,cij->chw", windows, weight) * scale[:, None, None] + shift[:, None, None]
    return Launch(
        grid=(-(-width // BLOCK[0]), -(-height // BLOCK[1]), channels),
        block=BLOCK,
        arguments=(
            scalar("width", "i32", width),
            scalar("height", "i32", height),
            buffer("in", padded),
            buffer("weight", weight),
            buffer("scale", scale),
            buffer("shift", shift),
            output("out", np.clip(sums, 0, 6).astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
