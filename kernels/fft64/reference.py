"""Reference of ``fft64``: discrete Fourier transforms of 64 complex numbers each."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator

POINTS, TRANSFORMS, THREADS = 64, 32, 256  # transforms and threads of a block
SIZES = {"small": 1, "large": 6}  # blocks


def pairs(numbers: np.ndarray) -> np.ndarray:
    """Complex numbers as they are in memory: real part, imaginary part."""
    return np.stack([numbers.real, numbers.imag], axis=-1).astype(np.float32)


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    draw = generator("fft64", size)
    signal = draw.uniform(-1, 1, (SIZES[size] * TRANSFORMS, POINTS, 2)).astype(np.float32)
    numbers = signal[..., 0].astype(np.float64) + 1j * signal[..., 1]
    return Launch(
        grid=(SIZES[size], 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            buffer("roots", pairs(np.exp(-2j * np.pi * np.arange(8) / POINTS))),
            buffer("signal", signal, pairs(np.fft.fft(numbers, axis=1)), rtol=1e-4, atol=1e-4),
        ),
    )
