"""Reference of ``cross_sections``: total cross-sections of particles as they lose energy.

At every collision a particle adds the cross section of the material at its energy: of each nuclide the piecewise
linear function through the rows of the table, weighted with its amount.
"""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

POINTS, LOSS, THREADS = 512, 0.8125, 256
AMOUNTS = {"hydrogen": 2.0, "oxygen": 1.0, "sodium": 0.25, "chlorine": 0.375, "boron": 0.125}
SIZES = {"small": (2, 2), "large": (18, 3)}  # blocks, collisions


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, collisions = SIZES[size]
    draw = generator("cross_sections", size)
    # Sorted by energy, as particles are kept so that neighbours read the same part of the table.
    starts = np.sort(draw.uniform(0.5, 0.96, blocks * THREADS)).astype(np.float32)
    energies = np.linspace(0, 1, POINTS, dtype=np.float32)
    rows = draw.random((POINTS, len(AMOUNTS))).astype(np.float32)
    total, energy = np.zeros(len(starts)), starts
    for _ in range(collisions):
        for amount, table in zip(AMOUNTS.values(), rows.T, strict=True):
            total += amount * np.interp(
                energy.astype(np.float64), energies.astype(np.float64), table.astype(np.float64)
            )
        energy = energy * np.float32(LOSS)
    return Launch(
        grid=(blocks, 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("collisions", "i32", collisions),
            scalar("middle", "i32", POINTS // 2),
            scalar("loss", "f32", LOSS),
            *(scalar(name, "f32", amount) for name, amount in AMOUNTS.items()),
            buffer("starts", starts),
            buffer("energies", energies),
            buffer("rows", rows),
            output("out", total.astype(np.float32), rtol=1e-3, atol=1e-3),
        ),
    )
