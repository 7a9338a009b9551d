"""Reference of ``stream_cluster``: gains and losses of all points if one of them became a centre.

Coordinates and weights are small whole numbers, so that costs are exact in single precision.
"""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

THREADS = 128
SIZES = {"small": (500, 10, 4), "large": (1250, 14, 5)}  # points, dimensions, centres


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    points, dimensions, centres = SIZES[size]
    rng = generator("stream_cluster", size)
    place = rng.integers(-20, 20, (points, dimensions))
    weight = rng.integers(1, 5, points)
    members = rng.permutation(points)[:centres]  # points that are centres now
    number = np.full(points, -1)
    number[members] = np.arange(centres)
    assigned = members[rng.integers(0, centres, points)]
    candidate = int(rng.integers(points))
    cost = weight * np.square(place - place[assigned]).sum(axis=1)
    gain = weight * np.square(place - place[candidate]).sum(axis=1) - cost
    moving = gain < 0
    closing = np.zeros((points, centres))
    closing[np.arange(points), number[assigned]] = np.where(moving, 0, gain)
    return Launch(
        grid=(-(-points // THREADS), 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("points", "i32", points),
            scalar("dimensions", "i32", dimensions),
            scalar("centres", "i32", centres),
            scalar("candidate", "i32", candidate),
            buffer("coordinate", np.ascontiguousarray(place.T).astype(np.float32)),
            buffer("weight", weight.astype(np.float32)),
            buffer("cost", cost.astype(np.float32)),
            buffer("assigned", assigned.astype(np.int32)),
            buffer("number_of_centre", number.astype(np.int32)),
            output("change", np.where(moving, gain, 0).astype(np.float32)),
            buffer("closing", np.zeros((points, centres), np.float32), closing.astype(np.float32)),
            output("moves", moving.astype(np.int32)),
        ),
    )
