"""Reference of ``calls``: greatest common divisors, coprime numbers, and Euler's partition numbers."""

import math

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

SIZES = {"small": (1, 64, 60, 6), "large": (16, 64, 1000, 7)}  # blocks, threads, elements, largest number to part


def partition_numbers(largest: int) -> list[int]:
    """The number of partitions of 0 to ``largest``, one part size after another."""
    ways = [1] + [0] * largest
    for part in range(1, largest + 1):
        for n in range(part, largest + 1):
            ways[n] += ways[n - part]
    return ways


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, n, largest = SIZES[size]
    rng = generator("calls", size)
    common = rng.integers(1, 40, n)
    a = (common * rng.integers(1, 500, n)).astype(np.uint32)
    b = (common * rng.integers(1, 500, n)).astype(np.uint32)
    parts = rng.integers(1, largest + 1, n).astype(np.int32)
    divisor = np.gcd(a, b) + np.where(a % 2 == 1, 1_000_000, 0)
    coprime = [sum(math.gcd(int(y), k) == 1 for k in range(1, int(x) % 8 + 1)) for x, y in zip(a, b, strict=True)]
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            buffer("a", a),
            buffer("b", b),
            buffer("parts", parts),
            output("divisor", divisor.astype(np.uint32)),
            output("coprime", np.array(coprime, np.uint32)),
            output("ways", np.array(partition_numbers(largest), np.uint32)[parts]),
        ),
    )
