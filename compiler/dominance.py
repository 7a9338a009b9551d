"""Dominators and post-dominators of a control-flow graph, routine by routine."""

from __future__ import annotations

import networkx as nx

from warpfile.compiler.cfg import Cfg

EXIT_NODE = -1  #: virtual node behind everything that ends a lane or returns


def immediate_dominators(cfg: Cfg) -> dict[int, int]:
    """Immediate dominator of every block that its routine's first block reaches; that first block is its own."""
    graph = _graph(cfg)
    found: dict[int, int] = {}
    for entry in cfg.entries.values():
        found |= {entry: entry} | nx.immediate_dominators(graph, entry)
    return found


def immediate_post_dominators(cfg: Cfg) -> dict[int, int]:
    """Immediate post-dominator of every block from which a lane can end; :data:`EXIT_NODE` where only the end is.

    A guarded EXIT is an edge to the end: some lanes leave there.
    """
    graph = _graph(cfg)
    graph.add_node(EXIT_NODE)
    for block in cfg.blocks:
        if cfg.last(block).opcode in ("EXIT", "KILL", "RET"):
            graph.add_edge(block.index, EXIT_NODE)
    found: dict[int, int] = nx.immediate_dominators(graph.reverse(copy=False), EXIT_NODE)
    return {block: above for block, above in found.items() if block != EXIT_NODE}


def dominates(dominators: dict[int, int], above: int, below: int) -> bool:
    """Whether ``above`` is on the chain of immediate (post-)dominators of ``below``, itself included."""
    while below != above:
        parent = dominators.get(below, below)
        if parent == below:
            return False
        below = parent
    return True


def _graph(cfg: Cfg) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(block.index for block in cfg.blocks)
    graph.add_edges_from(cfg.edges)
    return graph
