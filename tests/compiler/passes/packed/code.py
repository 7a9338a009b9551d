"""Listings whose instructions read given registers together, and traces of warps that run them."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

from tests.compiler.passes.ltrf.harness import traced
from tests.emulator.harness import listing, run
from warpfile.compiler import parse
from warpfile.compiler.passes.packed.affinity import Edge, Graph
from warpfile.spec.trace import Trace

#: The figures of the paper as edges with weights; where it gives none, they are chosen.
FIG_2_5 = {(1, 2): 8, (1, 3): 10, (1, 4): 2, (2, 4): 1}
FIG_2_8 = {(1, 2): 8, (1, 3): 10, (2, 3): 6, (3, 4): 4, (3, 6): 3, (4, 6): 7, (5, 6): 5, (2, 5): 9}
FIG_2_12 = {(2, 3): 1, (4, 5): 1, (3, 4): 1}


def reading(graph: Mapping[Edge, int]) -> str:
    """Code that reads every two registers together as often as they weigh, and no others."""
    return "\n".join(f"IADD3 R20, R{b}, R{a}, RZ" for (a, b), weight in graph.items() for _ in range(weight))


def executed(code: str, *, listed: bool = True) -> Trace:
    """What two warps execute of a code, with its listing or without."""
    function = parse(listing(code), "t").functions["k"]
    trace = traced(function, *(run(code, live=live).records for live in (0xFFFFFFFF, 0xFF)))
    return replace(trace, kernel="k", listing=listing(code) if listed else "")


def random_graph(rng: random.Random, most: int = 8) -> Graph:
    """Edges between some of ``most`` registers, often of equal weight."""
    edges = [(a, b) for a in range(most) for b in range(a + 1, most)]
    chosen = rng.sample(edges, rng.randint(0, min(len(edges), 14)))
    return {edge: rng.choice((1, 1, 2, 3, 10, 100)) for edge in chosen}
