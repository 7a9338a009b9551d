"""The order in which data-flow equations are solved: every block after those that it depends on, except for loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

Adjacent = Sequence[Sequence[int]]


def postorder(successors: Adjacent) -> list[int]:
    """All nodes, each behind its successors where no loop forbids it."""
    order: list[int] = []
    seen = bytearray(len(successors))
    for start in range(len(successors)):
        if seen[start]:
            continue
        seen[start] = 1
        path = [(start, iter(successors[start]))]
        while path:
            node, left = path[-1]
            target = next((one for one in left if not seen[one]), None)
            if target is None:
                order.append(node)
                path.pop()
            else:
                seen[target] = 1
                path.append((target, iter(successors[target])))
    return order


def predecessors(successors: Adjacent) -> list[list[int]]:
    """The same edges from the other end."""
    table: list[list[int]] = [[] for _ in successors]
    for source, targets in enumerate(successors):
        for target in targets:
            table[target].append(source)
    return table


class Worklist:
    """Nodes that are to be visited again, each once, in a given order."""

    def __init__(self, order: Sequence[int], first: Iterable[int] | None = None) -> None:
        self._order = order
        self._rank = {node: rank for rank, node in enumerate(order)}
        self._heap = list(range(len(order))) if first is None else [self._rank[node] for node in first]
        heapify(self._heap)
        self._waiting = set(self._heap)

    def __bool__(self) -> bool:
        return bool(self._heap)

    def pop(self) -> int:
        """The next node."""
        rank = heappop(self._heap)
        self._waiting.remove(rank)
        return self._order[rank]

    def push(self, node: int) -> None:
        """Visit a node, unless it waits already."""
        rank = self._rank[node]
        if rank not in self._waiting:
            self._waiting.add(rank)
            heappush(self._heap, rank)
