"""Reference of ``kmeans``: the nearest centre of every point, its distance squared, and how many points each has.

Coordinates are small whole numbers, so that distances are exact in single precision and ties go to the first centre.
"""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

THREADS = 64
SIZES = {"small": (250, 6, 4), "large": (2100, 7, 5)}  # points, features, clusters


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    points, features, clusters = SIZES[size]
    rng = generator("kmeans", size)
    place = rng.integers(-50, 50, (points, features))
    centre = rng.integers(-50, 50, (clusters, features))
    squares = np.square(place[:, None, :] - centre[None, :, :]).sum(axis=2)
    nearest = squares.argmin(axis=1)
    return Launch(
        grid=(-(-points // THREADS), 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("points", "i32", points),
            scalar("features", "i32", features),
            scalar("clusters", "i32", clusters),
            buffer("feature", np.ascontiguousarray(place.T).astype(np.float32)),
            buffer("centre", centre.astype(np.float32)),
            output("nearest", nearest.astype(np.int32)),
            output("distance", squares.min(axis=1).astype(np.float32)),
            buffer(
                "members",
                np.zeros(clusters, np.int32),
                np.bincount(nearest, minlength=clusters).astype(np.int32),
            ),
        ),
    )
