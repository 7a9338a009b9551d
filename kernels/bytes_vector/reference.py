"""Reference of ``bytes_vector``: the pixels as an array of bytes."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

PIXELS = 4  # per thread
SIZES = {"small": (3, 128, 350), "large": (8, 256, 2000)}  # blocks, threads, groups of pixels


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, n = SIZES[size]
    rng = generator("bytes_vector", size)
    # Half of the groups are dim, so that level and offset are sometimes the extremes.
    pixels = rng.integers(0, 256, (n, PIXELS, 4)).astype(np.uint8)
    pixels[::2] >>= 3
    masks = rng.integers(0, 256, (n, 2, PIXELS)).astype(np.uint8)
    level = rng.integers(0, 256, n).astype(np.uint8)
    offset = rng.integers(-128, 128, n).astype(np.int8)
    order = rng.integers(0, 8, (n, 4))

    swapped = pixels[:, :, ::-1].copy()
    both = np.concatenate((pixels[:, 3], pixels[:, 0]), axis=1)
    swapped[:, 3] = np.take_along_axis(both, order, axis=1)
    signed = pixels.view(np.int8).astype(np.int32)
    planes = np.stack((pixels[:, :, 0] ^ masks[:, 0], pixels[:, :, 1] | masks[:, 1]), axis=1)
    sums = signed[:, :2].sum(axis=(1, 2)) - signed[:, 2:].sum(axis=(1, 2))
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            buffer("pixels", pixels),
            buffer("masks", masks),
            buffer("level", level),
            buffer("offset", offset),
            buffer("order", (order << np.array([0, 4, 8, 12])).sum(axis=1).astype(np.uint16)),
            output("swapped", swapped),
            output("planes", planes),
            output("brightest", np.maximum(level, pixels.max(axis=(1, 2)))),
            output("darkest", np.minimum(offset, signed.min(axis=(1, 2)).astype(np.int8))),
            output("sums", sums.astype(np.uint16)),
        ),
    )
