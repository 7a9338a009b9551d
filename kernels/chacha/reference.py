"""Reference of ``chacha``: the ChaCha20 block function of RFC 8439, section 2.3."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

ROUNDS = 20
SIZES = {"small": (1, 128), "large": (16, 128)}  # blocks, threads
CONSTANTS = np.frombuffer(b"expand 32-byte k", "<u4")


def quarter_round(state: np.ndarray, a: int, b: int, c: int, d: int) -> None:
    """Section 2.1 on four rows of the state, for all columns at once."""
    for target, addend, mixed, distance in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[target] += state[addend]
        state[mixed] ^= state[target]
        state[mixed] = state[mixed] << np.uint32(distance) | state[mixed] >> np.uint32(32 - distance)


def key_stream(key: np.ndarray, nonce: np.ndarray, counters: np.ndarray, rounds: int = ROUNDS) -> np.ndarray:
    """Sixteen words of key stream for every counter, one row each."""
    state = np.empty((16, len(counters)), np.uint32)
    state[:4], state[4:12], state[12], state[13:] = CONSTANTS[:, None], key[:, None], counters, nonce[:, None]
    start = state.copy()
    for _ in range(rounds // 2):
        for column in range(4):
            quarter_round(state, column, 4 + column, 8 + column, 12 + column)
        for column in range(4):
            quarter_round(state, column, 4 + (column + 1) % 4, 8 + (column + 2) % 4, 12 + (column + 3) % 4)
    return (state + start).T


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads = SIZES[size]
    rng = generator("chacha", size)
    key, nonce = (rng.integers(0, 2**32, words).astype(np.uint32) for words in (8, 3))
    counters = np.uint32(1) + np.arange(blocks * threads, dtype=np.uint32)
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("rounds", "i32", ROUNDS),
            scalar("counter", "u32", 1),
            buffer("key", key),
            buffer("nonce", nonce),
            output("out", key_stream(key, nonce, counters)),
        ),
    )
