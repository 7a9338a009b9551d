"""Reference of ``ray_march``: light along rays through a volume, which every sample dims.

A sample at a point is the trilinear interpolation of the eight densities around it.
"""

import itertools

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

EDGE, SPACING, WIDTH = 16, 1.5, 32  # points along an edge of the volume, way of a step, pixels in a row
BLOCK = (256, 1, 1)
SIZES = {"small": (2, 3), "large": (8, 6)}  # blocks, samples of a ray


def sampled(volume: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Densities at points (x, y, z), float64."""
    low = np.floor(points).astype(int)
    part = points - low
    total = np.zeros(len(points))
    for corner in itertools.product((0, 1), repeat=3):
        weight = np.prod(np.where(corner, part, 1 - part), axis=1)
        x, y, z = (low + corner).T
        total += weight * volume[z, y, x]
    return total


def pixels(rows: int) -> np.ndarray:
    """Points (x, y, z) of an image in front of the volume, row by row."""
    x, y = np.linspace(3, 12, WIDTH), np.linspace(3, 12, rows)
    return np.stack([*(axis.ravel() for axis in np.meshgrid(x, y)), np.full(rows * WIDTH, 1.25)], axis=1)


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, steps = SIZES[size]
    draw = generator("ray_march", size)
    volume = draw.random((EDGE, EDGE, EDGE)).astype(np.float32)
    eye, plane = np.array([7.5, 7.5, -20.0]), pixels(blocks * BLOCK[0] // WIDTH)
    starts, ways = plane, (plane - eye) / np.linalg.norm(plane - eye, axis=1, keepdims=True)
    rays = np.concatenate([starts, ways], axis=1).astype(np.float32)
    points, spacing = rays[:, :3].astype(np.float64), np.float64(np.float32(SPACING))
    light, total = np.ones(len(rays)), np.zeros(len(rays))
    for _ in range(steps):
        density = sampled(volume.astype(np.float64), points)
        total += light * density
        light *= 1 - 0.25 * density
        points = points + spacing * rays[:, 3:].astype(np.float64)
    return Launch(
        grid=(blocks, 1, 1),
        block=BLOCK,
        arguments=(
            scalar("steps", "i32", steps),
            scalar("size", "i32", EDGE),
            scalar("spacing", "f32", SPACING),
            buffer("volume", volume),
            buffer("rays", rays),
            output("out", total.astype(np.float32), rtol=1e-4, atol=1e-4),
        ),
    )
