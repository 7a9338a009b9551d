"""The equations of the analyses read literally, without any thought for time: what the fast ones must equal."""

from __future__ import annotations

import networkx as nx

from warpfile.compiler.cfg import STEP, Cfg, build_cfg
from warpfile.compiler.divergence import VECTOR, Divergence, _conditions, _step
from warpfile.compiler.dominance import EXIT_NODE
from warpfile.compiler.liveness import EVERYTHING, Liveness, defined
from warpfile.compiler.model import Function, Instruction, Label, Name
from warpfile.compiler.operands import effects
from warpfile.compiler.passes.bow.static import REGISTER_FILE, WINDOW, _steps, _Walk
from warpfile.compiler.passes.long_latency import touches
from warpfile.compiler.passes.rfc.suspend import _long_operations, _suspends
from warpfile.compiler.reaching import may_define
from warpfile.compiler.reconvergence import Influence


def region(cfg: Cfg, side: int, rejoin: int | None) -> frozenset[int]:
    seen: set[int] = set()
    work, called = [side], dict(cfg.call_edges)
    while work:
        block = work.pop()
        if block not in seen and block != rejoin:
            seen.add(block)
            work += [*cfg.successors[block], *([called[block]] if block in called else [])]
    return frozenset(seen)


def regions(cfg: Cfg, branch: Influence) -> list[frozenset[int]]:
    if not branch.sides:
        return [frozenset(range(len(cfg.blocks)))]
    return [region(cfg, side, branch.rejoin) for side in branch.sides]


def reconvergence_points(cfg: Cfg) -> list[int | None]:
    """The nearest block on the chain of post-dominators that a BSYNC in force leads to."""
    graph = nx.DiGraph()
    graph.add_nodes_from([*range(len(cfg.blocks)), EXIT_NODE])
    graph.add_edges_from((target, source) for source, target in cfg.edges)
    for block in cfg.blocks:
        if not cfg.successors[block.index] or (cfg.last(block).opcode == "RET" and cfg.last(block).is_guarded):
            graph.add_edge(EXIT_NODE, block.index)
    above = nx.immediate_dominators(graph, EXIT_NODE)
    found: list[int | None] = []
    for block, in_force in zip(cfg.blocks, barriers(cfg), strict=True):
        candidates = {place for name, place in in_force.items() if _only_behind(cfg, name, place)}
        place = above.get(block.index, EXIT_NODE)
        while place is not None and place != EXIT_NODE and place not in candidates:
            place = above.get(place, EXIT_NODE)
        found.append(None if place == EXIT_NODE else place)
    return found


def _only_behind(cfg: Cfg, barrier: str, place: int) -> bool:
    lasts = [cfg.last(cfg.blocks[source]) for source in cfg.predecessors[place]]
    return all(last.opcode == "BSYNC" and last.operands[:1] == (Name(barrier),) for last in lasts)


def barriers(cfg: Cfg) -> list[dict[str, int]]:
    """Barriers in force behind every block, all blocks over and over again."""
    outs: list[dict[str, int] | None] = [None] * len(cfg.blocks)
    entries, changed = set(cfg.entries.values()), True
    while changed:
        changed = False
        for block in cfg.blocks:
            known = [out for source in cfg.predecessors[block.index] if (out := outs[source]) is not None]
            if block.index not in entries and not known:
                continue
            state = {} if block.index in entries else dict(known[0])
            for other in known[1:] if state else ():
                state = {name: place for name, place in state.items() if other.get(name) == place}
            for at in block.instructions:
                _update(cfg, state, cfg.function.instructions[at])
            if state != outs[block.index]:
                outs[block.index], changed = state, True
    return [out or {} for out in outs]


