"""Control codes for a trace that shows none: from what every warp executed, as short as the machine allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from warpfile.compiler.passes.modern.codes import Codes
from warpfile.compiler.passes.modern.read_positions import Placed
from warpfile.spec.schemes.modern import BARRIERS, NOWHERE, POSITIONS, ReadWindowConfig
from warpfile.spec.trace import StaticInstruction, Trace

_SEEN = 2  #: ticks from a producer to the first instruction that sees its dependence counter


@dataclass
class _Warp:
    """What younger instructions have to respect; times are ticks of the warp's own issues.

    ``ready``: for a register of a fixed producer, the tick of its issue, later ones for a third and a fourth result.
    ``guards``: for a register, the dependence counters that must be 0 before it is read (``writes``) or written
    (``reads`` too).
    """

    last: int = -1
    next_barrier: int = 0
    ready: dict[int, int] = field(default_factory=dict)
    writes: dict[int, int] = field(default_factory=dict)
    reads: dict[int, int] = field(default_factory=dict)
    raised: list[int] = field(default_factory=lambda: [0] * BARRIERS)
    operands: dict[tuple[int, int], int] = field(default_factory=dict)  #: position and register of the last fixed beat


def assigned(cfg: ReadWindowConfig, trace: Trace, places: Sequence[Placed]) -> Codes:
    """Codes that no reader is too early for; an operand is kept if the next fixed beat reads it at its position."""
    codes = Codes.blank(trace.records)
    starts = trace.warp_start.tolist()
    index, execute = trace.instruction.tolist(), trace.execute.tolist()
    for start, end in pairwise(starts):
        warp = _Warp()
        for record in range(start, end):
            if execute[record]:
                place = places[index[record]]
                _issue(cfg, codes, record, trace.program[index[record]], place, warp)
                _keep(codes, record, place, warp)
            else:
                warp.last += 1
    return codes


def _issue(
    cfg: ReadWindowConfig, codes: Codes, record: int, static: StaticInstruction, place: Placed, warp: _Warp
) -> None:
    """Wait for what is needed, then note what comes."""
    sources = {one for group in place.groups for one in group}
    wait = _barriers(warp.writes, {*sources, *static.dests}) | _barriers(warp.reads, static.dests)
    at = max([warp.last + 1, *_earliest(cfg, place, sources, static.dests, warp)])
    at = max([at, *(warp.raised[b] + _SEEN for b in range(BARRIERS) if wait >> b & 1)])
    codes.wait[record] = wait
    if warp.last >= 0:
        codes.stall[record - 1] = at - warp.last
    for table in (warp.writes, warp.reads):
        for register in [one for one, barriers in table.items() if barriers & wait]:
            table[register] &= ~wait
    warp.last = at + (len(place.groups) - 1) * (2 if place.fixed else 1)
    if place.variable:
        _guard(codes, record, sources, static.dests, warp)
    else:
        warp.ready |= {register: warp.last + max(k - 1, 0) for k, register in enumerate(static.dests)}


def _earliest(
    cfg: ReadWindowConfig, place: Placed, sources: Iterable[int], dests: Iterable[int], warp: _Warp
) -> list[int]:
    """Ticks before which it must not issue, for the sake of fixed producers."""
    distance = cfg.variable_distance if place.variable else cfg.fixed_distance
    named = {*sources, *(dests if place.variable else ())}
    return [warp.ready[register] + distance for register in named if register in warp.ready]


def _barriers(table: dict[int, int], registers: Iterable[int]) -> int:
    mask = 0
    for register in registers:
        mask |= table.get(register, 0)
    return mask


def _guard(codes: Codes, record: int, sources: Iterable[int], dests: Sequence[int], warp: _Warp) -> None:
    """A dependence counter for the results, or for the sources of what has none."""
    barrier = warp.next_barrier
    warp.next_barrier = (barrier + 1) % BARRIERS
    warp.raised[barrier] = warp.last
    (codes.write_barrier if dests else codes.read_barrier)[record] = barrier
    for register in sources:
        warp.reads[register] = warp.reads.get(register, 0) | 1 << barrier
    for register in dests:
        warp.writes[register] = 1 << barrier
        warp.ready.pop(register, None)


def _keep(codes: Codes, record: int, place: Placed, warp: _Warp) -> None:
    """Mark the operands of the fixed beat before that this one reads at the same position."""
    if not place.fixed:
        return
    group, slots = place.groups[0], place.slots[0]
    mine = {(at, group[slots[at]]) for at in range(POSITIONS) if slots[at] != NOWHERE}
    for (at, _), other in ((key, warp.operands[key]) for key in mine & warp.operands.keys()):
        codes.reuse[other] |= 1 << at
    single = len(place.groups) == 1
    warp.operands = dict.fromkeys(mine, record) if single else {}
