"""Where strands begin for the sake of loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator


def around_backward(edges: Iterable[tuple[int, int]], behind: Callable[[int], Iterable[int]]) -> Iterator[int]:
    """Where a backward branch leads, and what else comes behind it. A branch to itself is one.

    Every cycle has a backward branch, so that code without the edges to these instructions has none.
    """
    for source, target in edges:
        if target <= source:
            yield target
            yield from behind(source)
