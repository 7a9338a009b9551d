"""Reference of ``bytecode``: the meaning of the program in the kernel's constant memory, as plain arithmetic."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

MASK = 2**32 - 1
SIZES = {"small": (1, 64, 60, 3), "large": (16, 128, 2000, 1)}  # blocks, threads, elements, loops


def step(value: int, first: bool) -> int:
    """One pass of the program; only the first pass starts with the addition."""
    if first:
        value = (value + 77) & MASK
    value = value * 13 & MASK
    if value % 2 == 0:
        value = value >> 1 ^ 0x5A5A5A
    value = (value << 7 | value >> 25) & MASK
    saved = value
    if value % 2 == 0:
        value = ~value & MASK
    value += (value & 0xFFFFFF).bit_count()
    return (value + 3 * saved) & MASK


def run(value: int, loops: int) -> int:
    """The value after all passes; each counts down one loop and goes back to the multiplication."""
    for turn in range(loops):
        value = step(value, turn == 0)
    return value


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, n, loops = SIZES[size]
    values = generator("bytecode", size).integers(0, 2**32, n).astype(np.uint32)
    expected = np.array([run(int(value), loops) for value in values], dtype=np.uint32)
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            scalar("loops", "u32", loops),
            buffer("in", values),
            output("out", expected),
        ),
    )
