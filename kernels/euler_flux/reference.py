"""Reference of ``euler_flux``: the Euler equations' fluxes as tensors, averaged over each side, in double precision."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

THREADS, SIDES = 64, 4
GAMMA, VISCOSITY = 1.4, 0.2
SIZES = {"small": 180, "large": 520}  # cells


def fluxes(variable: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of cells (5, n): flux of the five variables along three axes (5, 3, n), pressure, fastest speed."""
    density, momentum, energy = variable[0], variable[1:4], variable[4]
    velocity = momentum / density
    pressure = (GAMMA - 1) * (energy - (momentum * velocity).sum(axis=0) / 2)
    along = variable[:, None] * velocity
    along[1:4] += np.eye(3)[:, :, None] * pressure
    along[4] += pressure * velocity
    return along, pressure, np.linalg.norm(velocity, axis=0) + np.sqrt(GAMMA * pressure / density)


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    cells = SIZES[size]
    rng = generator("euler_flux", size)
    low, high = np.array([[1.0], [-0.5], [-0.5], [-0.5], [2.0]]), np.array([[2.0], [0.5], [0.5], [0.5], [3.0]])
    variable = (rng.random((5, cells)) * (high - low) + low).astype(np.float32)
    neighbour = rng.integers(0, cells, (SIDES, cells))
    neighbour[rng.random((SIDES, cells)) < 0.1] = -1
    normal = (rng.random((SIDES, 3, cells)) - 0.5).astype(np.float32)
    exact = variable.astype(np.float64)
    along, pressure, speed = fluxes(exact)
    total = np.zeros((5, cells))
    for there, area in zip(neighbour, normal.astype(np.float64), strict=True):
        mean = np.einsum("vac,ac->vc", along + along[:, :, there], area) / 2
        slowed = VISCOSITY * np.linalg.norm(area, axis=0) * (speed + speed[there]) / 2 * (exact - exact[:, there])
        wall = np.concatenate((np.zeros((1, cells)), area * pressure, np.zeros((1, cells))))
        total += np.where(there < 0, wall, mean - slowed)
    return Launch(
        grid=(-(-cells // THREADS), 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("cells", "i32", cells),
            buffer("neighbour", neighbour.astype(np.int32)),
            buffer("normal", normal),
            buffer("variable", variable),
            output("flux", total.astype(np.float32), rtol=1e-4, atol=1e-4),
        ),
    )
