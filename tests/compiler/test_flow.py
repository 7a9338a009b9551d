"""Loops and reaching definitions against their definitions on generated control flow."""

from __future__ import annotations

from hypothesis import given, settings

from tests.compiler.generated import REGISTERS, graph, next_instructions, programs
from warpfile.compiler.cfg import Cfg
from warpfile.compiler.liveness import Transfer, transfer
from warpfile.compiler.loops import loop_depth, natural_loops
from warpfile.compiler.reaching import may_define, reaching_definitions


def reached(cfg: Cfg, start: int, without: int | None = None) -> set[int]:
    seen: set[int] = set()
    work = [start] if start != without else []
    while work:
        block = work.pop()
        if block not in seen:
            seen.add(block)
            work += [target for target in cfg.successors[block] if target != without]
    return seen


@settings(max_examples=100, deadline=None)
@given(programs())
def test_loops_are_what_walking_back_from_their_latches_finds(code: str) -> None:
    cfg = graph(code)
    everything = reached(cfg, 0)
    found = {loop.header: loop for loop in natural_loops(cfg)}
    wanted: dict[int, set[int]] = {}
    for source, header in cfg.edges:
        if source in everything and source not in reached(cfg, 0, without=header):
            inside = {block for block in everything if source in reached(cfg, block, without=header)}
            wanted.setdefault(header, {header}).update(inside | {source})
    assert {header: set(loop.blocks) for header, loop in found.items()} == wanted


def test_nested_loops_have_their_depths() -> None:
    code = "outer:\nNOP\ninner:\n@P0 BRA `(inner)\n@P1 BRA `(outer)"
    cfg = graph(code)
    loops = natural_loops(cfg)
    assert [(loop.header, sorted(loop.blocks)) for loop in loops] == [(0, [0, 1, 2]), (1, [1])]
    assert [loop_depth(loops, block) for block in range(4)] == [1, 2, 1, 0]


def test_a_cycle_with_two_entries_is_no_natural_loop() -> None:
    cfg = graph("@P0 BRA `(b)\na:\nNOP\nb:\n@P1 BRA `(a)")
    assert natural_loops(cfg) == ()


def arrives(definition: int, register: int, point: int, follow: list[list[int]], steps: list[Transfer]) -> bool:
    """Definition: some path leads from behind the definition to the point without another sure definition."""
    seen: set[int] = set()
    work = list(follow[definition])
    while work:
        index = work.pop()
        if index == point:
            return True
        if index not in seen:
            seen.add(index)
            if not steps[index].kills >> register & 1:
                work += follow[index]
    return False


@settings(max_examples=100, deadline=None)
@given(programs())
def test_reaching_definitions_are_what_walking_the_paths_finds(code: str) -> None:
    cfg = graph(code)
    instructions = cfg.function.instructions
    found, follow = reaching_definitions(cfg), next_instructions(cfg)
    steps = [transfer(instruction) for instruction in instructions]
    for point in range(len(instructions)):
        for register in (one for one in range(2, 2 + REGISTERS) if steps[point].uses >> one & 1):
            sources = [i for i, instruction in enumerate(instructions) if may_define(instruction) >> register & 1]
            wanted = tuple(index for index in sources if arrives(index, register, point, follow, steps))
            assert found.of(point, register) == wanted


def test_guarded_definition_lets_the_older_one_through() -> None:
    found = reaching_definitions(graph("MOV R2, 0x1\n@P0 MOV R2, 0x2\nMOV R3, R2"))
    assert found.of(2, 2) == (0, 1)


def test_an_unknown_callee_may_define_everything() -> None:
    found = reaching_definitions(graph("MOV R2, 0x1\nCALL.ABS.NOINC R4\nMOV R3, R2"))
    assert found.of(2, 2) == (0, 1)


def test_definitions_in_a_callee_reach_behind_the_call() -> None:
    code = """MOV R2, 0x1
        CALL.REL.NOINC `(sub)
        MOV R3, R2
        EXIT
        sub:
        MOV R2, 0x2
        RET.REL.NODEC R8 `(k)"""
    assert reaching_definitions(graph(code)).of(2, 2) == (4,)
