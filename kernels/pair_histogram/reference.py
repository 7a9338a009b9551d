"""Reference of ``pair_histogram``: all products of two lists of vectors of whole numbers, counted by bin."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

THREADS, BINS = 128, 16
SIZES = {"small": (100, 7), "large": (1000, 10)}  # stars of the first list, of the second


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    first, second = SIZES[size]
    rng = generator("pair_histogram", size)
    star, other = (rng.integers(-100, 100, (stars, 3)) for stars in (first, second))
    limit = np.linspace(-15000, 15000, BINS - 1).astype(np.int64)
    products = star @ other.T
    count = np.bincount((products[..., None] >= limit).sum(axis=2).ravel(), minlength=BINS)
    return Launch(
        grid=(-(-first // THREADS), 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("first", "i32", first),
            scalar("second", "i32", second),
            buffer("star", np.ascontiguousarray(star.T).astype(np.int32)),
            buffer("other", other.astype(np.int32)),
            buffer("limit", limit.astype(np.int32)),
            buffer("count", np.zeros(BINS, np.int32), count.astype(np.int32)),
        ),
    )
