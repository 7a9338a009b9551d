"""Reference of ``nbody``: softened gravitational acceleration of every body by all bodies."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

SOFTENING = 0.0625
SIZES = {"small": (2, 32), "large": (8, 64)}  # blocks, threads; one body per thread


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads = SIZES[size]
    rng = generator("nbody", size)
    body = (rng.random((blocks * threads, 4)) * 2 - 1).astype(np.float32)
    body[:, 3] = np.abs(body[:, 3])
    place, mass = body[:, :3].astype(np.float64), body[:, 3].astype(np.float64)
    apart = place[None, :, :] - place[:, None, :]
    cube = (np.square(apart).sum(axis=2) + SOFTENING) ** 1.5
    pull = (mass[None, :, None] * apart / cube[:, :, None]).sum(axis=1)
    expected = np.concatenate((pull, mass[:, None]), axis=1).astype(np.float32)
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("softening", "f32", SOFTENING),
            buffer("body", body),
            output("acceleration", expected, rtol=1e-4, atol=1e-3),
        ),
    )
