"""Reference of ``coulomb``: the potential of all atoms within reach, faded to nothing there, in double precision."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

BLOCK = (16, 8, 1)
SPACING, REACH = 0.5, 4.0
SIZES = {"small": (14, 8, 50), "large": (44, 16, 75)}  # width, height, atoms


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height, atoms = SIZES[size]
    rng = generator("coulomb", size)
    low, high = np.array([0, 0, 0.5, -1]), np.array([width * SPACING, height * SPACING, 2, 1])
    atom = (rng.random((atoms, 4)) * (high - low) + low).astype(np.float32)
    x, y, z, charge = atom.astype(np.float64).T[:, :, None, None]
    rows, columns = np.mgrid[:height, :width] * SPACING
    distance = np.sqrt(np.square(x - columns) + np.square(y - rows) + np.square(z))
    near = np.maximum(1 - np.square(distance / REACH), 0)
    potential = (charge / distance * np.square(near)).sum(axis=0)
    return Launch(
        grid=(-(-width // BLOCK[0]), height // BLOCK[1], 1),
        block=BLOCK,
        arguments=(
            scalar("width", "i32", width),
            scalar("atoms", "i32", atoms),
            scalar("spacing", "f32", SPACING),
            scalar("reach", "f32", REACH),
            buffer("atom", atom),
            output("potential", potential.astype(np.float32), rtol=1e-4, atol=1e-4),
        ),
    )
