"""Reference of ``scan``: prefix sums within every block, and the sum of the block."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

SIZES = {"small": (2, 256, 500), "large": (24, 256, 6000)}  # blocks, threads, elements


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, n = SIZES[size]
    values = generator("scan", size).integers(-500, 500, n).astype(np.int32)
    padded = np.zeros(blocks * threads, np.int32)
    padded[:n] = values
    sums = np.cumsum(padded.reshape(blocks, threads), axis=1, dtype=np.int32)
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        shared_bytes=4 * threads,
        arguments=(
            scalar("n", "i32", n),
            buffer("in", values),
            output("out", sums.ravel()[:n]),
            output("block_total", sums[:, -1]),
        ),
    )
