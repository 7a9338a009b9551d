"""Reference of ``fdtd``: one step of the electric fields, then of the magnetic field from the new ones."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

BLOCK = (32, 4, 1)
PULSE = 0.75
SIZES = {"small": (70, 10), "large": (70, 38)}  # width, height


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height = SIZES[size]
    rng = generator("fdtd", size)
    ex, ey, hz = (rng.standard_normal((height, width)).astype(np.float32) for _ in range(3))
    new_x, new_y, new_z = (field.astype(np.float64) for field in (ex, ey, hz))
    new_x[:, 1:] -= 0.5 * np.diff(hz.astype(np.float64), axis=1)
    new_y[1:] -= 0.5 * np.diff(hz.astype(np.float64), axis=0)
    new_y[0] = PULSE
    curl = np.diff(new_x, axis=1)[:-1] + np.diff(new_y, axis=0)[:, :-1]
    new_z[:-1, :-1] -= 0.7 * curl
    return Launch(
        grid=(-(-width // BLOCK[0]), -(-height // BLOCK[1]), 1),
        block=BLOCK,
        arguments=(
            scalar("width", "i32", width),
            scalar("height", "i32", height),
            scalar("pulse", "f32", PULSE),
            buffer("ex", ex),
            buffer("ey", ey),
            buffer("hz", hz),
            output("ex_next", new_x.astype(np.float32), rtol=1e-5, atol=1e-5),
            output("ey_next", new_y.astype(np.float32), rtol=1e-5, atol=1e-5),
            output("hz_next", new_z.astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
