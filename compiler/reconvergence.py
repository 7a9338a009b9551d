"""Where the lanes of a divergent branch meet again, and what runs in between."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial

from warpfile.compiler.cfg import STEP, Cfg
from warpfile.compiler.dominance import Ancestry, post_dominators
from warpfile.compiler.liveness import goes_anywhere
from warpfile.compiler.model import Instruction, Label, Name
from warpfile.compiler.worklist import Worklist, postorder

_ENDS = ("EXIT", "KILL", "RET")
Barriers = dict[str, int]  #: convergence barrier -> block that its BSYNC leads to


@dataclass(frozen=True)
class Influence:
    """What a branch decides: its ``sides`` and the block where they ``rejoin`` (None: never).

    ``region(s) = blocks reachable from a side s without passing the rejoin block``, over a routine's own edges, with
    all blocks of the routines called on the way (:mod:`compiler.regions`). A branch whose targets are not known has no
    sides, and one region of all blocks.
    """

    block: int
    sides: tuple[int, ...]
    rejoin: int | None


def influence(cfg: Cfg, joins: tuple[int | None, ...], block: int) -> Influence:
    """Influence of the branch that ends a block; ``joins`` are those of :func:`reconvergence_points`."""
    last = cfg.last(cfg.blocks[block])
    if goes_anywhere(last):
        return Influence(block, (), None)
    adjacent = cfg.flow_successors if last.opcode in ("RET", "CALL") else cfg.successors
    rejoin = joins[block] if last.opcode in ("BRA", "BRX") else None
    return Influence(block, tuple(dict.fromkeys(adjacent[block])), rejoin)


def reconvergence_points(cfg: Cfg) -> tuple[int | None, ...]:
    """For every block, where lanes that its last instruction separates meet again.

    That is the nearest post-dominator that a BSYNC leads to whose BSSY is in force at the block on all paths. Lanes
    that EXIT under a guard need not meet. Without such a BSYNC the hardware promises no meeting: None.
    """
    above = _post_dominators(cfg)
    ancestry, is_only_behind = Ancestry(above), cache(partial(_only_behind, cfg))
    found: list[int | None] = []
    for block, in_force in zip(cfg.blocks, _barriers(cfg), strict=True):
        candidates = {place for name, place in in_force.items() if is_only_behind(name, place)}
        meeting = [place for place in candidates if place in above and ancestry.dominates(place, block.index)]
        proper = [place for place in meeting if place != block.index]
        found.append(max(proper, key=ancestry.order, default=None))
    return tuple(found)


def _only_behind(cfg: Cfg, barrier: str, place: int) -> bool:
    """Whether a block is entered over the barrier's BSYNC only."""
    lasts = [cfg.last(cfg.blocks[source]) for source in cfg.predecessors[place]]
    return all(last.opcode == "BSYNC" and last.operands[:1] == (Name(barrier),) for last in lasts)


def _post_dominators(cfg: Cfg) -> dict[int, int]:
    lasts = ((block.index, cfg.last(block)) for block in cfg.blocks)
    returns = {index for index, last in lasts if last.opcode == "RET" and last.is_conditional}
    return post_dominators(cfg, returns | {b.index for b in cfg.blocks if not cfg.successors[b.index]})


def _barriers(cfg: Cfg) -> list[Barriers]:
    """Barriers in force behind every block: forward, and only what all predecessors agree on.

    ``out = (intersection of out of the predecessors) updated by the block's instructions``, greatest solution.
    """
    outs: list[Barriers | None] = [None] * len(cfg.blocks)
    entries = set(cfg.entries.values())
    work = Worklist(postorder(cfg.successors)[::-1], entries)
    while work:
        index = work.pop()
        known = [out for source in cfg.predecessors[index] if (out := outs[source]) is not None]
        state: Barriers = {} if index in entries or not known else dict(known[0])
        for other in known[1:]:
            state = {name: place for name, place in state.items() if other.get(name) == place}
        for at in cfg.blocks[index].instructions:
            _update(cfg, state, cfg.function.instructions[at])
        if state != outs[index]:
            outs[index] = state
            for target in cfg.successors[index]:
                work.push(target)
    return [out or {} for out in outs]


def _update(cfg: Cfg, state: Barriers, instruction: Instruction) -> None:
    names = [operand.text for operand in instruction.operands if isinstance(operand, Name)]
    if not names or instruction.opcode not in ("BSSY", "BSYNC", "BREAK", "BMOV"):
        return
    place = instruction.operands[-1]
    in_force = instruction.opcode == "BSSY" and not instruction.is_conditional
    if in_force and isinstance(place, Label) and place.offset // STEP < len(cfg.block_of):
        state[names[0]] = cfg.block_of[place.offset // STEP]
    elif instruction.opcode != "BREAK" or not instruction.is_conditional:
        state.pop(names[0], None)
