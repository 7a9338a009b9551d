"""Where a warp may run in parts, against what executed warps did."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.compiler.generated import graph, structured
from tests.compiler.irregular import irregular
from tests.emulator.harness import run
from warpfile.compiler.cfg import Cfg, build_cfg
from warpfile.compiler.divergence import divergence
from warpfile.compiler.passes.bow.hazards import hazard_points, torn_blocks
from warpfile.emulator.record import WarpRecords


def parted(cfg: Cfg, records: WarpRecords, torn: frozenset[int]) -> list[int]:
    """Instructions outside of torn blocks that a part of the live lanes executed."""
    rows = zip(records.instruction, records.active, records.live, strict=True)
    return [index for index, active, live in rows if active != live and cfg.block_of[index] not in torn]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(structured())
def test_outside_of_torn_blocks_a_warp_is_whole(code: str) -> None:
    cfg = graph(code)
    assert parted(cfg, run(code, live=0xFFFF).records, torn_blocks(cfg, divergence(cfg))) == []


@pytest.mark.parametrize("start", range(0, 400, 100))
def test_outside_of_torn_blocks_a_warp_is_whole_whatever_the_control_flow(start: int) -> None:
    whole = 0
    for seed in range(start, start + 100):
        execution = irregular(seed)
        cfg = build_cfg(execution.function)
        torn = torn_blocks(cfg, divergence(cfg))
        assert parted(cfg, execution.records, torn) == [], seed
        whole += any(block.index not in torn for block in cfg.blocks)
    assert whole > 50, "the property must not hold because everything is torn"


def test_the_property_fails_if_nothing_is_torn() -> None:
    execution = irregular(next(seed for seed in range(20) if _diverges(seed)))
    assert parted(build_cfg(execution.function), execution.records, frozenset()) != []


def _diverges(seed: int) -> bool:
    records = irregular(seed).records
    return any(active != live for active, live in zip(records.active, records.live, strict=True))


DIVERGENT = "ISETP.LT.AND P0, PT, R0, 0x4, PT\n"
SYNCED = f"""{DIVERGENT}BSSY B0, `(behind)
    @P0 BRA `(end)
    NOP
    end:
    BSYNC B0
    behind:
    MOV R2, 0x1"""


def torn_instructions(code: str) -> set[int]:
    cfg = graph(code)
    torn = torn_blocks(cfg, divergence(cfg))
    return {index for index, block in enumerate(cfg.block_of) if block in torn}


def test_lanes_are_together_again_behind_a_bsync() -> None:
    assert torn_instructions(SYNCED) == {3, 4}


def test_without_a_bsync_they_stay_apart() -> None:
    assert torn_instructions(SYNCED.replace("BSYNC B0", "NOP")) == {3, 4, 5, 6}


def test_a_uniform_branch_tears_nothing() -> None:
    assert torn_instructions(SYNCED.replace("R0", "UR4")) == set()


@pytest.mark.parametrize(
    "part", ["@P0 BSYNC B0", "@P0 WARPSYNC 0xffffffff", "@P0 BREAK B0", "@P0 BRA.DIV UR4, `(next)"]
)
def test_a_guard_may_part_lanes_that_meet_no_more(part: str) -> None:
    assert torn_instructions(f"{DIVERGENT}{part}\nnext:\nNOP") >= {1, 2}
    assert torn_instructions(f"{DIVERGENT.replace('R0', 'UR4')}{part}\nnext:\nNOP") == set()


def test_a_branch_to_the_next_instruction_parts_lanes() -> None:
    assert torn_instructions(f"{DIVERGENT}@P0 BRA `(next)\nnext:\nNOP") >= {2}


def test_a_break_on_one_side_lets_lanes_pass_the_bsync() -> None:
    assert 6 in torn_instructions(SYNCED.replace("NOP", "BREAK B0"))


def test_lanes_may_return_from_a_callee_at_different_times() -> None:
    code = f"""{DIVERGENT}CALL.REL.NOINC `(sub)
        NOP
        EXIT
        sub:
        @P0 BRA `(leave)
        NOP
        leave:
        RET.REL.NODEC R8 `(k)"""
    assert torn_instructions(code) >= {2, 5, 6}


def test_code_that_is_not_listed_may_tear_everything() -> None:
    assert torn_instructions("NOP\nCALL.ABS.NOINC R4\nNOP") == {0, 1, 2, 3}


def test_hazards_of_a_branch_are_its_own_place_its_blocks_and_where_lanes_rejoin() -> None:
    cfg = graph(SYNCED)
    found = divergence(cfg)
    assert hazard_points(cfg, found) == {2, 3, 4, 5}
