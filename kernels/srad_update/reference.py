"""Reference of ``srad_update``: the divergence of the flow, with the conductance of the pixel below or at the right."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

BLOCK = (16, 8, 1)
RATE = 0.5
SIZES = {"small": (40, 26), "large": (70, 58)}  # width, height


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height = SIZES[size]
    rng = generator("srad_update", size)
    names = ("north", "south", "west", "east")
    flow = {name: (rng.random((height, width)) - 0.5).astype(np.float32) for name in names}
    conduct, image = (rng.random((height, width)).astype(np.float32) for _ in range(2))
    padded = np.pad(conduct.astype(np.float64), ((0, 1), (0, 1)), mode="edge")
    here, below, beside = padded[:-1, :-1], padded[1:, :-1], padded[:-1, 1:]
    into = here * flow["north"] + below * flow["south"] + here * flow["west"] + beside * flow["east"]
    return Launch(
        grid=(-(-width // BLOCK[0]), -(-height // BLOCK[1]), 1),
        block=BLOCK,
        arguments=(
            scalar("width", "i32", width),
            scalar("height", "i32", height),
            scalar("rate", "f32", RATE),
            *(buffer(name, one) for name, one in flow.items()),
            buffer("conduct", conduct),
            buffer("image", image, (image + RATE / 4 * into).astype(np.float32), rtol=1e-5, atol=1e-5),
        ),
    )
