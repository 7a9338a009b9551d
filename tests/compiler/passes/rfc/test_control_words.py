"""Suspension points beside what ptxas has scheduled: its control words say where hardware waits for a load.

An instruction waits for scoreboards; a load's result is counted on one of six. So ptxas lets one instruction wait for
several loads, where warps suspend before the first touch of each.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.compiler import judge
from tests.compiler.passes.rfc.test_suspend import touches
from warpfile.compiler import parse
from warpfile.compiler.cfg import Cfg, build_cfg
from warpfile.compiler.model import Function
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.passes.long_latency import is_long
from warpfile.compiler.passes.rfc.suspend import suspend_before
from warpfile.compiler.program import static_instruction

CUBINS = sorted((Path(__file__).parents[4] / "kernels").glob("*/kernel.cubin"))

pytestmark = pytest.mark.needs("nvdisasm")


def unwaited(cfg: Cfg) -> list[set[int]]:
    """Long-latency operations before every instruction that no control word has waited for on some path.

    An instruction's own wait is not counted. A wait for a scoreboard covers all that has been counted on it.
    """
    instructions = cfg.function.instructions
    ins: list[set[int]] = [set() for _ in cfg.blocks]
    before: list[set[int]] = [set() for _ in instructions]
    work = [block.index for block in cfg.blocks]
    while work:
        index = work.pop()
        state = ins[index]
        for at in cfg.blocks[index].instructions:
            before[at] = state
            state = {load for load in state if not waits(cfg.function, at, load)}
            if is_known(instructions[at].opcode) and is_long(static_instruction(instructions[at])):
                state.add(at)
        for target in [target for source, target in cfg.flow_edges if source == index]:
            if not state <= ins[target]:
                ins[target] = ins[target] | state
                work.append(target)
    return before


def waits(function: Function, at: int, load: int) -> bool:
    """Whether an instruction waits for the scoreboard that a load's result is counted on."""
    waiting, loading = function.instructions[at].control, function.instructions[load].control
    assert waiting is not None and loading is not None and loading.write_barrier is not None
    return bool(waiting.wait_mask >> loading.write_barrier & 1)


@cache
def scheduled(cubin: Path) -> list[Function]:
    """Functions of a cubin with their control words."""
    return list(parse(judge.run("-c", "-hex", str(cubin)), cubin.parent.name).functions.values())


def waiting_points(function: Function, before: list[set[int]]) -> set[int]:
    """Offsets of the instructions that wait for a long-latency operation that may be pending."""
    return {16 * at for at, loads in enumerate(before) if any(waits(function, at, load) for load in loads)}


@pytest.mark.parametrize("cubin", CUBINS, ids=lambda path: path.parent.name)
def test_a_point_where_ptxas_does_not_wait_comes_behind_a_wait(cubin: Path) -> None:
    for function in scheduled(cubin):
        program = [static_instruction(instruction) for instruction in function.instructions]
        before = unwaited(build_cfg(function))
        waiting = waiting_points(function, before)
        for offset in suspend_before(function) - waiting:
            # Several loads are counted on one of the six scoreboards, and the first wait was for all of them.
            assert not any(touches(program[offset // 16], program[load]) for load in before[offset // 16]), hex(offset)


def test_ptxas_waits_for_loads_where_warps_suspend() -> None:
    instructions = agreed = common = waited = 0
    for function in [function for cubin in CUBINS for function in scheduled(cubin)]:
        points = suspend_before(function)
        waiting = waiting_points(function, unwaited(build_cfg(function)))
        instructions += len(function.instructions)
        agreed += len(function.instructions) - len(points ^ waiting)
        common += len(points & waiting)
        waited += len(waiting)
    print(f"{agreed} of {instructions} instructions agree; {common} of {waited} waits are suspension points")
    assert agreed >= 0.9 * instructions
    assert common >= 0.95 * waited


def test_a_missing_wait_is_noticed() -> None:
    cubin = next(path for path in CUBINS if path.parent.name == "saxpy")
    for function in scheduled(cubin):
        program = [static_instruction(instruction) for instruction in function.instructions]
        before = unwaited(build_cfg(function))
        points = suspend_before(function)
        assert points == waiting_points(function, before) != set()
        assert all(any(touches(program[p // 16], program[load]) for load in before[p // 16]) for p in points)
