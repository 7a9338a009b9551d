"""Reference of ``random_walk``: walkers along a line, and a wave where each of them ends, damped beyond an edge.

The steps are the upper bytes, as signed numbers, of a generator that multiplies with carry (G. Marsaglia): value and
carry are the lower and the upper half of factor * value + carry.
"""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

FACTOR, EDGE, BLOCK = 4294957665, 4.0, (128, 1, 1)
SIZES = {"small": (2, 8), "large": (32, 64)}  # blocks, steps


def ends(seed: np.ndarray, steps: int) -> np.ndarray:
    """Sum of the steps of every walker."""
    value, carry = seed.astype(np.uint64), np.arange(1, len(seed) + 1, dtype=np.uint64)
    total = np.zeros(len(seed), dtype=np.int64)
    for _ in range(steps):
        product = FACTOR * value + carry
        value, carry = product & 0xFFFFFFFF, product >> 32
        total += (value >> 24).astype(np.uint8).view(np.int8)
    return total


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result; longer walks have a farther edge."""
    blocks, steps = SIZES[size]
    seed = generator("random_walk", size).integers(1, 2**32, blocks * BLOCK[0], dtype=np.uint32)
    edge = EDGE * np.sqrt(steps / SIZES["small"][1])
    place = ends(seed, steps) / 128
    height = np.sin(place) * np.cos(place) + np.where(place > edge, np.exp(-place), 0)
    return Launch(
        grid=(blocks, 1, 1),
        block=BLOCK,
        arguments=(
            buffer("seed", seed),
            scalar("steps", "u32", steps),
            scalar("edge", "f32", float(np.float32(edge))),
            output("height", height.astype(np.float32), rtol=1e-4, atol=1e-5),
        ),
    )
