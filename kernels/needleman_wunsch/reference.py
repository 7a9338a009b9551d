"""Reference of ``needleman_wunsch``: the whole table of scores, row by row.

Along a row, gaps in the first sequence are a running maximum: what is best without one, plus the gaps before it.
"""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

SIDE = 32
KINDS = 24  # of amino acids
GAP = 10
SIZES = {"small": 2, "large": 18}  # tiles on the diagonal


def table_of_scores(across: np.ndarray, down: np.ndarray, likeness: np.ndarray) -> np.ndarray:
    """Best score of every pair of beginnings, the empty ones included."""
    gaps = GAP * np.arange(len(across) + 1)
    table = np.zeros((len(down) + 1, len(across) + 1), np.int64)
    table[0] = -gaps
    for row, kind in enumerate(down, start=1):
        aligned = table[row - 1, :-1] + likeness[kind, across]
        without = np.concatenate(([-GAP * row], np.maximum(aligned, table[row - 1, 1:] - GAP)))
        table[row] = np.maximum.accumulate(without + gaps) - gaps
    return table


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    tiles = SIZES[size]
    rng = generator("needleman_wunsch", size)
    across, down = rng.integers(0, KINDS, (2, tiles * SIDE))
    likeness = rng.integers(-4, 3, (KINDS, KINDS))
    likeness = np.tril(likeness) + np.tril(likeness, -1).T + 6 * np.eye(KINDS, dtype=np.int64)
    table = table_of_scores(across, down, likeness)
    corners = [((tiles - 1 - tile) * SIDE, tile * SIDE) for tile in range(tiles)]  # row, column
    inside = slice(1, SIDE + 1)
    pieces = [table[row : row + SIDE + 1, column : column + SIDE + 1] for row, column in corners]
    borders = {
        "top": [piece[0] for piece in pieces],
        "left": [piece[inside, 0] for piece in pieces],
        "bottom": [piece[SIDE, inside] for piece in pieces],
        "right": [piece[inside, SIDE] for piece in pieces],
    }
    words = {name: np.stack(border).astype(np.int32) for name, border in borders.items()}
    return Launch(
        grid=(tiles, 1, 1),
        block=(SIDE, 1, 1),
        arguments=(
            scalar("gap", "i32", GAP),
            buffer("across", across.astype(np.int32)),
            buffer("down", down.astype(np.int32)),
            buffer("likeness", likeness.astype(np.int32)),
            buffer("top", words["top"]),
            buffer("left", words["left"]),
            output("bottom", words["bottom"]),
            output("right", words["right"]),
        ),
    )
