"""A machine-independent simulation of warps that wait for sections and at barriers."""

from __future__ import annotations

import random
from collections.abc import Sequence

from warpfile.spec.trace import Kind, StaticInstruction

Stream = Sequence[StaticInstruction]


def finishes(warps: Sequence[Stream], sections: int, seed: int) -> bool:
    """Whether all warps of one CTA come to their ends; some warp that can go on does so, until none can."""
    rng, at = random.Random(seed), [0] * len(warps)
    holders: set[int] = set()
    while True:
        running = [warp for warp, stream in enumerate(warps) if at[warp] < len(stream)]
        ready = [warp for warp in running if _can(warps[warp][at[warp]], warp, holders, sections)]
        if not ready:
            if not running or not all(warps[warp][at[warp]].kind == Kind.BARRIER for warp in running):
                return not running
            ready = running
        for warp in ready if len(ready) == len(running) and _all_wait(warps, at, running) else [rng.choice(ready)]:
            _issue(warps[warp][at[warp]], warp, holders)
            at[warp] += 1
            if at[warp] == len(warps[warp]):
                holders.discard(warp)


def _can(static: StaticInstruction, warp: int, holders: set[int], sections: int) -> bool:
    if static.kind == Kind.SCHEME and static.operand:
        return warp in holders or len(holders) < sections
    return static.kind != Kind.BARRIER


def _all_wait(warps: Sequence[Stream], at: list[int], running: list[int]) -> bool:
    return all(warps[warp][at[warp]].kind == Kind.BARRIER for warp in running)


def _issue(static: StaticInstruction, warp: int, holders: set[int]) -> None:
    if static.kind == Kind.SCHEME:
        (holders.add if static.operand else holders.discard)(warp)
