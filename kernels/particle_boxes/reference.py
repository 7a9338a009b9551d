"""Reference of ``particle_boxes``: force and potential of a Gaussian interaction within boxes that touch."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

PARTICLES = 32  # of a box
STEEPNESS = 0.5
SIZES = {"small": (1, 2), "large": (4, 4)}  # boxes up and across


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    rows, columns = SIZES[size]
    rng = generator("particle_boxes", size)
    corner = np.array([(x, y, 0) for y in range(rows) for x in range(columns)])
    charge = rng.random((rows * columns, PARTICLES, 1)) + 0.5
    place = corner[:, None, :] + rng.random((rows * columns, PARTICLES, 3))
    particle = np.concatenate((place, charge), axis=2).astype(np.float32)
    touches = np.abs(corner[:, None, :] - corner[None, :, :]).max(axis=2) <= 1
    exact = particle.astype(np.float64)
    apart = exact[:, :, None, None, :3] - exact[None, None, :, :, :3]
    weight = exact[None, None, :, :, 3] * np.exp(-STEEPNESS * np.square(apart).sum(axis=4))
    weight *= touches[:, None, :, None]
    force = (2 * STEEPNESS * weight[..., None] * apart).sum(axis=(2, 3))
    field = np.concatenate((force, weight.sum(axis=(2, 3))[..., None]), axis=2)
    return Launch(
        grid=(rows * columns, 1, 1),
        block=(PARTICLES, 1, 1),
        arguments=(
            scalar("steepness", "f32", STEEPNESS),
            buffer("neighbour_start", np.append(0, np.cumsum(touches.sum(axis=1))).astype(np.int32)),
            buffer("neighbour", np.nonzero(touches)[1].astype(np.int32)),
            buffer("particle", particle.reshape(-1, 4)),
            output("field", field.reshape(-1, 4).astype(np.float32), rtol=1e-4, atol=1e-3),
        ),
    )
