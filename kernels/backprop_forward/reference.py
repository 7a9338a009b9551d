"""Reference of ``backprop_forward``: sums of weighted inputs over every 16 inputs, for each unit of a layer."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

SIDE = 16
SIZES = {"small": (42, 16), "large": (120, 60)}  # inputs, units


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    inputs, units = SIZES[size]
    rng = generator("backprop_forward", size)
    value = rng.random(inputs).astype(np.float32)
    weight = (rng.random((inputs, units)) - 0.5).astype(np.float32)
    groups = range(0, inputs, SIDE)
    partial = np.stack([value[at : at + SIDE].astype(np.float64) @ weight[at : at + SIDE] for at in groups])
    return Launch(
        grid=(-(-units // SIDE), len(groups), 1),
        block=(SIDE, SIDE, 1),
        arguments=(
            scalar("inputs", "i32", inputs),
            scalar("units", "i32", units),
            buffer("input", value),
            buffer("weight", weight),
            output("partial", partial.astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
