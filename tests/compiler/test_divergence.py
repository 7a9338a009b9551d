"""Divergence and per-warp liveness against what executed warps really do, on generated structured programs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import pytest
from hypothesis import given, settings

from tests.compiler.generated import graph, structured
from tests.emulator.harness import run
from warpfile.compiler import divergence as module
from warpfile.compiler.cfg import Cfg
from warpfile.compiler.divergence import VECTOR, divergence
from warpfile.compiler.liveness import general_registers, liveness
from warpfile.compiler.warp_liveness import warp_liveness
from warpfile.emulator.lanes import indices_of
from warpfile.emulator.warp import Warp

FEW = settings(max_examples=60, deadline=None)


@dataclass(frozen=True)
class Step:
    """One executed record, and where every other live lane is at that moment."""

    index: int
    active: int
    parked: dict[int, int]  #: lane -> instruction it executes next


def steps_of(warp: Warp) -> list[Step]:
    """The records with the places of parked lanes: where each will be active next."""
    records = warp.records
    upcoming: dict[int, int] = {}
    result: list[Step] = []
    for number in reversed(range(len(records))):
        active = records.active[number]
        parked = {lane: place for lane, place in upcoming.items() if not active >> lane & 1}
        result.append(Step(records.instruction[number], active, parked))
        for lane in indices_of(active).tolist():
            upcoming[lane] = records.instruction[number]
    return result[::-1]


def executed(code: str, live: int = 0xFFFF) -> tuple[Cfg, Warp]:
    return graph(code), run(code, live=live)


def mixed_branches(cfg: Cfg, warp: Warp) -> set[int]:
    """Blocks whose last instruction sent active lanes different ways."""
    found = set()
    trail: dict[int, int] = {}
    for step in reversed(steps_of(warp)):
        lanes = indices_of(step.active).tolist()
        block = cfg.blocks[cfg.block_of[step.index]]
        parted = len({trail[lane] for lane in lanes if lane in trail}) > 1
        if parted and step.index == block.end - 1 and cfg.last(block).opcode == "BRA":
            found.add(block.index)
        trail |= dict.fromkeys(lanes, step.index)
    return found


@FEW
@given(structured())
def test_branches_proven_uniform_never_part_lanes(code: str) -> None:
    cfg, warp = executed(code)
    uniform = {branch.block for branch in divergence(cfg).branches if branch.is_uniform}
    assert not uniform & mixed_branches(cfg, warp)


def broken_values(cfg: Cfg, warp: Warp) -> list[tuple[int, int]]:
    """Instructions and general registers proven uniform there that differed between the active lanes."""
    found, rows = divergence(cfg), warp.store.values.table
    values: dict[int, list[int]] = {}
    wrong = []
    for number, step in enumerate(steps_of(warp)):
        lanes = indices_of(step.active).tolist()
        for register in general_registers(VECTOR & ~found.divergent_in[step.index]):
            if register in values and len({values[register][lane] for lane in lanes}) > 1:
                wrong.append((step.index, register))
        row = warp.records.value_row[number]
        if row >= 0:
            destination = cfg.function.instructions[step.index].operands[0]
            values[destination.number] = rows[row].tolist()  # type: ignore[union-attr]
    return wrong


@FEW
@given(structured())
def test_registers_proven_uniform_are_equal_in_all_active_lanes(code: str) -> None:
    cfg, warp = executed(code)
    assert broken_values(cfg, warp) == []


@FEW
@given(structured())
def test_parked_lanes_find_their_registers_in_the_live_set_of_the_warp(code: str) -> None:
    cfg, warp = executed(code)
    live = liveness(cfg)
    for relaxed in (False, True):
        kept = warp_liveness(cfg, live, divergence(cfg), any_progress=relaxed)
        for step in steps_of(warp):
            for place in set(step.parked.values()):
                missing = live.live_in[place] & ~kept.live_in[step.index] & VECTOR
                assert not missing, (step.index, place, general_registers(missing))
        assert all(a & b == a for a, b in zip(live.live_in, kept.live_in, strict=True))


IF_ELSE = """S2R R0, SR_LANEID
    ISETP.LT.AND P0, PT, R0, 0x4, PT
    BSSY B0, `(behind)
    @P0 BRA `(other)
    IADD3 R2, R3, 0x1, RZ
    BRA `(end)
    other:
    IADD3 R2, R4, 0x2, RZ
    end:
    BSYNC B0
    behind:
    IADD3 R5, R2, R6, RZ
    ISETP.LT.AND P1, PT, R2, 0x1, PT
    @P1 BRA `(last)
    NOP
    last:
    STG.E.SYS [R8], R5"""


def test_both_sides_keep_what_the_other_one_and_the_join_need() -> None:
    cfg = graph(IF_ELSE)
    live = liveness(cfg)
    kept = warp_liveness(cfg, live, divergence(cfg))
    # R4 is used on the other side only, R2 is made on either side and used at the join
    assert {2, 4} & set(general_registers(live.live_in[4])) == set()
    assert {2, 4} <= set(general_registers(kept.live_in[4]))
    assert {2, 3} <= set(general_registers(kept.live_in[6]))
    assert kept.live_in[9:12] == live.live_in[9:12]


def test_a_value_of_two_sides_is_divergent_at_the_join_only() -> None:
    constants = IF_ELSE.replace("R3, 0x1", "RZ, 0x1").replace("R4, 0x2", "RZ, 0x2")
    found = divergence(graph(constants))
    inside, behind = found.divergent_in[5], found.divergent_in[9]
    assert (inside >> 2 & 1, behind >> 2 & 1) == (0, 1)
    assert [branch.is_uniform for branch in found.branches] == [False, False]


LOOP = """S2R R0, SR_LANEID
    MOV R2, R0
    BSSY B0, `(behind)
    MOV R3, RZ
    top:
    IADD3 R2, R2, R0, RZ
    ISETP.LT.AND P0, PT, R2, 0x9, PT
    @!P0 BRA `(end)
    IADD3 R3, R3, 0x1, RZ
    ISETP.LT.AND P1, PT, R3, 0x3, PT
    @P1 BRA `(top)
    end:
    BSYNC B0
    behind:
    IADD3 R4, R3, 0x1, RZ"""


def test_a_counter_is_divergent_where_lanes_leave_the_loop_at_different_turns() -> None:
    cfg, warp = executed(LOOP)
    found = divergence(cfg)
    assert [found.divergent_in[index] >> 3 & 1 for index in (4, 7, 9, 10, 11)] == [0, 0, 0, 1, 1]
    assert broken_values(cfg, warp) == []


def test_branch_without_bsync_never_rejoins() -> None:
    code = IF_ELSE.replace("BSSY B0, `(behind)", "NOP").replace("BSYNC B0", "NOP")
    first, *_ = divergence(graph(code)).branches
    assert (first.is_uniform, first.influence.rejoin) == (False, None)


