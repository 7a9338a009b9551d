"""Pairs of registers that are to share a row: each register is in one at most.

H. Asghari Esfeden, dissertation, UC Riverside 2021, section 2.4.2.
"""

from __future__ import annotations

from collections import Counter

from warpfile.compiler.passes.packed.affinity import Edge, Graph


def exclusive_pairs(graph: Graph) -> tuple[Edge, ...]:
    """Pairs, ascending.

    While a register has several edges, the lightest edge at such a register is removed, among equals the largest. Then
    removed edges come back where both ends have none, the heaviest first, among equals the smallest.
    """
    degree = Counter(register for edge in graph for register in edge)
    removed: list[Edge] = []
    # Degrees only fall: an edge that stays when it is the lightest stays for good.
    for edge in sorted(graph, key=lambda edge: (-graph[edge], edge), reverse=True):
        if any(degree[register] > 1 for register in edge):
            degree.subtract(edge)
            removed.append(edge)
    kept = set(graph).difference(removed)
    for edge in reversed(removed):
        if not any(degree[register] for register in edge):
            degree.update(edge)
            kept.add(edge)
    return tuple(sorted(kept))
