"""Reference of ``tree_search``: the same question asked of the sorted list of all keys, without a tree."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, output, scalar

THREADS = 128
SIZES = {"small": (400, 3, 5), "large": (2100, 3, 9)}  # queries, levels, children of a node


def packed_tree(sorted_keys: np.ndarray, levels: int, order: int) -> np.ndarray:
    """Keys node by node, level by level: those of a node split the keys below it into ``order`` parts."""
    rank = np.arange(1, len(sorted_keys) + 1)
    nodes = []
    for level in range(levels):
        step = order ** (levels - 1 - level)
        nodes.append(sorted_keys[(rank % step == 0) & (rank % (step * order) != 0)])
    return np.concatenate(nodes)


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    queries, levels, order = SIZES[size]
    rng = generator("tree_search", size)
    leaves = order**levels
    keys = np.sort(rng.choice(10 * leaves, leaves - 1, replace=False))
    value = rng.integers(-(2**31), 2**31, leaves)
    query = rng.integers(0, 10 * leaves, queries)
    found = value[np.searchsorted(keys, query, side="right")]
    return Launch(
        grid=(-(-queries // THREADS), 1, 1),
        block=(THREADS, 1, 1),
        arguments=(
            scalar("queries", "i32", queries),
            scalar("levels", "i32", levels),
            scalar("order", "i32", order),
            buffer("key", packed_tree(keys, levels, order).astype(np.int32)),
            buffer("value", value.astype(np.int32)),
            buffer("query", query.astype(np.int32)),
            output("found", found.astype(np.int32)),
        ),
    )
