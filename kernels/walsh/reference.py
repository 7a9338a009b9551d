"""Reference of ``walsh``: products with Hadamard's matrix, whose signs are parities of common bits."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output

THREADS, WORDS = 128, 512
SIZES = {"small": 1, "large": 8}  # blocks


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks = SIZES[size]
    words = generator("walsh", size).integers(-1000, 1000, (blocks, WORDS))
    number = np.arange(WORDS)
    common = np.bitwise_count(number[:, None] & number)
    hadamard = 1 - 2 * (common % 2).astype(np.int64)
    return Launch(
        grid=(blocks, 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            buffer("in", words.astype(np.int32)),
            output("out", (words @ hadamard).astype(np.int32)),
        ),
    )
