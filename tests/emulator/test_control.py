"""Divergence, convergence and calls on small hand-written listings."""

from __future__ import annotations

import pytest

from tests.emulator.harness import LANE, run, words
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.warp import Warp

ALL = 0xFFFFFFFF


def masks_at(warp: Warp, offset: int) -> list[int]:
    """Execution masks of the records of one instruction."""
    records = warp.records
    return [records.execute[n] for n in range(len(records)) if records.instruction[n] == offset // 16]


def test_if_else_reconverges_once() -> None:
    code = """BSSY B0, `(join)
        @P0 BRA `(then)
        MOV R0, 0x1
        BRA `(sync)
        then:
        MOV R0, 0x2
        sync:
        BSYNC B0
        join:
        IADD3 R1, R0, 0x1, RZ"""
    warp = run(code, predicates={0: 0xFF00FF00})
    assert warp.registers[1].tolist() == [3 if lane // 8 % 2 else 2 for lane in range(32)]
    assert masks_at(warp, 0x60) == [ALL]
    assert sorted(masks_at(warp, 0x50)) == [0x00FF00FF, 0xFF00FF00]


def test_nested_ifs_use_their_own_barriers() -> None:
    code = """BSSY B0, `(outer)
        @P0 BRA `(outer_sync)
        BSSY B1, `(inner)
        @P1 BRA `(inner_sync)
        IADD3 R0, R0, 0x1, RZ
        inner_sync:
        BSYNC B1
        inner:
        IADD3 R0, R0, 0x10, RZ
        outer_sync:
        BSYNC B0
        outer:
        IADD3 R0, R0, 0x100, RZ"""
    warp = run(code, predicates={0: 0x0000FFFF, 1: 0x00FF00FF})
    expected = [0x100] * 16 + [0x110] * 8 + [0x111] * 8
    assert warp.registers[0].tolist() == expected
    assert masks_at(warp, 0x60) == [0xFFFF0000]
    assert masks_at(warp, 0x80) == [ALL]


def test_both_halves_may_use_one_barrier_at_the_same_time() -> None:
    code = """@P0 BRA `(right)
        BSSY B1, `(left_join)
        @P1 BRA `(left_sync)
        IADD3 R0, R0, 0x1, RZ
        left_sync:
        BSYNC B1
        left_join:
        IADD3 R0, R0, 0x10, RZ
        BRA `(end)
        right:
        BSSY B1, `(right_join)
        @P1 BRA `(right_sync)
        IADD3 R0, R0, 0x2, RZ
        right_sync:
        BSYNC B1
        right_join:
        IADD3 R0, R0, 0x20, RZ
        end:
        NOP"""
    warp = run(code, predicates={0: 0xFFFF0000, 1: 0x00FF00FF})
    assert warp.registers[0].tolist() == [0x10] * 8 + [0x11] * 8 + [0x20] * 8 + [0x22] * 8
    assert masks_at(warp, 0x50) == [0x0000FFFF]
    assert masks_at(warp, 0xB0) == [0xFFFF0000]


def test_loop_with_break_leaves_early() -> None:
    code = """BSSY B0, `(join)
        again:
        IADD3 R0, R0, 0x1, RZ
        ISETP.EQ.AND P0, PT, R0, R3, PT
        @P0 BREAK B0
        @P0 BRA `(out)
        ISETP.LT.AND P1, PT, R0, R2, PT
        @P1 BRA `(again)
        BSYNC B0
        join:
        IADD3 R1, R1, 0x1, RZ
        out:
        IADD3 R4, R4, 0x1, RZ"""
    # lane n loops n % 4 + 1 times unless it breaks in its second round
    warp = run(code, {2: LANE % 4 + 1, 3: words(2)})
    assert warp.registers[0].tolist() == [min(lane % 4 + 1, 2) for lane in range(32)]
    assert warp.registers[1].tolist() == [1 if lane % 4 == 0 else 0 for lane in range(32)]
    assert warp.registers[4].tolist() == [1] * 32


def test_lanes_that_exit_are_not_waited_for() -> None:
    code = """BSSY B0, `(join)
        @P0 BRA `(sync)
        @P1 EXIT
        MOV R0, 0x7
        sync:
        BSYNC B0
        join:
        IADD3 R0, R0, 0x1, RZ"""
    warp = run(code, predicates={0: 0x0000FFFF, 1: 0xFF000000})
    assert warp.registers[0].tolist() == [1] * 16 + [8] * 8 + [0] * 8
    assert masks_at(warp, 0x50) == [0x00FFFFFF]
    assert warp.records.live[-1] == 0x00FFFFFF


def test_all_lanes_may_exit_by_a_guard() -> None:
    warp = run("@P0 EXIT\nMOV R0, 0x1", predicates={0: ALL})
    assert len(warp.records) == 1
    assert warp.registers[0][0] == 0


def test_empty_execution_mask_is_recorded() -> None:
    warp = run("@!PT MOV R0, 0x1")
    assert warp.records.execute[0] == 0
    assert warp.records.value_row[0] == -1
    assert warp.records.active[0] == ALL


def test_partial_warp_runs_its_lanes_only() -> None:
    warp = run("MOV R0, 0x1", live=0x1F)
    assert warp.registers[0].tolist() == [1] * 5 + [0] * 27


def test_branch_with_a_second_predicate() -> None:
    code = "@P0 BRA P1, `(skip)\nMOV R0, 0x1\nskip:\nNOP"
    warp = run(code, predicates={0: 0b0011, 1: 0b0101})
    assert warp.registers[0][:4].tolist() == [0, 1, 1, 1]


def test_warpsync_joins_diverged_lanes() -> None:
    code = """@P0 BRA `(other)
        MOV R0, 0x1
        BRA `(meet)
        other:
        MOV R0, 0x2
        meet:
        WARPSYNC 0xffffffff
        VOTE.ANY R1, PT, PT"""
    warp = run(code, predicates={0: 0xFF})
    assert warp.registers[1].tolist() == [ALL] * 32


def test_masks_that_exclude_one_another_go_one_after_the_other() -> None:
    """The sums over lanes of each parity, of lanes that execute alone until they meet."""
    code = """BSSY B0, `(meet)
        WARPSYNC.EXCLUSIVE R2
        REDUX.SUM.S32 UR4, R3
        MOV R0, UR4
        meet:
        BSYNC B0
        VOTE.ANY R1, PT, PT"""
    masks = [(0x55555555, 0xAAAAAAAA)[lane & 1] for lane in range(32)]
    warp = run(code, {2: words(*masks), 3: words(*range(32))})
    assert warp.registers[0].tolist() == [sum(range(0, 32, 2)), sum(range(1, 32, 2))] * 16
    assert warp.registers[1].tolist() == [ALL] * 32


def test_divergence_tests() -> None:
    code = """BRA.DIV `(diverged)
        MOV R0, 0x1
        @P0 EXIT
        BRA.CONV `(end)
        diverged:
        MOV R0, 0x9
        end:
        NOP"""
    assert run(code, predicates={0: 1}).registers[0][5] == 1


def test_divergence_is_of_the_lanes_that_a_mask_names() -> None:
    code = """UMOV UR4, 0xff
        @P0 EXIT
        @P1 BRA `(low)
        BRA.DIV UR4, `(other)
        MOV R0, 0x1
        other:
        EXIT
        low:
        BRA.CONV UR4, `(end)
        MOV R0, 0x9
        end:
        NOP"""
    found = run(code, predicates={0: 0xF0, 1: 0x0F}).registers[0]
    assert found.tolist() == [0] * 32  # lanes 0 to 3 are what is left of the mask, and the others saw them elsewhere


def test_kinds_of_convergence_barriers_are_one() -> None:
    code = """BSSY.RECONVERGENT B0, `(sync)
        BSSY.RELIABLE B1, `(sync)
        @P0 BREAK.RELIABLE B1
        @P0 BRA `(sync)
        BSYNC.RELIABLE B1
        sync:
        BSYNC.RECONVERGENT B0
        VOTE.ANY R1, PT, PT"""
    assert run(code, predicates={0: 0xFF}).registers[1].tolist() == [ALL] * 32


def test_spinning_lanes_let_the_others_go_on() -> None:
    # lane 0 waits until another lane has stored to shared memory
    code = """@P0 BRA `(spin)
        MOV R2, 0x1
        STS [RZ], R2
        BRA `(end)
        spin:
        LDS R3, [RZ]
        ISETP.EQ.AND P1, PT, R3, RZ, PT
        @P1 BRA `(spin)
        end:
        NOP"""
    assert run(code, predicates={0: 1}).registers[3][0] == 1
    assert run(code.replace("@P0", "@!P0"), predicates={0: 0xFFFFFFFE}).registers[3][0] == 1


def test_runaway_warp_is_stopped() -> None:
    with pytest.raises(ExecutionError, match="instruction limit exceeded at 0x0010"):
        run("here:\nNOP\nBRA `(here)", limit=1000)


def test_lanes_waiting_for_each_other_are_a_deadlock() -> None:
    code = """@P0 BRA `(other)
        BAR.SYNC 0x0
        BRA `(end)
        other:
        NOP
        BAR.SYNC 0x0
        end:
        NOP"""
    with pytest.raises(ExecutionError, match="deadlock, lanes wait at 0x0010, 0x0040"):
        run(code, predicates={0: 1})


def test_barrier_is_recorded_once_for_a_diverged_warp() -> None:
    code = """@P0 BRA `(meet)
        MOV R0, 0x1
        meet:
        BAR.SYNC 0x0"""
    assert masks_at(run(code, predicates={0: 0xFF}), 0x20) == [ALL]


def test_barrier_survives_in_a_register() -> None:
    code = """BSSY B6, `(join)
        BMOV.32.CLEAR R5, B6
        BMOV.32 B6, R5
        @P0 BRA `(sync)
        MOV R0, 0x1
        sync:
        BSYNC B6
        join:
        VOTE.ANY R1, PT, PT"""
    warp = run(code, predicates={0: 0xF})
    assert warp.registers[5].tolist() == [ALL] * 32
    assert warp.registers[1].tolist() == [ALL] * 32
