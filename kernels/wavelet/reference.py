"""Reference of ``wavelet``: an image made from its transform by undoing the lifting, last level first."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output

WIDTH, LEVELS = 128, 2
SIZES = {"small": 14, "large": 64}  # rows


def undone(smooth: np.ndarray, detail: np.ndarray) -> np.ndarray:
    """Rows of twice the length from their smooth half and their details."""
    before = np.pad(detail, ((0, 0), (1, 0)), mode="edge")[:, :-1]
    even = smooth - (before + detail + 2 >> 2)
    after = np.pad(even, ((0, 0), (0, 1)), mode="edge")[:, 1:]
    odd = detail + (even + after >> 1)
    return np.stack((even, odd), axis=2).reshape(len(smooth), -1)


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    rows = SIZES[size]
    transformed = generator("wavelet", size).integers(-200, 200, (rows, WIDTH))
    image = transformed[:, : WIDTH >> LEVELS]
    while image.shape[1] < WIDTH:
        length = image.shape[1]
        image = undone(image, transformed[:, length : 2 * length])
    return Launch(
        grid=(rows, 1, 1),
        block=(WIDTH // 2, 1, 1),
        arguments=(
            buffer("image", image.astype(np.int32)),
            output("transformed", transformed.astype(np.int32)),
        ),
    )
