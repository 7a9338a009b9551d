"""Random structured programs as PTX, what each thread computes, and how a stack of post-dominators runs them.

A program is a list of statements: ``("add", d, a, b)`` and the like, ``("if", r, bit, then, else)``,
``("loop", r, body)`` with 1 to 4 rounds by the low bits of a register, and ``("break", r, bit)`` and
``("continue", r, bit)`` of the innermost loop.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import networkx

from warpfile.compiler.cfg import Cfg

REGISTERS = 5
Statement = tuple[Any, ...]
Way = list[bool]  #: by executed conditional branch, whether a lane takes it
_OPERATIONS: dict[str, tuple[str, Callable[[int, int], int]]] = {
    "add": ("add.s32", lambda a, b: a + b),
    "xor": ("xor.b32", lambda a, b: a ^ b),
    "mul": ("mul.lo.s32", lambda a, b: a * b),
    "sub": ("sub.s32", lambda a, b: a - b),
}


class _Left(Exception):
    """A lane leaves a loop, or goes on with its next round."""


def random_program(rng: random.Random, depth: int = 3, in_loop: bool = False) -> list[Statement]:
    """Two to four statements, at most so deep."""
    return [_statement(rng, depth, in_loop) for _ in range(rng.randrange(2, 5))]


def _statement(rng: random.Random, depth: int, in_loop: bool) -> Statement:
    register = rng.randrange(REGISTERS)
    kind = rng.random()
    if in_loop and kind < 0.2:
        return rng.choice(("break", "continue")), register, rng.randrange(4)
    if depth and kind < 0.45:
        sides = [random_program(rng, depth - 1, in_loop), rng.choice([[], random_program(rng, depth - 1, in_loop)])]
        return "if", register, rng.randrange(4), *sides
    if depth and kind < 0.65:
        return "loop", register, random_program(rng, depth - 1, True)
    return rng.choice(sorted(_OPERATIONS)), register, rng.randrange(REGISTERS), rng.randrange(REGISTERS)


def run(program: Sequence[Statement], registers: list[int], way: Way) -> None:
    """What one lane does: ``registers`` change, the branches that it meets are added to ``way``."""
    for kind, register, *rest in program:
        if kind in _OPERATIONS:
            a, b = (registers[one] for one in rest)
            registers[register] = _OPERATIONS[kind][1](a, b) & 0xFFFFFFFF
        elif kind == "loop":
            _rounds(rest[0], registers, way, 1 + (registers[register] & 3))
        else:
            is_set = bool(registers[register] >> rest[0] & 1)
            way.append(is_set if kind != "if" else not is_set)
            if kind == "if":
                run(rest[1] if is_set else rest[2], registers, way)
            elif is_set:
                raise _Left(kind)


def _rounds(body: Sequence[Statement], registers: list[int], way: Way, rounds: int) -> None:
    for left in range(rounds - 1, -1, -1):
        try:
            run(body, registers, way)
        except _Left as how:
            if str(how) == "break":
                return
        way.append(left > 0)


def ptx(program: Sequence[Statement]) -> str:
    """A kernel ``made`` that begins with registers made of the thread's number, and stores their sum."""
    numbers = count()
    body = [f"mad.lo.s32 %r{at}, %tid, {2 * at + 3}, {7 * at};" for at in range(REGISTERS)]
    body += _lines(program, numbers, "", "")
    total = [f"add.s32 %sum, %sum, %r{at};" for at in range(REGISTERS)]
    declared = f".reg .pred %p<{next(numbers)}>; .reg .b32 %r<{REGISTERS}>, %n<{next(numbers)}>, %tid, %sum, %t;"
    lines = [
        *(".version 9.0", ".visible .entry made(.param .u64 made_param_0)", "{", declared, ".reg .b64 %out, %at;"),
        *("ld.param.u64 %out, [made_param_0];", "mov.u32 %tid, %tid.x;", *body, "mov.u32 %sum, 0;", *total),
        *("mul.wide.s32 %at, %tid, 4;", "add.s64 %out, %out, %at;", "st.global.u32 [%out], %sum;", "ret;", "}"),
    ]
    return "\n".join(lines)


def _lines(program: Sequence[Statement], numbers: Iterator[int], out: str, again: str) -> Iterator[str]:
    for kind, register, *rest in program:
        if kind in _OPERATIONS:
            yield f"{_OPERATIONS[kind][0]} %r{register}, %r{rest[0]}, %r{rest[1]};"
        elif kind == "loop":
            yield from _loop(register, rest[0], numbers)
        else:
            number = next(numbers)
            yield from (f"and.b32 %t, %r{register}, {1 << rest[0]};",)
            yield f"setp.{'eq' if kind == 'if' else 'ne'}.s32 %p{number}, %t, 0;"
            yield f"@%p{number} bra {f'E{number}' if kind == 'if' else out if kind == 'break' else again};"
            if kind == "if":
                yield from _lines(rest[1], numbers, out, again)
                yield from ([f"bra.uni F{number};", f"E{number}:"] if rest[2] else [f"E{number}:"])
                yield from _lines(rest[2], numbers, out, again)
                yield from ([f"F{number}:"] if rest[2] else [])


def _loop(register: int, body: Sequence[Statement], numbers: Iterator[int]) -> Iterator[str]:
    number = next(numbers)
    yield from (f"and.b32 %n{number}, %r{register}, 3;", f"H{number}:")
    yield from _lines(body, numbers, f"O{number}", f"C{number}")
    yield from (f"C{number}:", f"setp.ne.s32 %p{number}, %n{number}, 0;", f"add.s32 %n{number}, %n{number}, -1;")
    yield from (f"@%p{number} bra H{number};", f"O{number}:")


def on_a_stack(cfg: Cfg, ways: Mapping[int, Way]) -> int:
    """Instructions that a warp executes whose lanes meet at immediate post-dominators (W. Fung and others, MICRO 2007).

    ``cfg`` is of the code without convergence barriers; ``ways`` are by lane.
    """
    graph = networkx.DiGraph([(target, source) for source, target in cfg.edges])
    (end,) = (block.index for block in cfg.blocks if not cfg.successors[block.index])
    above = networkx.immediate_dominators(graph, end) if graph else {}
    left = {lane: deque(way) for lane, way in ways.items()}
    stack: list[tuple[int, int, list[int]]] = [(0, -1, sorted(ways))]
    executed = 0
    while stack:
        block, rejoin, lanes = stack.pop()
        if block == rejoin or not lanes:
            continue
        executed += len(cfg.blocks[block].instructions)
        last = cfg.last(cfg.blocks[block])
        targets = cfg.successors[block]
        if not (last.opcode == "BRA" and last.is_conditional):
            stack += [(targets[0], rejoin, lanes)] if targets else []
            continue
        taken = [lane for lane in lanes if left[lane].popleft()]
        others = [lane for lane in lanes if lane not in taken]
        place = above[block]
        stack += [(place, rejoin, lanes), (targets[-1], place, others), (targets[0], place, taken)]
    assert not any(left.values())
    return executed
