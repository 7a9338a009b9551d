"""Sides of a row for registers, so that those that are read together are on different ones.

H. Asghari Esfeden, dissertation, UC Riverside 2021, section 2.5.1: bipartite edge frustration, by a heuristic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from itertools import islice

import networkx as nx

from warpfile.compiler.passes.packed.affinity import Edge, Graph
from warpfile.spec.schemes.packed import LEFT, RIGHT

MOST_CYCLES = 20_000

Cycle = tuple[Edge, ...]


def sides(graph: Graph) -> dict[int, int]:
    """``RIGHT`` or ``LEFT`` of every register with an edge; of those that hang together the lowest is ``RIGHT``."""
    return dict(_sides(frozenset(graph.items())))


@lru_cache(64)  # schemes and their setups ask for the same kernels
def _sides(weights: frozenset[tuple[Edge, int]]) -> dict[int, int]:
    drawing, found = nx.Graph(list(bipartite(dict(weights)))), dict[int, int]()
    for part in nx.connected_components(drawing):
        depths = nx.single_source_shortest_path_length(drawing, min(part))
        found |= {register: LEFT if depth % 2 else RIGHT for register, depth in depths.items()}
    return found


def bipartite(graph: Graph) -> Graph:
    """The graph without some edges, so that no simple cycle has an odd length.

    As long as there is one, each edge in such cycles has its weight divided by their number; the least is removed,
    among equals the largest edge. With more than ``MOST_CYCLES`` simple cycles, edges that close an odd cycle with
    heavier ones are removed.
    """
    cycles = _simple_cycles(graph)
    if cycles is None:
        return _heaviest_first(graph)
    left, odd = dict(graph), [cycle for cycle in cycles if len(cycle) % 2]
    while odd:
        counts = Counter(edge for cycle in odd for edge in cycle)
        gone = min(counts, key=lambda edge: (Fraction(left[edge], counts[edge]), -edge[0], -edge[1]))
        del left[gone]
        odd = [cycle for cycle in odd if gone not in cycle]
    return left


def _simple_cycles(edges: Iterable[Edge]) -> list[Cycle] | None:
    """All simple cycles, unless there are too many."""
    drawing = nx.Graph(list(edges))
    if any(_least_cycles(list(part)) > MOST_CYCLES for part in nx.biconnected_component_edges(drawing)):
        return None
    cycles = list(islice(nx.simple_cycles(drawing), MOST_CYCLES + 1))
    if len(cycles) > MOST_CYCLES:
        return None
    return [tuple(_edge(a, b) for a, b in zip(one, (*one[1:], one[0]), strict=True)) for one in cycles]


def _least_cycles(edges: list[Edge]) -> int:
    """Simple cycles that a biconnected graph has at least.

    It is a cycle with one path after the other put on; the k-th has a cycle with each way between its ends, of which
    there are k at least, because each path before it has brought one.
    """
    paths = len(edges) - len({register for edge in edges for register in edge}) + 1
    return paths * (paths + 1) // 2


def _edge(a: int, b: int) -> Edge:
    return (a, b) if a < b else (b, a)


def _heaviest_first(graph: Graph) -> Graph:
    """Edges stay, the heaviest first and among equals the smallest, unless one closes an odd cycle."""
    left: dict[Edge, int] = {}
    part: dict[int, dict[int, bool]] = {}  #: by register all that hang together with it, and on which side each is
    for a, b in sorted(graph, key=lambda edge: (-graph[edge], edge)):
        one, other = part.setdefault(a, {a: False}), part.setdefault(b, {b: False})
        if one is not other:
            turned = one[a] == other[b]
            one |= {register: side != turned for register, side in other.items()}
            part |= dict.fromkeys(other, one)
        if one[a] != one[b]:
            left[a, b] = graph[a, b]
    return left
