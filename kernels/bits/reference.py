"""Reference of ``bits``: Python's integers, warp by warp."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

WORD = 2**32
LANES = 32
PICKED = 7
SIZES = {"small": (2, 64, 120), "large": (16, 128, 2000)}  # blocks, threads, elements


def signed(word: int, size: int = 32) -> int:
    """A word as a two's complement number."""
    return word - (1 << size) if word >> size - 1 else word


def lane_mask(choice: list[bool]) -> int:
    """Word with a bit for every lane that is chosen."""
    return sum(1 << lane for lane, chosen in enumerate(choice) if chosen)


def carryless(a: int, b: int) -> int:
    """Product of two polynomials over GF(2)."""
    product = 0
    for bit in range(32):
        product ^= (b << bit) * (a >> bit & 1)
    return product


def choices(a: int, b: int, s: int, k: int) -> int:
    """A state that nine conditions of the inputs drive for k + 1 turns."""
    state = a
    for turn in range(k + 1):
        state = (state + b if a < b else state ^ b) % WORD
        state = state * 5 % WORD if signed(a) < signed(b) else state >> 1
        state = state ^ WORD - 1 if a > 2**30 else (state + 1) % WORD
        state = (state - s) % WORD if b > s else state | s
        state = state ^ 0x55555555 if k > 2 else (state + turn) % WORD
        state = (state + a) % WORD if signed(b) > 0 else state & ~a
        state = (state << 3 if (b & 6) > 3 else state + 77) % WORD
        state = state ^ turn if a % 256 > b % 256 else (state - 3) % WORD
        state = (state + 9 if s > 31 else state * 3) % WORD
    return state


def of_thread(a: int, b: int, s: int, k: int) -> list[list[int]]:
    """The fields that depend on one thread: those before and those behind the ones of the warp."""
    pair, wrapped, clamped = b << 32 | a, s % 32, min(s, 32)
    other = signed(b) if signed(b) >= 0 else ~signed(b)  # a positive number with the same bits behind the sign
    before = [
        a.bit_count(),
        32 - a.bit_length(),
        (a & -a).bit_length(),
        int(f"{b:032b}"[::-1], 2),
        (other.bit_length() - 1) % WORD,
        (pair << wrapped) >> 32,
        (pair << clamped) >> 32,
        pair >> wrapped,
        pair >> clamped,
        a << s,
        signed(a) >> s,
        pair << s % 64,
        (pair << s % 64) >> 32,
        signed(pair, 64) >> s % 64 >> 16,
        sum(((a >> bit & 1) + (b >> bit & 1) + (s >> bit & 1) > 1) << bit for bit in range(32)),
        a ^ (~b & k),
    ]
    return [before, [carryless(a, b), choices(a, b, s, k)]]


def of_warp(rows: np.ndarray) -> list[list[int]]:
    """The fields of all lanes of a warp; a row holds the inputs of a lane."""
    a, b, _, key = rows.T.tolist()
    lanes = range(len(key))
    votes = lane_mask([x < y for x, y in zip(a, b, strict=True)])
    votes ^= (3 in key) * (WORD - 1) ^ (max(key) < 4) * 0xFF00
    result = []
    for lane in lanes:
        peers = lane_mask([key[other] == key[lane] for other in lanes])
        alike = lane_mask([a[other] % 2 == 1 and key[other] // 2 == key[lane] // 2 for other in lanes])
        result.append([peers, key[:lane].count(key[lane]), alike if a[lane] % 2 else 0, votes])
    return result


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, n = SIZES[size]
    rng = generator("bits", size)
    # Words of all lengths, both signs, and zero.
    shape = (2, n + PICKED)
    x, y = (rng.integers(0, WORD, shape) >> rng.integers(0, 33, shape)) * rng.choice([1, -1], shape) % WORD
    inputs = np.stack((x[:n], y[:n], rng.integers(0, 96, n), rng.integers(0, 2 + np.arange(n) // LANES % 4)), axis=1)
    fields = []
    for first in range(0, n, LANES):
        rows = inputs[first : first + LANES]
        for thread, (row, shared) in enumerate(zip(rows.tolist(), of_warp(rows), strict=True), start=first):
            before, behind = of_thread(*row)
            picked = sum(int(y[thread + 1 + bit]) for bit in range(PICKED) if row[0] >> bit & 1)
            fields.append([word % WORD for word in (*before, *shared, *behind, picked)])
    words = inputs.astype(np.uint32)
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("n", "i32", n),
            buffer("x", words[:, 0]),
            buffer("y", y.astype(np.uint32)),
            buffer("shift", words[:, 2]),
            buffer("key", words[:, 3]),
            output("out", np.array(fields, np.uint32).T),
        ),
    )