def _update(cfg: Cfg, state: dict[str, int], instruction: Instruction) -> None:
    names = [operand.text for operand in instruction.operands if isinstance(operand, Name)]
    if not names or instruction.opcode not in ("BSSY", "BSYNC", "BREAK", "BMOV"):
        return
    place = instruction.operands[-1]
    if instruction.opcode == "BSSY" and isinstance(place, Label) and place.offset // STEP < len(cfg.block_of):
        state[names[0]] = cfg.block_of[place.offset // STEP]
    elif instruction.opcode != "BREAK" or not instruction.is_guarded:
        state.pop(names[0], None)


def divergent(cfg: Cfg, branches: list[Influence]) -> tuple[tuple[int, ...], set[int]]:
    """Divergent registers before every instruction, and divergent branches: solved again for every set of branches."""
    parting: set[int] = set()
    while True:
        before = _solved(cfg, [one for one in branches if one.block in parting])
        found = {b.block for b in branches if _conditions(cfg, b.block) & before[cfg.blocks[b.block].end - 1]}
        if found <= parting:
            return before, parting
        parting |= found


def _solved(cfg: Cfg, parting: list[Influence]) -> tuple[int, ...]:
    ins, torn = [0] * len(cfg.blocks), set[int]()
    for branch in parting:
        sides = regions(cfg, branch)
        everywhere = frozenset().union(*sides)
        if branch.rejoin is None:
            torn |= everywhere
            continue
        changed = 0
        for block in everywhere:
            for index in cfg.blocks[block].instructions:
                changed |= may_define(cfg.function.instructions[index]) & VECTOR
        for block in {one for one in everywhere if sum(one in side for side in sides) > 1} | {branch.rejoin}:
            ins[block] |= changed
    for entry in {0} | set(range(len(cfg.blocks))) - {target for _, target in cfg.flow_edges}:
        ins[entry] = EVERYTHING & VECTOR
    before, again = [0] * len(cfg.function.instructions), True
    while again:
        again = False
        for block in cfg.blocks:
            state = ins[block.index]
            for index in block.instructions:
                step, before[index] = _step(cfg.function.instructions[index]), state
                varies = block.index in torn or step.varies or bool(step.depends & state)
                state = state & ~step.kills | (step.defines if varies else 0)
            for source, target in cfg.flow_edges:
                if source == block.index and state & ~ins[target]:
                    ins[target] |= state
                    again = True
    return tuple(before)


def kept(cfg: Cfg, live: Liveness, found: Divergence, any_progress: bool) -> list[int]:
    """By block, what lanes that wait elsewhere need."""
    extra = [0] * len(cfg.blocks)
    for branch in (one.influence for one in found.branches if not one.is_uniform):
        sides = regions(cfg, branch)
        needs = [live.live_in[cfg.blocks[side].start] for side in branch.sides]
        for number, inside in enumerate(sides if any_progress and branch.sides else ()):
            for block in inside:
                for index in cfg.blocks[block].instructions:
                    needs[number] |= live.live_in[index]
        for number, inside in enumerate(sides):
            others = 0 if branch.rejoin is None else live.live_in[cfg.blocks[branch.rejoin].start]
            for other, registers in enumerate(needs):
                others |= registers if other != number else 0
            for block in inside:
                extra[block] |= others if branch.sides else EVERYTHING
    return extra


def suspends(function: Function) -> frozenset[int]:
    """Suspensions with every long operation by itself."""
    cfg, instructions = build_cfg(function), function.instructions
    results = {index: defined(effects(instructions[index])) for index in _long_operations(function)}
    touched = [{load for load in results if results[load] & touches(one)} for one in instructions]
    ins: list[set[int]] = [set() for _ in cfg.blocks]
    pending: list[set[int]] = [set() for _ in instructions]
    again = True
    while again:
        again = False
        for block in cfg.blocks:
            state = set(ins[block.index])
            for index in block.instructions:
                pending[index] = set(state)
                state = (state - touched[index]) | ({index} & results.keys())
            for source, target in cfg.flow_edges:
                if source == block.index and state - ins[target]:
                    ins[target] |= state
                    again = True
    return frozenset(
        one.offset for index, one in enumerate(instructions) if _suspends(one, bool(pending[index] & touched[index]))
    )


def write_classes(function: Function, window: int) -> dict[int, int]:
    """Write classes with every path walked to its end."""
    steps = tuple(_steps(build_cfg(function), 3, False))
    walk = _Walk(steps, [0] * len(steps), window)
    found = {}
    for index, instruction in enumerate(function.instructions):
        step = steps[index]
        one = (REGISTER_FILE if step.is_guarded else 0) | (WINDOW | REGISTER_FILE if step.lost else 0)
        for register in step.writes:
            one |= _chain(walk, index, register) if step.live >> register & 1 else 0
        if step.writes:
            found[instruction.offset] = one
    return found


def _chain(walk: _Walk, index: int, register: int) -> int:
    found, seen = 0, set[tuple[int, int]]()
    work = [(successor, min(1, walk.window)) for successor in walk.steps[index].successors]
    while work:
        state = work.pop()
        if state not in seen:
            seen.add(state)
            asked, onward = walk._access(walk.steps[state[0]], register, state[1])
            found |= asked
            if onward is not None:
                work += [(successor, min(onward, walk.window)) for successor in walk.steps[state[0]].successors]
    return found
