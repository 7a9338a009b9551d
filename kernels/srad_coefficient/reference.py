"""Reference of ``srad_coefficient``: differences to the neighbours and conductance, in double precision."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

BLOCK = (16, 8, 1)
SPECKLE = 0.05
SIZES = {"small": (24, 15), "large": (60, 40)}  # width, height


def differences(image: np.ndarray) -> dict[str, np.ndarray]:
    """From every pixel to its neighbours in the four directions; edges are repeated."""
    padded = np.pad(image, 1, mode="edge")
    beside = {
        "north": padded[:-2, 1:-1],
        "south": padded[2:, 1:-1],
        "west": padded[1:-1, :-2],
        "east": padded[1:-1, 2:],
    }
    return {name: other - image for name, other in beside.items()}


def conductance(image: np.ndarray, around: dict[str, np.ndarray]) -> np.ndarray:
    """Of every pixel: Y. Yu and S. T. Acton, equations 31 to 35, kept between 0 and 1."""
    gradient = sum(np.square(one) for one in around.values()) / np.square(image)
    laplacian = sum(around.values()) / image
    variation = (gradient / 2 - np.square(laplacian) / 16) / np.square(1 + laplacian / 4)
    return np.clip(1 / (1 + (variation - SPECKLE) / (SPECKLE * (1 + SPECKLE))), 0, 1)


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    width, height = SIZES[size]
    image = (generator("srad_coefficient", size).random((height, width)) + 1).astype(np.float32)
    exact = image.astype(np.float64)
    around = differences(exact)
    results = around | {"conduct": conductance(exact, around)}
    return Launch(
        grid=(-(-width // BLOCK[0]), -(-height // BLOCK[1]), 1),
        block=BLOCK,
        arguments=(
            scalar("width", "i32", width),
            scalar("height", "i32", height),
            scalar("speckle", "f32", SPECKLE),
            buffer("image", image),
            *(output(name, found.astype(np.float32), rtol=1e-3, atol=1e-4) for name, found in results.items()),
        ),
    )
