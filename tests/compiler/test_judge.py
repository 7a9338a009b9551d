"""Control flow and life ranges equal those of nvdisasm on every bundled kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compiler import judge
from warpfile.compiler import load_listing
from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.liveness import (
    defined,
    general_registers,
    liveness,
    predicates,
    uniform_predicates,
    uniform_registers,
    used,
)
from warpfile.compiler.operands import effects

CUBINS = sorted((Path(__file__).parents[2] / "kernels").glob("*/kernel.cubin"))
CLASSES = {"GPR": general_registers, "PRED": predicates, "UGPR": uniform_registers, "UPRED": uniform_predicates}

pytestmark = pytest.mark.needs("nvdisasm")


@pytest.mark.parametrize("cubin", CUBINS, ids=lambda path: path.parent.name)
def test_blocks_and_edges(cubin: Path) -> None:
    wanted = judge.edges(cubin)
    assert wanted
    for function in load_listing(cubin.with_suffix(".sass")).functions.values():
        cfg = build_cfg(function)
        found: dict[str, set[tuple[int, int]]] = {}
        for block in (block for block in cfg.blocks if block.index not in cfg.padding):
            targets = [16 * cfg.blocks[target].start for target in cfg.successors[block.index]] or [-1]
            found.setdefault(block.routine, set()).update((16 * block.start, target) for target in targets)
        for routine, pairs in found.items():
            assert pairs == wanted[routine], routine


@pytest.mark.parametrize("cubin", CUBINS, ids=lambda path: path.parent.name)
def test_life_ranges(cubin: Path) -> None:
    """Exclusions: around calls nvdisasm marks every register, for P2R and R2P it marks no predicate at all;
    instructions that nothing reaches.
    """
    listing = load_listing(cubin.with_suffix(".sass"))
    rows = list(judge.life_ranges(cubin))
    assert rows
    for name, function in listing.functions.items():
        cfg = build_cfg(function)
        found, reachable = liveness(cfg), cfg.reachable()
        opcodes = {instruction.opcode for instruction in function.instructions}
        has_calls = "CALL" in opcodes
        classes = {kind: CLASSES[kind] for kind in CLASSES if kind != "PRED" or not opcodes & {"P2R", "R2P"}}
        for row in (row for row in rows if row.function == name):
            index = row.offset // 16
            instruction = function.instructions[index]
            if cfg.block_of[index] not in reachable or instruction.opcode == "CALL":
                continue
            own = effects(instruction)
            live = found.live_in[index] | found.live_out[index] | defined(own)
            for kind, members in classes.items():
                marks = row.marks.get(kind, {})
                where = f"{row.offset:#06x} {instruction.text} {kind}"
                assert {n for n, mark in marks.items() if mark in "^x"} == set(members(defined(own))), where
                assert {n for n, mark in marks.items() if mark in "vx"} == set(members(used(own))), where
                if not has_calls:
                    assert set(marks) == set(members(live)), where
