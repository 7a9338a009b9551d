"""Reference of ``mri_q``: the sum of complex exponentials, as a product of matrices."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

THREADS = 64
SIZES = {"small": (200, 13), "large": (1000, 24)}  # places, samples


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    places, samples = SIZES[size]
    rng = generator("mri_q", size)
    place = (rng.random((3, places)) * 2 - 1).astype(np.float32)
    sample = (rng.random((samples, 4)) * 2 - 1).astype(np.float32)
    phase = sample[:, :3].astype(np.float64) @ place
    sums = sample[:, 3] @ np.exp(1j * phase)
    return Launch(
        grid=(-(-places // THREADS), 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("places", "i32", places),
            scalar("samples", "i32", samples),
            *(buffer(name, one) for name, one in zip("xyz", place, strict=True)),
            buffer("sample", sample),
            output("real", sums.real.astype(np.float32), rtol=1e-4, atol=1e-4),
            output("imaginary", sums.imag.astype(np.float32), rtol=1e-4, atol=1e-4),
        ),
    )
