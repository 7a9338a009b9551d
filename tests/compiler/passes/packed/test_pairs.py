"""Exclusive pairs: the paper's example, and what every choice must keep."""

from __future__ import annotations

import random

import networkx as nx
import pytest

from tests.compiler.passes.packed.code import FIG_2_5, random_graph
from warpfile.compiler.passes.packed.affinity import Edge, Graph
from warpfile.compiler.passes.packed.pairs import exclusive_pairs


def by_the_book(graph: Graph) -> list[Edge]:
    """The rules step by step, each edge looked for anew."""
    left, removed = dict(graph), dict[Edge, int]()

    def crowded(edge: Edge) -> bool:
        return any(sum(register in other for other in left) > 1 for register in edge)

    while crowds := [edge for edge in left if crowded(edge)]:
        lightest = min(left[edge] for edge in crowds)
        gone = max(edge for edge in crowds if left[edge] == lightest)
        removed[gone] = left.pop(gone)
    for weight in sorted(set(removed.values()), reverse=True):
        for edge in sorted(edge for edge in removed if removed[edge] == weight):
            if not any(register in other for register in edge for other in left):
                left[edge] = weight
    return sorted(left)


@pytest.mark.parametrize("weight", [1, 2, 5, 8, 9, 10, 50])
def test_the_papers_example_whatever_its_last_edge_weighs(weight: int) -> None:
    assert exclusive_pairs(FIG_2_5 | {(2, 4): weight}) == ((1, 3), (2, 4))


def test_of_equal_edges_the_smallest_stays() -> None:
    assert exclusive_pairs({(1, 2): 5, (2, 3): 5, (3, 4): 5}) == ((1, 2), (3, 4))
    assert exclusive_pairs({(1, 2): 5, (1, 3): 5}) == ((1, 2),)
    assert exclusive_pairs({}) == ()


def test_pairs_are_a_matching_that_no_edge_can_join() -> None:
    rng, several = random.Random(1), 0
    for _ in range(400):
        graph = random_graph(rng)
        found = exclusive_pairs(graph)
        paired = [register for pair in found for register in pair]
        assert len(paired) == len(set(paired)) and set(found) <= set(graph)
        assert all(a in paired or b in paired for a, b in graph)
        assert list(found) == by_the_book(graph)
        several += len(found) > 2
    assert several > 100


def test_pairs_are_never_heavier_than_the_heaviest_matching() -> None:
    rng, lighter = random.Random(2), 0
    for _ in range(100):
        graph = random_graph(rng)
        drawing = nx.Graph()
        drawing.add_weighted_edges_from((a, b, weight) for (a, b), weight in graph.items())
        best = sum(graph[min(edge), max(edge)] for edge in nx.max_weight_matching(drawing))
        weight = sum(graph[edge] for edge in exclusive_pairs(graph))
        assert weight <= best
        lighter += weight < best
    assert 0 < lighter < 50
