"""Reference of ``hotspot``: steps of heat flow on the whole chip in double precision, without tiles."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

SIDE = 16
ALONG, ACROSS, UPWARDS, AIR = 0.125, 0.1, 0.01, 80.0
SIZES = {"small": (30, 10, 2), "large": (44, 30, 3)}  # width, height, steps


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height, steps = SIZES[size]
    rng = generator("hotspot", size)
    before = (rng.random((height, width)) * 20 + 320).astype(np.float32)
    power = rng.random((height, width)).astype(np.float32)
    heat = before.astype(np.float64)
    for _ in range(steps):
        padded = np.pad(heat, 1, mode="edge")
        along = padded[1:-1, :-2] + padded[1:-1, 2:] - 2 * heat
        across = padded[:-2, 1:-1] + padded[2:, 1:-1] - 2 * heat
        heat = heat + power + ALONG * along + ACROSS * across + UPWARDS * (AIR - heat)
    inner = SIDE - 2 * steps
    return Launch(
        grid=(-(-width // inner), -(-height // inner), 1),
        block=(SIDE, SIDE, 1),
        arguments=(
            scalar("width", "i32", width),
            scalar("height", "i32", height),
            scalar("steps", "i32", steps),
            scalar("along", "f32", ALONG),
            scalar("across", "f32", ACROSS),
            scalar("upwards", "f32", UPWARDS),
            scalar("air", "f32", AIR),
            buffer("power", power),
            buffer("before", before),
            output("after", heat.astype(np.float32), rtol=1e-5),
        ),
    )
