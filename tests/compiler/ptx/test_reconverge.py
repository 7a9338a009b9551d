"""Lanes meet where a stack of immediate post-dominators lets them meet."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from tests.compiler.ptx.structured import REGISTERS, Statement, Way, on_a_stack, ptx, random_program, run
from warpfile.compiler import Listing
from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.ptx import listing as made
from warpfile.emulator.arguments import Argument
from warpfile.emulator.launch import Launch
from warpfile.emulator.run import Result, execute

LANES = 32
SEEDS = range(24)
BARRIERS = ("BSSY", "BSYNC")


def results(program: list[Statement]) -> tuple[np.ndarray, dict[int, Way]]:
    """What each lane stores, and its ways at branches."""
    sums, ways = [], dict[int, Way]()
    for lane in range(LANES):
        registers = [(2 * at + 3) * lane + 7 * at for at in range(REGISTERS)]
        run(program, registers, ways.setdefault(lane, []))
        sums.append(sum(registers) & 0xFFFFFFFF)
    return np.array(sums, dtype=np.uint32), ways


def executed(listing: Listing, expect: np.ndarray) -> Result:
    buffer = Argument("out", "buffer", init=np.zeros(LANES, dtype=np.uint32), expect=expect)
    function = listing.function("made")
    launch = Launch(Path("made.toml"), listing, function, (1, 1, 1), (LANES, 1, 1), 0, 0, (buffer,))
    return execute(launch)


def count(result: Result) -> int:
    """Warp instructions but those of barriers."""
    opcodes = [one.opcode for one in result.trace.program]
    return sum(opcodes[index] not in BARRIERS for index in result.trace.instruction.tolist())


def without_barriers(text: str, monkeypatch: pytest.MonkeyPatch) -> Listing:
    with monkeypatch.context() as patch:
        patch.setattr(made, "meetings", lambda cfg, parting: [])
        return made.allocated(text, "made")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_warp_executes_as_much_as_on_a_stack(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or less, where lanes that left a round of a loop early come to one instruction before they must meet."""
    program = random_program(random.Random(seed))
    text = ptx(program)
    expect, ways = results(program)
    result = executed(made.allocated(text, "made"), expect)
    assert all(one.ok for one in result.expectations), result.expectations
    plain = without_barriers(text, monkeypatch)
    found, stacked = count(result), on_a_stack(build_cfg(plain.function("made")), ways)
    assert found <= stacked
    assert found == stacked or "break" in repr(program) or "continue" in repr(program)


def test_without_barriers_the_same_programs_execute_more(monkeypatch: pytest.MonkeyPatch) -> None:
    more = 0
    for seed in SEEDS:
        program = random_program(random.Random(seed))
        plain = without_barriers(ptx(program), monkeypatch)
        expect, ways = results(program)
        result = executed(plain, expect)
        assert all(one.ok for one in result.expectations)
        more += count(result) > on_a_stack(build_cfg(plain.function("made")), ways)
    assert more > len(SEEDS) // 3


def opcodes(program: list[Statement]) -> list[str]:
    listing = made.allocated(ptx(program), "made")
    return [one.opcode for one in listing.function("made").instructions]


def test_a_branch_has_its_group_before_it_and_a_loop_in_front_of_it() -> None:
    branch = opcodes([("if", 0, 1, [("add", 1, 2, 3)], [])])
    assert branch.index("BSSY") + 1 == branch.index("BRA") < branch.index("BSYNC")
    loop = opcodes([("loop", 0, [("add", 1, 2, 3)])])
    assert loop.count("BSSY") == 1 and loop.index("BSSY") < loop.index("IADD3") < loop.index("BRA") < loop.index(
        "BSYNC"
    )


def test_a_branch_that_is_proven_uniform_has_none() -> None:
    text = ptx([("if", 0, 1, [("add", 1, 2, 3)], [])]).replace("mov.u32 %tid, %tid.x", "mov.u32 %tid, %ctaid.x")
    found = [one.opcode for one in made.allocated(text, "made").function("made").instructions]
    assert "BRA" in found and not set(BARRIERS) & set(found)


def test_nesting_that_needs_more_barriers_than_there_are_is_refused() -> None:
    program: list[Statement] = [("add", 1, 2, 3)]
    for _ in range(17):
        program = [("if", 0, 1, program, []), ("add", 1, 2, 3)]
    with pytest.raises(ValueError, match="made: branches must be nested at most 16 deep"):
        made.allocated(ptx(program), "made")


def test_a_loop_that_is_entered_by_a_conditional_branch_from_where_lanes_meet_is_refused() -> None:
    """Lanes of the inner round meet behind its branch, from where some go back to the same head."""
    text = ptx([("loop", 0, [("if", 1, 0, [("add", 1, 2, 3)], [])])])
    assert "\nE1:" in text and "\nH0:" in text
    with pytest.raises(ValueError, match="made: loops must not be entered by conditional branches"):
        made.allocated(text.replace("bra E1", "bra H0"), "made")
