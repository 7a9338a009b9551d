"""Reference of ``backprop_weights``: gradient descent with momentum on the weights of one layer."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

BLOCK = (16, 16, 1)
RATE, MOMENTUM = 0.3, 0.25
SIZES = {"small": (42, 31), "large": (110, 76)}  # inputs, units


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    inputs, units = SIZES[size]
    rng = generator("backprop_weights", size)
    value = rng.random(inputs).astype(np.float32)
    error, weight, move = (
        (rng.random(shape) - 0.5).astype(np.float32) for shape in (units, (inputs, units), (inputs, units))
    )
    step = RATE * np.outer(value.astype(np.float64), error) + MOMENTUM * move
    return Launch(
        grid=(-(-units // BLOCK[0]), -(-inputs // BLOCK[1]), 1),
        block=BLOCK,
        arguments=(
            scalar("inputs", "i32", inputs),
            scalar("units", "i32", units),
            scalar("rate", "f32", RATE),
            scalar("momentum", "f32", MOMENTUM),
            buffer("input", value),
            buffer("error", error),
            buffer("weight", weight, (weight + step).astype(np.float32), rtol=1e-5, atol=1e-6),
            buffer("move", move, step.astype(np.float32), rtol=1e-5, atol=1e-6),
        ),
    )
