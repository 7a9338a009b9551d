"""Reference of ``lattice_boltzmann``: streaming, bounce-back and BGK collision on whole arrays in double precision."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

BLOCK = (32, 4, 1)
RATE = 0.8
TO = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
SIZES = {"small": (40, 7), "large": (62, 18)}  # width, height


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height = SIZES[size]
    rng = generator("lattice_boltzmann", size)
    before = (rng.random((9, height, width)) * 0.2 + 0.4).astype(np.float32)
    obstacle = rng.random((height, width)) < 0.1
    flow = np.stack([np.roll(one, (y, x), (0, 1)) for one, (x, y) in zip(before, TO, strict=True)]).astype(np.float64)
    density = flow.sum(axis=0)
    velocity = np.einsum("dyx,dc->cyx", flow, TO) / density
    share = np.array([4 / 9, 1 / 9, 1 / 36])[np.abs(TO).sum(axis=1)][:, None, None]
    along = np.einsum("dc,cyx->dyx", TO, velocity)
    rest = share * density * (1 + 3 * along + 4.5 * along**2 - 1.5 * (velocity**2).sum(axis=0))
    turned = flow[[TO.tolist().index((-one).tolist()) for one in TO]]
    after = np.where(obstacle, turned, flow + RATE * (rest - flow))
    return Launch(
        grid=(-(-width // BLOCK[0]), -(-height // BLOCK[1]), 1),
        block=BLOCK,
        arguments=(
            scalar("width", "i32", width),
            scalar("height", "i32", height),
            scalar("rate", "f32", RATE),
            buffer("obstacle", obstacle.astype(np.int32)),
            buffer("in", before),
            output("out", after.astype(np.float32), rtol=1e-4, atol=1e-5),
        ),
    )
