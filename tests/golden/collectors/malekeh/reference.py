"""One cycle of all entries, step by step from the page, on decoded probes: a second reading of steps 1, 3 and 5."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.golden.collectors.malekeh.view import UnitView
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Result
from warpfile.spec.schemes.malekeh import NEAR_DESTS

Bank = Callable[[int, int], int]


@dataclass
class Expected:
    """Units of the next cycle (``ready`` aside), outcome of every result by port, and entries that step 1 empties."""

    views: list[UnitView]
    outcomes: dict[int, str] = field(default_factory=dict)
    emptied: set[tuple[int, int]] = field(default_factory=set)
    lost: set[tuple[int, int]] = field(default_factory=set)
    hit: set[int] = field(default_factory=set)
    replaced: dict[int, str] = field(default_factory=dict)
    stepping: set[int] = field(default_factory=set)


def touch(view: UnitView, entry: int) -> None:
    """Make an entry the most recently used one."""
    old = view.rank[entry]
    view.rank = [rank - 1 if rank > old else rank for rank in view.rank]
    view.rank[entry] = len(view.rank) - 1


def empty(view: UnitView, entry: int) -> None:
    """Take the register out of an entry."""
    view.registers[entry], view.near[entry] = -1, False


def expect(
    views: list[UnitView], f: dict[str, int], results: dict[int, Result], beat: Beat | None, bank: Bank
) -> Expected:
    """What the cycle makes of the units: accepted results by port, and the beat that issues."""
    expected = Expected([view.copy() for view in views])
    owners = [view.owner for view in views]
    taken = f["allocate"].bit_length() - 1 if beat is not None else -1
    for port, result in results.items():
        if result.warp not in owners:
            expected.outcomes[port] = "unowned"
        elif not result.hints >> result.component & 1:
            expected.outcomes[port] = "far"
    for unit in range(len(views)):
        mine = {port: result for port, result in results.items() if result.warp == owners[unit]}
        _results_of(unit, views[unit], expected, mine, bank, unit == taken)
    for port in indices(f["dispatch"]):
        view = expected.views[f[f"dispatch_unit{port}"]]
        view.busy, view.locked = False, [False] * len(view.locked)
    if beat is not None and taken >= 0:
        expected.views[taken] = _taken(taken, views[taken], f["issue_warp"], expected, beat)
    elif f["exit"] and f["issue_warp"] in owners:
        view = expected.views[owners.index(f["issue_warp"])]
        view.owner, view.registers, view.near = -1, [-1] * len(view.near), [False] * len(view.near)
    for unit in expected.stepping:
        lfsr = expected.views[unit].lfsr
        expected.views[unit].lfsr = lfsr >> 1 ^ (0xB8 if lfsr & 1 else 0)
    return expected


def _results_of(unit: int, old: UnitView, expected: Expected, mine: dict[int, Result], bank: Bank, meets: bool) -> None:
    """Step 1 in one unit, which takes a beat in this cycle if ``meets``: everything is judged on ``old``."""
    view = expected.views[unit]
    near = [port for port in mine if expected.outcomes.get(port) != "far"]
    near.sort(key=lambda port: bank(mine[port].warp, mine[port].register))
    expected.outcomes |= dict.fromkeys(near[1:], "outdone")
    taken = None
    if near:
        result, victims = mine[near[0]], old.replaceable()
        if meets:
            outcome = "met"
        elif result.register in old.registers:
            taken, outcome = old.registers.index(result.register), "cache_hit"
        elif not result.full:
            outcome = "partial"
        elif victims:
            taken, outcome = victims[0], f"cache_{old.kind(victims[0])}"
        else:
            outcome = "crowded"
        expected.outcomes[near[0]] = outcome
        if outcome == "cache_far":
            expected.stepping.add(unit)
    for port in mine:
        if expected.outcomes[port] in ("far", "outdone", "met") and mine[port].register in old.registers:
            entry = old.registers.index(mine[port].register)
            if entry != taken:
                empty(view, entry)
                expected.emptied.add((unit, entry))
    if taken is not None:
        view.registers[taken], view.near[taken] = mine[near[0]].register, True
        touch(view, taken)


def _taken(unit: int, old: UnitView, warp: int, expected: Expected, beat: Beat) -> UnitView:
    """The unit after step 5, which is judged on ``old``; what step 1 empties is empty unless a source is there."""
    view = old.copy()
    if view.owner != warp:
        expected.lost = {(unit, entry) for entry, near in enumerate(view.near) if near}
        for entry in range(len(view.near)):
            empty(view, entry)
    view.owner, view.busy = warp, True
    expected.hit = {slot for slot, register in enumerate(beat.sources) if register in view.registers}
    view.locked = [register in beat.sources for register in view.registers]
    victims = view.replaceable()
    for slot, register in enumerate(beat.sources):
        if slot not in expected.hit:
            victim = victims.pop(0)
            expected.replaced[slot] = view.kind(victim)
            if view.kind(victim) == "far":
                expected.stepping.add(unit)
            view.registers[victim], view.locked[victim] = register, True
    for slot, register in enumerate(beat.sources):
        entry = view.registers.index(register)
        view.near[entry] = bool(beat.hints >> NEAR_DESTS + slot & 1)
        touch(view, entry)
    for emptied, entry in expected.emptied:
        if emptied == unit and not view.locked[entry]:
            empty(view, entry)
    return view
