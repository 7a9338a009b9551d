"""Reference of ``divide``: correctly rounded quotient and root, and integer division that rounds towards zero."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

SIZES = {"small": (2, 64, 120), "large": (16, 128, 2000)}  # blocks, threads, elements


def floats(rng: np.random.Generator, n: int) -> np.ndarray:
    """Values of both signs; every eighth is so large or small that the fast division does not serve it."""
    exponents = np.where(rng.integers(0, 8, n) == 0, rng.integers(-140, 127, n), rng.integers(-10, 10, n))
    return np.ldexp((1 + rng.random(n)) * (rng.integers(0, 2, n) * 2 - 1), exponents).astype(np.float32)


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, n = SIZES[size]
    rng = generator("divide", size)
    a, b = floats(rng, n), np.abs(floats(rng, n))
    c = rng.integers(-(2**31), 2**31, n).astype(np.int32)
    d = (rng.integers(1, 2000, n) * (rng.integers(0, 2, n) * 2 - 1)).astype(np.int32)
    whole = np.trunc(c / d.astype(np.float64)).astype(np.int32)
    with np.errstate(over="ignore", under="ignore"):
        quotient = a / b
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            buffer("a", a),
            buffer("b", b),
            buffer("c", c),
            buffer("d", d),
            output("quotient", quotient),
            output("root", np.sqrt(b)),
            output("whole", whole),
            output("rest", (c - whole * d).astype(np.int32)),
        ),
    )
