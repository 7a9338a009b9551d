"""Reference of ``conv_layer``: correlation of a padded image with every filter, in double precision, then ReLU."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

CHANNELS_OUT = 4  # of one thread
BLOCK = (32, 4, 1)
SIZES = {"small": (30, 7, 3, 4), "large": (61, 30, 3, 8)}  # width, height, channels in and out


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height, channels, filters = SIZES[size]
    rng = generator("conv_layer", size)
    image = rng.standard_normal((channels, height, width)).astype(np.float32)
    weight = rng.standard_normal((filters, channels, 3, 3)).astype(np.float32)
    bias = rng.standard_normal(filters).astype(np.float32)
    padded = np.pad(image.astype(np.float64), ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    sums = np.einsum("chwij,fcij->fhw", windows, weight) + bias[:, None, None]
    return Launch(
        grid=(-(-width // BLOCK[0]), -(-height // BLOCK[1]), filters // CHANNELS_OUT),
        block=BLOCK,
        arguments=(
            scalar("width", "i32", width),
            scalar("height", "i32", height),
            scalar("channels", "i32", channels),
            buffer("in", image),
            buffer("weight", weight),
            buffer("bias", bias),
            output("out", np.maximum(sums, 0).astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
