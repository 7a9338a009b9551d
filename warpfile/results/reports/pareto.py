"""Which of several designs are worth a look: those that no other one beats."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import groupby
from typing import TypeVar

Name = TypeVar("Name", bound=Hashable)


def pareto(points: Mapping[Name, tuple[float, float]], better: tuple[int, int]) -> list[Name]:
    """Names of the points that no other one dominates, the best one in the first figure last.

    A point dominates another one if it is no worse in both figures and better in one. ``better``: 1 where more is
    better, -1 where less is. Of equal points all stay.
    """
    ours = {name: (x * better[0], y * better[1]) for name, (x, y) in points.items()}
    found: list[Name] = []
    highest = float("-inf")  # second figure of all others better in the first one
    for _, some in groupby(sorted(ours, key=lambda name: ours[name], reverse=True), key=lambda name: ours[name][0]):
        group = list(some)
        top = ours[group[0]][1]
        if top > highest:
            found += [name for name in group if ours[name][1] == top]
            highest = top
    return found[::-1]
