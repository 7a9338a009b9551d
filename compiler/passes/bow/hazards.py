"""Points where a warp may execute other lanes' code between two instructions of one lane.

Behind such a point the distance along a path says nothing about how far a window has moved. A warp is *torn* where its
lanes may be at different places; only there can it change from one group of lanes to another.
"""

from __future__ import annotations

from collections.abc import Iterable

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.divergence import Divergence
from warpfile.compiler.liveness import effects_of_guard, goes_anywhere, used
from warpfile.compiler.model import Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.operands import effects
from warpfile.compiler.regions import by_rejoin

#: Hazards wherever they are: the reference design counts them without asking who is there.
_ALWAYS = frozenset("CALL RET BSYNC BREAK WARPSYNC YIELD".split())
#: Where groups of lanes wait for each other, or stand back, if there are several.
_IN_TORN_CODE = frozenset("BAR NANOSLEEP".split())
_ENDS = ("EXIT", "KILL")


def hazard_points(cfg: Cfg, found: Divergence, any_progress: bool = False) -> frozenset[int]:
    """Instructions before whose operands a hazard lies.

    These are branches not proven uniform, calls, returns, partial EXITs, BSYNC, BREAK, WARPSYNC and YIELD, the first
    instruction of every torn block and of every block where lanes rejoin, barriers in torn blocks, and opaque opcodes,
    whose number of beats is not known. With ``any_progress`` it is every instruction of a torn block: independent
    thread scheduling may change to other lanes anywhere.
    """
    torn = torn_blocks(cfg, found)
    parting = [branch for branch in found.branches if not branch.is_uniform]
    points = {cfg.blocks[branch.block].end - 1 for branch in parting}
    points |= {cfg.blocks[branch.influence.rejoin].start for branch in parting if branch.influence.rejoin is not None}
    for block in cfg.blocks:
        if block.index in torn:
            points |= set(block.instructions) if any_progress else {block.start}
        for index in block.instructions:
            if _is_hazard(cfg.function.instructions[index], block.index in torn):
                points.add(index)
    return frozenset(points)


def torn_blocks(cfg: Cfg, found: Divergence) -> frozenset[int]:
    """Blocks that a part of a warp may execute while other lanes that have not exited are elsewhere.

    These are the influence regions of all branches not proven uniform; where lanes are not sure to meet again, all that
    control can reach behind. All blocks, if control comes from or goes to code that is not in the listing.
    """
    instructions = cfg.function.instructions
    if any(map(goes_anywhere, instructions)) or lost_returns(cfg):
        return frozenset(range(len(cfg.blocks)))
    parting = {branch.block: branch.influence for branch in found.branches if not branch.is_uniform}
    torn, starts = set[int](), set[int]()
    for regions, branches in by_rejoin(cfg, parting.values()):
        torn.update(regions.blocks)
        starts |= {side for branch in branches for side in branch.sides if branch.rejoin is None}
    parted = {cfg.blocks[block].end - 1 for block in parting}
    for index, instruction in enumerate(instructions):
        if index not in parted and _leaves_lanes_behind(instruction, found.divergent_in[index]):
            starts.add(cfg.block_of[index])
    torn |= _reachable(cfg, starts)
    while partial := {block for block in torn - starts if _has_break(cfg, block)}:
        starts |= partial
        torn |= _reachable(cfg, partial)
    return frozenset(torn)


def lost_returns(cfg: Cfg) -> frozenset[int]:
    """RET instructions of which no caller is known."""
    known = {source for source, _ in cfg.return_edges}
    lasts = {block.index: block.end - 1 for block in cfg.blocks if cfg.last(block).opcode == "RET"}
    return frozenset(index for block, index in lasts.items() if block not in known)


def _is_hazard(instruction: Instruction, is_torn: bool) -> bool:
    opcode = instruction.opcode
    if opcode in _ALWAYS or not is_known(opcode):
        return True
    return (opcode in _ENDS and instruction.is_conditional) or (opcode in _IN_TORN_CODE and is_torn)


def _leaves_lanes_behind(instruction: Instruction, divergent: int) -> bool:
    """Whether it parts lanes although it is no branch that :mod:`compiler.divergence` knows.

    A BSYNC or WARPSYNC whose guard differs between lanes is passed by some while others wait; so is a BSYNC by lanes
    that a BREAK has taken out of the group. BRA.DIV counts as uniform there, but its guard need not be, and a branch to
    the next instruction counts as none.
    """
    if instruction.opcode in ("BRA", "BREAK"):
        return bool(used(effects(instruction)) & divergent)
    return instruction.opcode in ("BSYNC", "WARPSYNC") and bool(used(effects_of_guard(instruction)) & divergent)


def _has_break(cfg: Cfg, block: int) -> bool:
    """In torn code a BREAK may take out some members of a group, which then do not wait for the others."""
    return any(cfg.function.instructions[index].opcode == "BREAK" for index in cfg.blocks[block].instructions)


def _reachable(cfg: Cfg, starts: Iterable[int]) -> set[int]:
    seen = set(starts)
    work = list(seen)
    while work:
        for target in cfg.flow_successors[work.pop()]:
            if target not in seen:
                seen.add(target)
                work.append(target)
    return seen
