"""Where the lanes of a divergent branch meet again, and what runs in between."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx

from warpfile.compiler.cfg import STEP, Cfg
from warpfile.compiler.dominance import EXIT_NODE
from warpfile.compiler.liveness import goes_anywhere
from warpfile.compiler.model import Instruction, Label, Name

_ENDS = ("EXIT", "KILL", "RET")
Barriers = dict[str, int]  #: convergence barrier -> block that its BSYNC leads to


@dataclass(frozen=True)
class Influence:
    """What a branch decides: its ``sides``, the block where they ``rejoin`` (None: never), and each side's blocks.

    A branch whose targets are not known has no sides, and one region of all blocks.
    """

    block: int
    sides: tuple[int, ...]
    rejoin: int | None
    regions: tuple[frozenset[int], ...]

    @property
    def region(self) -> frozenset[int]:
        """Blocks of all sides."""
        return frozenset().union(*self.regions)


def influence(cfg: Cfg, joins: tuple[int | None, ...], block: int) -> Influence:
    """Influence region of the branch that ends a block; ``joins`` are those of :func:`rejoins`.

    ``region(s) = blocks reachable from s without passing the rejoin block``, over a routine's own edges, with all
    blocks of the routines called on the way.
    """
    last = cfg.last(cfg.blocks[block])
    if goes_anywhere(last):
        return Influence(block, (), None, (frozenset(range(len(cfg.blocks))),))
    sides = tuple(dict.fromkeys(cfg.successors[block]))
    if last.opcode in ("RET", "CALL"):
        sides = tuple(dict.fromkeys(target for source, target in cfg.flow_edges if source == block))
    rejoin = joins[block] if last.opcode in ("BRA", "BRX") else None
    return Influence(block, sides, rejoin, tuple(_region(cfg, side, rejoin) for side in sides))


def rejoins(cfg: Cfg) -> tuple[int | None, ...]:
    """For every block, where lanes that its last instruction separates meet again.

    That is the nearest post-dominator that a BSYNC leads to whose BSSY is in force at the block on all paths. Lanes
    that EXIT under a guard need not meet. Without such a BSYNC the hardware promises no meeting: None.
    """
    above = _post_dominators(cfg)
    barriers = _barriers(cfg)
    found: list[int | None] = []
    for block in cfg.blocks:
        in_force = barriers[block.index].items()
        candidates = {place for name, place in in_force if _only_behind(cfg, name, place)}
        place = above.get(block.index, EXIT_NODE)
        while place != EXIT_NODE and place not in candidates:
            place = above.get(place, EXIT_NODE)
        found.append(None if place == EXIT_NODE else place)
    return tuple(found)


def _only_behind(cfg: Cfg, barrier: str, place: int) -> bool:
    """Whether a block is entered over the barrier's BSYNC only."""
    lasts = [cfg.last(cfg.blocks[source]) for source in cfg.predecessors[place]]
    return all(last.opcode == "BSYNC" and last.operands[:1] == (Name(barrier),) for last in lasts)


def _post_dominators(cfg: Cfg) -> dict[int, int]:
    graph = nx.DiGraph()
    graph.add_nodes_from([*range(len(cfg.blocks)), EXIT_NODE])
    graph.add_edges_from((target, source) for source, target in cfg.edges)
    for block in cfg.blocks:
        if not cfg.successors[block.index] or (cfg.last(block).opcode == "RET" and cfg.last(block).is_conditional):
            graph.add_edge(EXIT_NODE, block.index)
    above: dict[int, int] = nx.immediate_dominators(graph, EXIT_NODE)
    return above


def _barriers(cfg: Cfg) -> list[Barriers]:
    """Barriers in force behind every block: forward, and only what all predecessors agree on.

    ``out = (intersection of out of the predecessors) updated by the block's instructions``, greatest solution.
    """
    outs: list[Barriers | None] = [None] * len(cfg.blocks)
    entries, work = set(cfg.entries.values()), sorted(cfg.entries.values())
    while work:
        index = work.pop(0)
        known = [out for source in cfg.predecessors[index] if (out := outs[source]) is not None]
        state: Barriers = {} if index in entries or not known else dict(known[0])
        for other in known[1:]:
            state = {name: place for name, place in state.items() if other.get(name) == place}
        for at in cfg.blocks[index].instructions:
            _update(cfg, state, cfg.function.instructions[at])
        if state != outs[index]:
            outs[index] = state
            work.extend(cfg.successors[index])
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


def _region(cfg: Cfg, side: int, rejoin: int | None) -> frozenset[int]:
    seen: set[int] = set()
    work = [side]
    called = dict(cfg.call_edges)
    instructions = cfg.function.instructions
    while work:
        block = work.pop()
        if block in seen or block == rejoin:
            continue
        seen.add(block)
        work.extend(cfg.successors[block])
        if block in called:
            work.append(called[block])
        if any(instructions[index].is_indirect_call for index in cfg.blocks[block].instructions):
            work.extend(cfg.entries.values())
    return frozenset(seen)
