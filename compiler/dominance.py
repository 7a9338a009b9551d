"""Dominators and post-dominators of a control-flow graph, routine by routine.

T. Lengauer and R. Tarjan, "A fast algorithm for finding dominators in a flowgraph", TOPLAS 1979, in its simple form:
O(m log n). The one of networkx is quadratic where many branches lead to one block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.memoized import memoized

EXIT_NODE = -1  #: virtual node behind everything that ends a lane or returns
Neighbours = Callable[[int], Iterable[int]]


@memoized
def immediate_dominators(cfg: Cfg) -> dict[int, int]:
    """Immediate dominator of every block that its routine's first block reaches; that first block is its own."""
    found: dict[int, int] = {}
    for entry in cfg.entries.values():
        found |= {entry: entry} | dominators(entry, cfg.successors.__getitem__, cfg.predecessors.__getitem__)
    return found


def immediate_post_dominators(cfg: Cfg) -> dict[int, int]:
    """Immediate post-dominator of every block from which a lane can end; :data:`EXIT_NODE` where only the end is.

    A guarded EXIT is an edge to the end: some lanes leave there.
    """
    return post_dominators(cfg, {b.index for b in cfg.blocks if cfg.last(b).opcode in ("EXIT", "KILL", "RET")})


def post_dominators(cfg: Cfg, ends: set[int]) -> dict[int, int]:
    """Immediate post-dominators where the end is behind the blocks ``ends``."""

    def behind(block: int) -> Iterable[int]:
        return (*cfg.successors[block], EXIT_NODE) if block in ends else cfg.successors[block]

    def before(block: int) -> Iterable[int]:
        return ends if block == EXIT_NODE else cfg.predecessors[block]

    return dominators(EXIT_NODE, before, behind)


def dominators(root: int, successors: Neighbours, predecessors: Neighbours) -> dict[int, int]:
    """Immediate dominator of every node that the root reaches, except for the root."""
    nodes, parent = _depth_first(root, successors)
    number = {node: place for place, node in enumerate(nodes)}
    search = _Search(len(nodes))
    semi, above = search.semi, [0] * len(nodes)
    buckets: list[list[int]] = [[] for _ in nodes]
    for place in range(len(nodes) - 1, 0, -1):
        for node in predecessors(nodes[place]):
            if node in number:
                semi[place] = min(semi[place], semi[search.lowest(number[node])])
        buckets[semi[place]].append(place)
        search.ancestor[place] = parent[place]
        for waiting in buckets[parent[place]]:
            lowest = search.lowest(waiting)
            above[waiting] = lowest if semi[lowest] < semi[waiting] else parent[place]
        buckets[parent[place]].clear()
    for place in range(1, len(nodes)):
        if above[place] != semi[place]:
            above[place] = above[above[place]]
    return {nodes[place]: nodes[above[place]] for place in range(1, len(nodes))}


def _depth_first(root: int, successors: Neighbours) -> tuple[list[int], list[int]]:
    """Nodes in the order of a depth-first search, and the place of each one's parent."""
    nodes, parent, seen = [root], [0], {root}
    path = [(0, iter(successors(root)))]
    while path:
        place, left = path[-1]
        target = next((node for node in left if node not in seen), None)
        if target is None:
            path.pop()
            continue
        seen.add(target)
        path.append((len(nodes), iter(successors(target))))
        nodes.append(target)
        parent.append(place)
    return nodes, parent


class _Search:
    """The forest of nodes that were visited, with its paths compressed."""

    def __init__(self, count: int) -> None:
        self.semi = list(range(count))
        self.ancestor = [-1] * count
        self.label = list(range(count))

    def lowest(self, node: int) -> int:
        """The node with the lowest semidominator on the path from below the root of a node's tree to the node."""
        semi, ancestor, label = self.semi, self.ancestor, self.label
        if ancestor[node] < 0:
            return node
        path, at = [], node
        while ancestor[ancestor[at]] >= 0:
            path.append(at)
            at = ancestor[at]
        for at in reversed(path):
            if semi[label[ancestor[at]]] < semi[label[at]]:
                label[at] = label[ancestor[at]]
            ancestor[at] = ancestor[ancestor[at]]
        return label[node]


class Ancestry:
    """Whether one node is above another in a forest of immediate (post-)dominators."""

    def __init__(self, above: Mapping[int, int]) -> None:
        below: dict[int, list[int]] = {}
        for node, parent in above.items():
            below.setdefault(parent, []).append(node)
        roots = [node for node, parent in above.items() if node == parent] + [n for n in below if n not in above]
        self._enter: dict[int, int] = {}
        self._leave: dict[int, int] = {}
        work = [(root, False) for root in roots]
        while work:
            node, is_done = work.pop()
            if is_done:
                self._leave[node] = len(self._enter)
                continue
            self._enter[node] = len(self._enter)
            work.append((node, True))
            work += [(child, False) for child in below.get(node, []) if child != node]

    def dominates(self, above: int, below: int) -> bool:
        """Whether ``above`` is on the chain of immediate dominators of ``below``, itself included."""
        if above == below or above not in self._enter or below not in self._enter:
            return above == below
        return self._enter[above] < self._enter[below] < self._leave[above]

    def order(self, node: int) -> int:
        """A number that grows along every chain of dominators."""
        return self._enter[node]
