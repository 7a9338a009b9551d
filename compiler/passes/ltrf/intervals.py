"""Register intervals: parts of the code with one way in and few registers, as long as they can be, loops included.

M. Sadrosadati et al., ASPLOS 2018, section 3.3. Deviations, where the published listing contradicts the text or would
give wrong code: a block joins by the union of all registers of the interval, not of its predecessors alone, because
PREFETCH has to fetch that union; its own first instruction counts; the set of every
block is kept, not only of one that is cut.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import pairwise

from warpfile.compiler.passes.ltrf.code import Code
from warpfile.compiler.passes.ltrf.units import Units, units_of

Joins = Callable[[int, int], bool]


@dataclass
class Graph:
    """Nodes by number with the nodes before and behind each; only what entries reach."""

    after: dict[int, list[int]] = field(default_factory=dict)
    before: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def reached(cls, entries: Iterable[int], edges: Iterable[tuple[int, int]]) -> Graph:
        """The graph of these edges."""
        targets: dict[int, list[int]] = {}
        for source, target in sorted(set(edges)):
            targets.setdefault(source, []).append(target)
        work = sorted(entries)
        found = cls({node: [] for node in work}, {node: [] for node in work})
        while work:
            node = work.pop()
            found.after[node] = targets.get(node, [])
            for target in found.after[node]:
                if target not in found.before:
                    found.before[target] = []
                    work.append(target)
                found.before[target].append(node)
        return found


def partition(graph: Graph, entries: Iterable[int], heads: frozenset[int], joins: Joins) -> dict[int, int]:
    """By node, the head of its part. Parts begin at entries, at ``heads``, and behind other parts.

    A node joins a part if all nodes before it are there and ``joins(head, node)`` says so, the lowest first; ``joins``
    is asked once for each, also for the head itself, and may cut the node. What does not join begins its own part.
    """
    parts = {entry: entry for entry in sorted(entries)}
    work = deque(parts)
    while work:
        members = _grown(graph, work.popleft(), parts, heads, joins)
        behind = {target for node in members for target in graph.after[node] if target not in parts}
        for target in sorted(behind):
            parts[target] = target
            work.append(target)
    return parts


def _grown(graph: Graph, head: int, parts: dict[int, int], heads: frozenset[int], joins: Joins) -> list[int]:
    """Nodes of the part that begins at a head."""

    def follows(node: int) -> bool:
        inside = all(parts.get(source) == head for source in graph.before[node])
        return inside and node not in parts and node not in heads

    joins(head, head)
    members, ready = [head], [node for node in graph.after[head] if follows(node)]
    heapify(ready)
    while ready:
        node = heappop(ready)
        if joins(head, node):
            parts[node] = head
            members.append(node)
            for target in filter(follows, graph.after[node]):
                heappush(ready, target)
    return members


class Blocks:
    """Blocks that are cut while they are dealt out to parts of at most ``limit`` registers."""

    def __init__(self, code: Code, limit: int) -> None:
        self.code, self.limit = code, limit
        self.ends = dict(pairwise((*code.starts, len(code.registers))))
        block = {end - 1: start for start, end in self.ends.items()}
        self.graph = Graph.reached(code.entries, ((block[last], target) for last, target in code.edges))
        self.sets: dict[int, int] = {}
        code.must_fit(limit, (index for start in self.graph.after for index in range(start, self.ends[start])))

    def dealt(self) -> dict[int, int]:
        """By block, the head of its part."""
        return partition(self.graph, self.code.entries, self.code.heads, self._joins)

    def _joins(self, head: int, block: int) -> bool:
        """Take as much of a block as fits; what remains is a block of its own."""
        have = self.sets.get(head, 0)
        for index in range(block, self.ends[block]):
            if (have | self.code.registers[index]).bit_count() > self.limit:
                if index == block:
                    return False
                self._cut(block, index)
                break
            have |= self.code.registers[index]
        self.sets[head] = have
        return True

    def _cut(self, block: int, index: int) -> None:
        graph = self.graph
        self.ends[block], self.ends[index] = index, self.ends[block]
        graph.after[index], graph.after[block], graph.before[index] = graph.after[block], [index], [block]
        for target in graph.after[index]:
            graph.before[target] = [index if source == block else source for source in graph.before[target]]


def intervals(code: Code, limit: int) -> Units:
    """Intervals of at most ``limit`` registers. Raises ``ValueError`` where one instruction names more.

    Blocks are put together first; then, as long as that changes anything, the intervals that only one other leads to.
    """
    blocks = Blocks(code, limit)
    parts, sets = blocks.dealt(), blocks.sets
    while True:
        edges = _between(blocks.graph, parts)
        into = _merged(Graph.reached(code.entries, edges), code, sets, limit)
        parts = {block: into[head] for block, head in parts.items()}
        if len(set(into.values())) == len(into):
            return units_of(code, blocks.ends, parts)


def _between(graph: Graph, parts: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Edges from part to part."""
    for source, targets in graph.after.items():
        yield from ((parts[source], parts[target]) for target in targets if parts[source] != parts[target])


def _merged(graph: Graph, code: Code, sets: dict[int, int], limit: int) -> dict[int, int]:
    """By head of a part, that of the larger part it is now in; ``sets`` become those of the larger parts."""

    def joins(head: int, other: int) -> bool:
        union = sets[head] | sets[other]
        fits = union.bit_count() <= limit
        if fits:
            sets[head] = union
        return fits

    return partition(graph, code.entries, code.heads, joins)