def test_a_way_around_the_bsync_is_no_rejoin() -> None:
    code = IF_ELSE.replace("BRA `(end)", "BRA `(behind)")
    first, *_ = divergence(graph(code)).branches
    assert first.influence.rejoin is None


@pytest.mark.parametrize(
    ("define", "is_uniform"),
    [
        ("MOV R2, c[0x0][0x160]", True),
        ("S2R R2, SR_CTAID.X", True),
        ("S2R R2, SR_TID.X", False),
        ("CS2R R2, SR_CLOCKLO", False),
        ("MOV R2, UR4", True),
        ("VOTE.ANY R2, PT, P0", True),
        ("LDC R2, c[0x3][R1]", True),
        ("LDC R2, c[0x3][R7]", False),
        ("LDG.E.SYS R2, [UR4]", False),
        ("LDG.E.CONSTANT.SYS R2, [UR4]", True),
        ("LDG.E.CONSTANT.SYS R2, [R6]", False),
        ("LDL R2, [R1]", False),
        ("SHFL.IDX PT, R2, R1, RZ, 0x1f", False),
        ("ATOMG.E.ADD.STRONG.GPU PT, R2, [UR4], R1", False),
        ("FUTURE R2, R1", False),
        ("@P0 MOV R2, RZ", False),
        ("IMAD R2, R1, R1, c[0x0][0x4]", True),
        ("IMAD R2, R1, R7, RZ", False),
        ("S2R R2, SR_CgaCtaId", True),
        ("REDUX.SUM UR4, R7\nMOV R2, UR4", True),
        ("ELECT P2, UR4, PT\nSEL R2, R1, RZ, P2", False),
    ],
)
def test_sources(define: str, is_uniform: bool) -> None:
    code = f"""MOV R1, c[0x0][0x28]
        MOV R2, RZ
        {define}
        ISETP.LT.AND P1, PT, R2, 0x1, PT
        @P1 BRA `(last)
        NOP
        last:
        NOP"""
    (branch,) = divergence(graph(code)).branches
    assert branch.is_uniform == is_uniform


def test_an_analysis_that_forgets_the_join_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Negative control of the properties above: without the rule for joins they fail on this program."""
    code = IF_ELSE.replace("R3, 0x1", "RZ, 0x1").replace("R4, 0x2", "RZ, -0x2")
    code = code.replace("STG.E.SYS [R8], R5", "NOP")
    cfg, warp = executed(code)
    assert broken_values(cfg, warp) == []

    monkeypatch.setattr(module._Solver, "_part", lambda solver, branch: None)
    cfg = dataclasses.replace(cfg)
    assert broken_values(cfg, warp) != []
    assert mixed_branches(cfg, warp) & {b.block for b in divergence(cfg).branches if b.is_uniform}
