"""Reference of ``stencil``: one explicit step of heat flow, periodic in x, edge values repeated in y."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

RATE = 0.125
BLOCK = (16, 8, 1)
SIZES = {"small": (40, 28), "large": (150, 130)}  # width, height


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height = SIZES[size]
    plate = (generator("stencil", size).random((height, width)) * 100).astype(np.float32)
    t = plate.astype(np.float64)
    around = np.roll(t, 1, axis=1) + np.roll(t, -1, axis=1)
    padded = np.pad(t, ((1, 1), (0, 0)), mode="edge")
    around += padded[:-2] + padded[2:]
    expected = (t + RATE * (around - 4 * t)).astype(np.float32)
    return Launch(
        grid=(-(-width // BLOCK[0]), -(-height // BLOCK[1]), 1),
        block=BLOCK,
        arguments=(
            scalar("width", "i32", width),
            scalar("height", "i32", height),
            scalar("rate", "f32", RATE),
            buffer("in", plate),
            output("out", expected, rtol=1e-5, atol=1e-5),
        ),
    )
