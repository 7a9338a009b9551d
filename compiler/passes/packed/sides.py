"""Sides of a row for registers, so that those that are read together are on different ones.

H. Asghari Esfeden, dissertation, UC Riverside 2021, section 2.5.1: bipartite edge frustration, by a heuristic.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import islice

import networkx as nx

from warpfile.compiler.passes.packed.affinity import Edge, Graph
from warpfile.spec.schemes.packed import LEFT, RIGHT

MOST_CYCLES = 20_000

Cycle = tuple[Edge, ...]


def sides(graph: Graph) -> Mapping[int, int]:
    """``RIGHT`` or ``LEFT`` of every register with an edge; of those that hang together the lowest is ``RIGHT``."""
    return _sides(frozenset(graph.items()))


@lru_cache(64)  # schemes and their setups ask for the same kernels
def _sides(weights: frozenset[tuple[Edge, int]]) -> Mapping[int, int]:
    _, depth = _forest(bipartite(dict(weights)))
    return {register: LEFT if level % 2 else RIGHT for register, level in depth.items()}


def bipartite(graph: Graph) -> Graph:
    """The graph without some edges, so that no simple cycle has an odd length.

    As long as there is one, each edge in such cycles has its weight divided by their number; the least is removed, of
    equals the largest edge. With more than ``MOST_CYCLES`` simple cycles, those count that one edge closes in a
    breadth-first forest.
    """
    left, cuts = dict(graph), list[Edge]()
    while fundamental := _fundamental(left):
        cuts.append(_cut(left, fundamental))
    # The fewer edges, the fewer cycles: what counts changes once.
    stages = range(len(cuts) + 1)
    many = bisect_left(stages, True, key=lambda stage: _simple(_without(graph, cuts[:stage])) is not None)
    left = _without(graph, cuts[:many])
    odd = [cycle for cycle in _simple(left) or () if len(cycle) % 2]
    while odd:
        gone = _cut(left, odd)
        odd = [cycle for cycle in odd if gone not in cycle]
    return left


def _without(graph: Graph, edges: Iterable[Edge]) -> dict[Edge, int]:
    gone = set(edges)
    return {edge: weight for edge, weight in graph.items() if edge not in gone}


def _cut(left: dict[Edge, int], odd: Iterable[Cycle]) -> Edge:
    """Remove the edge with the least weight per odd cycle."""
    counts = Counter(edge for cycle in odd for edge in cycle)
    least = min(counts, key=lambda edge: (Fraction(left[edge], counts[edge]), -edge[0], -edge[1]))
    del left[least]
    return least


def _simple(edges: Iterable[Edge]) -> list[Cycle] | None:
    """All simple cycles, unless there are too many."""
    cycles = list(islice(nx.simple_cycles(nx.Graph(sorted(edges))), MOST_CYCLES + 1))
    if len(cycles) > MOST_CYCLES:
        return None
    return [tuple(_edge(a, b) for a, b in zip(one, (*one[1:], one[0]), strict=True)) for one in cycles]


def _edge(a: int, b: int) -> Edge:
    return (a, b) if a < b else (b, a)


def _fundamental(edges: Iterable[Edge]) -> list[Cycle]:
    """The cycles of an odd length that one edge closes in the forest: its ends are equally deep."""
    above, depth = _forest(edges)
    return [((a, b), *_paths(above, a, b)) for a, b in sorted(edges) if depth[a] == depth[b]]


def _paths(above: Mapping[int, int], a: int, b: int) -> Iterator[Edge]:
    """Edges of the ways up from two equally deep registers to where they meet."""
    while a != b:
        yield from (_edge(one, above[one]) for one in (a, b))
        a, b = above[a], above[b]


def _forest(edges: Iterable[Edge]) -> tuple[dict[int, int], dict[int, int]]:
    """Who is above whom, and how deep everyone is, in a breadth-first forest; roots and neighbours ascending."""
    near: defaultdict[int, list[int]] = defaultdict(list)
    for a, b in sorted(edges):
        near[a].append(b)
        near[b].append(a)
    above, depth = dict[int, int](), dict[int, int]()
    for root in sorted(near):
        work = [] if root in depth else [root]
        depth.setdefault(root, 0)
        for register in work:
            for other in near[register]:
                if other not in depth:
                    above[other], depth[other] = register, depth[register] + 1
                    work.append(other)
    return above, depth
