"""How often code is expected to run, as far as loops and calls tell."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.loops import natural_loops
from warpfile.compiler.trip_counts import trip_counts

UNKNOWN_TRIPS = 10
MOST = (1 << 31) - 1


def frequencies(cfg: Cfg) -> tuple[int, ...]:
    """By block, how often it is expected to run each time the kernel does; at most ``MOST``.

    The trips of all loops around it are multiplied, those that are no constant taken as ``UNKNOWN_TRIPS``, and those of
    all calls of its routine are added. A routine that may call itself, and one that is called indirectly, if at all,
    runs once. A call back to the routine's beginning is no loop.
    """
    inside = _inside(cfg)
    calls = [(cfg.blocks[source].routine, cfg.blocks[target].routine, source) for source, target in cfg.call_edges]
    found: dict[str, int] = {}

    def runs(routine: str) -> int:
        if routine not in found:
            found[routine] = 1  # what a recursion comes back to
            callers = [(caller, block) for caller, callee, block in calls if callee == routine]
            if callers and routine not in _callees(calls, routine):
                found[routine] = min(MOST, sum(inside[block] * runs(caller) for caller, block in callers))
        return found[routine]

    return tuple(min(MOST, inside[block.index] * runs(block.routine)) for block in cfg.blocks)


def _inside(cfg: Cfg) -> list[int]:
    """By block, the trips of the loops around it in its own routine."""
    loops, inside = natural_loops(cfg), [1] * len(cfg.blocks)
    trips = trip_counts(cfg, loops)
    for loop in loops:
        if any(cfg.last(cfg.blocks[latch]).opcode != "CALL" for latch in loop.latches):
            for block in loop.blocks:
                inside[block] = min(MOST, inside[block] * trips.get(loop.header, UNKNOWN_TRIPS))
    return inside


def _callees(calls: Sequence[tuple[str, str, int]], routine: str) -> set[str]:
    """Routines that one calls, directly or through others."""
    found, work = set[str](), [routine]
    while work:
        at = work.pop()
        new = {callee for caller, callee, _ in calls if caller == at} - found
        found |= new
        work += new
    return found
