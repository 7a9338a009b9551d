"""Liveness and dominance against their definitions on generated control flow."""

from __future__ import annotations

from hypothesis import given, settings

from tests.compiler.generated import REGISTERS, graph, next_instructions, programs
from warpfile.compiler.dominance import EXIT_NODE, Ancestry, immediate_dominators, immediate_post_dominators
from warpfile.compiler.liveness import Transfer, general_registers, liveness, transfer


def live_by_walking(register: int, start: int, follow: list[list[int]], steps: list[Transfer]) -> bool:
    """Definition: some path from ``start`` uses the register before anything kills it."""
    seen, work = set(), [start]
    while work:
        index = work.pop()
        if index in seen:
            continue
        seen.add(index)
        if steps[index].uses >> register & 1:
            return True
        if not steps[index].kills >> register & 1:
            work += follow[index]
    return False


@settings(max_examples=150, deadline=None)
@given(programs())
def test_liveness_is_what_walking_the_paths_finds(code: str) -> None:
    cfg = graph(code)
    found, follow = liveness(cfg), next_instructions(cfg)
    steps = [transfer(instruction) for instruction in cfg.function.instructions]
    for index in range(len(steps)):
        for register in (1, *range(2, 2 + REGISTERS)):
            assert (found.live_in[index] >> register & 1) == live_by_walking(register, index, follow, steps)
            behind = any(live_by_walking(register, target, follow, steps) for target in follow[index])
            assert (found.live_out[index] >> register & 1) == behind


def reached(start: int, adjacent: dict[int, list[int]], without: int) -> set[int]:
    seen: set[int] = set()
    work = [start] if start != without else []
    while work:
        node = work.pop()
        if node not in seen:
            seen.add(node)
            work += [target for target in adjacent.get(node, []) if target != without]
    return seen


@settings(max_examples=100, deadline=None)
@given(programs())
def test_dominators_are_what_cutting_a_block_finds(code: str) -> None:
    cfg = graph(code)
    forward: dict[int, list[int]] = {block.index: list(cfg.successors[block.index]) for block in cfg.blocks}
    backward: dict[int, list[int]] = {block.index: list(cfg.predecessors[block.index]) for block in cfg.blocks}
    backward[EXIT_NODE] = [b.index for b in cfg.blocks if cfg.last(b).opcode == "EXIT"]
    for start, adjacent, found in (
        (0, forward, immediate_dominators(cfg)),
        (EXIT_NODE, backward, immediate_post_dominators(cfg) | {EXIT_NODE: EXIT_NODE}),
    ):
        everything = reached(start, adjacent, without=-2)
        assert set(found) == everything
        for cut in everything:
            hidden = everything - reached(start, adjacent, without=cut)
            assert hidden == {block for block in everything if Ancestry(found).dominates(cut, block)}


def test_guarded_definition_is_no_kill() -> None:
    found = liveness(graph("@P0 IADD3 R2, R3, 0x1, RZ\nIADD3 R4, R2, 0x1, RZ"))
    assert general_registers(found.live_in[0]) == (1, 2, 3)


def test_values_are_followed_through_calls() -> None:
    code = """MOV R8, 0x20
        CALL.REL.NOINC `(sub)
        IADD3 R3, R2, R5, RZ
        EXIT
        sub:
        IADD3 R2, R4, 0x1, RZ
        RET.REL.NODEC R8 `(k)"""
    listing = graph(code).function
    assert listing.labels["sub"] == 0x40
    found = liveness(graph(code))
    # R5 is needed behind the call, R4 inside of the callee, R2 is made by the callee
    assert {4, 5} <= set(general_registers(found.live_out[1]))
    assert 2 not in general_registers(found.live_out[0])


def test_unknown_opcode_uses_what_it_names() -> None:
    found = liveness(graph("FUTURE R0, R4"))
    assert set(range(0, 8)) <= set(general_registers(found.live_in[0]))
