"""Reference of ``bfs_step``: levels of a random graph, and the step from one level to the next."""

import numpy as np

from warpfile.kernels.launch import Launch, buffer, generator, scalar

UNREACHED = 2**31 - 1
SIZES = {"small": (4, 96, 380, 4), "large": (16, 128, 2000, 12)}  # blocks, threads, nodes, mean out-degree
DEPTH = {"small": 3, "large": 2}  # a level in the middle of the search, with many nodes


def graph(size: str) -> list[np.ndarray]:
    """Successors of every node; a few nodes have many, the others few."""
    _, _, nodes, mean = SIZES[size]
    rng = generator("bfs_step", size)
    degrees = rng.integers(0, mean + 1, nodes) + mean * 2 * (rng.integers(0, 8, nodes) == 0)
    return [rng.integers(0, nodes, degree).astype(np.int32) for degree in degrees]


def levels(successors: list[np.ndarray], depth: int) -> np.ndarray:
    """Distance of every node from node 0, where it is at most ``depth``."""
    level = np.full(len(successors), UNREACHED, np.int32)
    reached, frontier = {0}, {0}
    for distance in range(depth + 1):
        level[list(frontier)] = distance
        frontier = {int(other) for node in frontier for other in successors[node]} - reached
        reached |= frontier
    return level


def launch(size: str) -> Launch:
    """The launch of one size, with its expected result."""
    blocks, threads, nodes, _ = SIZES[size]
    depth, successors = DEPTH[size], graph(size)
    level, next_level = levels(successors, depth), levels(successors, depth + 1)
    degrees = np.array([len(others) for others in successors])
    return Launch(
        grid=(blocks, 1, 1),
        block=(threads, 1, 1),
        arguments=(
            scalar("nodes", "i32", nodes),
            scalar("depth", "i32", depth),
            buffer("edge_start", np.concatenate(([0], np.cumsum(degrees))).astype(np.int32)),
            buffer("edge", np.concatenate(successors)),
            buffer("level", level),
            buffer("next_level", level, next_level),
            buffer("edges_seen", np.zeros(1, np.int32), np.array([degrees[level == depth].sum()], np.int32)),
        ),
    )
