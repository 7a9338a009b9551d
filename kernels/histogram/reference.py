"""Reference of ``histogram``: bins of the upper six bits of every byte, a byte counting 1 to 4 by its place."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

BINS = 64
SIZES = {"small": (3, 96, 1500), "large": (16, 128, 10000)}  # blocks, threads, words


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, words = SIZES[size]
    # A triangular distribution: some bins are crowded, so that lanes collide, and the last ones stay empty.
    octets = generator("histogram", size).integers(0, 120, (2, 4 * words)).sum(axis=0).astype(np.uint8)
    weight = np.tile(np.arange(1, 5), words)
    bins = np.bincount(octets >> 2, weights=weight, minlength=BINS).astype(np.uint32)
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("words", "i32", words),
            buffer("data", octets.view("<u4").astype(np.uint32)),
            buffer("bins", np.zeros(BINS, np.uint32), bins),
        ),
    )
