"""Random code: any control flow, calls, units that must begin somewhere."""

from __future__ import annotations

import random
from itertools import accumulate

from warpfile.compiler.passes.ltrf.code import Code


def random_code(rng: random.Random) -> Code:
    """1 to 12 blocks, irreducible and unreachable parts among them."""
    sizes = [rng.randint(1, 6) for _ in range(rng.randint(1, 12))]
    calls = {k for k in range(len(sizes)) if rng.random() < 0.06}
    sizes = [1 if k in calls else size for k, size in enumerate(sizes)]
    starts = [0, *accumulate(sizes)][:-1]
    lasts = [start + size - 1 for start, size in zip(starts, sizes, strict=True)]
    edges = set()
    for k, last in enumerate(lasts):
        following = starts[k + 1 : k + 2]
        targets = following if k in calls else rng.sample(starts, min(len(starts), rng.choice((0, 1, 1, 1, 2, 3))))
        if rng.random() < 0.6:
            targets = [*targets, *following]
        edges |= {(last, target) for target in targets}
    entries = {0} | {start for start in starts if rng.random() < 0.05}
    heads = entries | {start for start in starts if rng.random() < 0.08}
    heads |= {start for k in calls for start in starts[k : k + 2]}
    names = rng.choice((8, 14, 24))
    registers = [sum(1 << r for r in rng.sample(range(names), rng.randint(0, 5))) for _ in range(sum(sizes))]
    waits = {index for index in range(sum(sizes)) if rng.random() < 0.1}
    call_places = frozenset(starts[k] for k in calls)
    return Code(
        tuple(registers), tuple(starts), frozenset(edges), frozenset(entries), frozenset(heads), call_places,
        frozenset(waits),
    )  # fmt: skip
