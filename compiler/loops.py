"""Natural loops of a control-flow graph."""

from __future__ import annotations

from dataclasses import dataclass

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.dominance import Ancestry, immediate_dominators


@dataclass(frozen=True)
class Loop:
    """All natural loops with one header. ``latches`` are the sources of the edges back to it."""

    header: int
    blocks: frozenset[int]
    latches: tuple[int, ...]


def natural_loops(cfg: Cfg) -> tuple[Loop, ...]:
    """Loops by header, ascending.

    An edge u -> h is a back edge iff h dominates u. ``blocks = {h} | {b : b reaches a latch without passing h}``, among
    those that the routine's start reaches. Cycles that may be entered at several places have no back edge and are no
    natural loops.
    """
    dominators = immediate_dominators(cfg)
    ancestry = Ancestry(dominators)
    latches: dict[int, list[int]] = {}
    for source, target in cfg.edges:
        if source in dominators and ancestry.dominates(target, source):
            latches.setdefault(target, []).append(source)
    return tuple(
        Loop(header, _body(cfg, header, latches[header]) & dominators.keys(), tuple(latches[header]))
        for header in sorted(latches)
    )


def loop_depth(loops: tuple[Loop, ...], block: int) -> int:
    """How many loops a block is in."""
    return sum(block in loop.blocks for loop in loops)


def _body(cfg: Cfg, header: int, latches: list[int]) -> frozenset[int]:
    body, work = {header}, list(latches)
    while work:
        block = work.pop()
        if block not in body:
            body.add(block)
            work.extend(cfg.predecessors[block])
    return frozenset(body)
