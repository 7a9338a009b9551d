"""Sides of a row: the paper's examples, the rules step by step, and what every choice must keep."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import product

import networkx as nx
import pytest

from tests.compiler.passes.packed.code import FIG_2_8, FIG_2_12, random_graph
from warpfile.compiler.passes.packed import sides as module
from warpfile.compiler.passes.packed.affinity import Edge, Graph
from warpfile.compiler.passes.packed.sides import _least_cycles, bipartite, sides
from warpfile.spec.schemes.packed import LEFT, RIGHT


def edges_of(cycle: list[int]) -> list[Edge]:
    return [(min(ends), max(ends)) for ends in zip(cycle, cycle[1:] + cycle[:1], strict=True)]


def by_the_book(graph: Graph, most: int = 20_000) -> Graph:
    """The rules step by step, with all cycles found anew for each."""
    left = dict(graph)
    if len(list(nx.simple_cycles(nx.Graph(list(left))))) > most:
        return heaviest_first(graph)
    while True:
        cycles = nx.simple_cycles(nx.Graph(list(left)))
        counts = Counter(edge for cycle in cycles if len(cycle) % 2 for edge in edges_of(cycle))
        if not counts:
            return left
        scores = {edge: Fraction(left[edge], count) for edge, count in counts.items()}
        del left[max(edge for edge in scores if scores[edge] == min(scores.values()))]


def heaviest_first(graph: Graph) -> Graph:
    """Every edge is tried in turn."""
    left: dict[Edge, int] = {}
    for weight in sorted(set(graph.values()), reverse=True):
        for edge in sorted(edge for edge in graph if graph[edge] == weight):
            if nx.is_bipartite(nx.Graph([*left, edge])):
                left[edge] = weight
    return left


def across(graph: Graph, found: dict[int, int]) -> int:
    """Weight of the edges between sides."""
    return sum(weight for (a, b), weight in graph.items() if found[a] != found[b])


def best(graph: Graph) -> int:
    """The most that any sides could have between them."""
    registers = sorted({register for edge in graph for register in edge})
    every = product((RIGHT, LEFT), repeat=len(registers))
    return max(across(graph, dict(zip(registers, one, strict=True))) for one in every)


def test_the_papers_first_example() -> None:
    assert set(FIG_2_8) - set(bipartite(FIG_2_8)) == {(2, 3), (3, 6)}
    assert sides(FIG_2_8) == {1: RIGHT, 4: RIGHT, 5: RIGHT, 2: LEFT, 3: LEFT, 6: LEFT}
    assert sum(bipartite(FIG_2_8).values()) == best(FIG_2_8) == 43
    assert list(by_the_book(FIG_2_8)) == list(bipartite(FIG_2_8))


def test_the_papers_second_example() -> None:
    assert sides(FIG_2_12) == {2: RIGHT, 4: RIGHT, 3: LEFT, 5: LEFT}


def test_of_equal_edges_the_largest_goes() -> None:
    assert bipartite({(1, 2): 4, (2, 3): 4, (1, 3): 4}) == {(1, 2): 4, (1, 3): 4}
    assert not bipartite({}) and not sides({})


def test_an_edge_in_more_odd_cycles_goes_first() -> None:
    graph = {(1, 2): 3, (1, 3): 2, (2, 3): 2, (1, 4): 2, (2, 4): 2}
    assert set(graph) - set(bipartite(graph)) == {(1, 2)}


@pytest.mark.parametrize("most", [0, 5, 20_000])
def test_random_graphs_lose_what_the_rules_say(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CYCLES", most)
    rng, changed = random.Random(most), 0
    for _ in range(150):
        graph = random_graph(rng, 7)
        found = bipartite(graph)
        assert found == by_the_book(graph, most)
        changed += found != by_the_book(graph)
    assert bool(changed) == (most < 20_000)


def test_sides_are_proper_and_never_better_than_the_best() -> None:
    rng, cut, worse = random.Random(5), 0, 0
    for _ in range(150):
        graph = random_graph(rng)
        kept, found = bipartite(graph), sides(graph)
        assert nx.is_bipartite(nx.Graph(list(kept)))
        assert set(found) == {register for edge in graph for register in edge}
        assert all(found[a] != found[b] for a, b in kept)
        assert all(found[min(one)] == RIGHT for one in nx.connected_components(nx.Graph(list(graph))))
        assert sum(kept.values()) <= across(graph, found) <= (best(graph) if graph else 0)
        cut, worse = cut + (kept != graph), worse + bool(graph and across(graph, found) < best(graph))
    assert cut > 50 and worse < 50


def test_there_are_as_many_cycles_as_were_counted_on() -> None:
    rng = random.Random(9)
    for _ in range(100):
        drawing = nx.Graph(list(random_graph(rng)))
        for part in nx.biconnected_components(drawing):
            edges = list(drawing.subgraph(part).edges)
            assert _least_cycles(edges) <= len(list(nx.simple_cycles(drawing.subgraph(part))))
    assert _least_cycles([(1, 2), (1, 3), (1, 4), (2, 5), (3, 5), (4, 5)]) == 3


def test_a_graph_of_many_cycles_is_taken_to_its_end() -> None:
    rng = random.Random(7)
    graph = {(a, b): rng.randint(1, 9) for a in range(60) for b in range(a + 1, 60) if rng.random() < 0.3}
    found = bipartite(graph)
    assert nx.is_bipartite(nx.Graph(list(found))) and nx.is_connected(nx.Graph(list(found)))
    assert found == bipartite(dict(reversed(graph.items())))
