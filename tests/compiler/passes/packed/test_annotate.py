"""What warps tell the register file: operands, streams, what is drawn, what is shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.compiler.passes.ltrf.harness import function_of, kernel
from tests.compiler.passes.packed.code import FIG_2_5, FIG_2_8, FIG_2_12, executed, reading
from warpfile.compiler.passes.packed.affinity import Edge
from warpfile.compiler.passes.packed.annotate import label, shown
from warpfile.compiler.passes.packed.metadata import pair_operands, side_operands
from warpfile.schemes import SCHEMES
from warpfile.spec.rewrite import original
from warpfile.spec.schemes.packed import LEFT, RIGHT, PackedConfig
from warpfile.spec.trace import Drain, Kind, Trace
from warpfile.spec.workload import prepare


def config(scheme: str, register_names: int = 64) -> PackedConfig:
    cfg = SCHEMES[scheme].configuration("tiny", register_names=register_names)
    assert isinstance(cfg, PackedConfig)
    return cfg


def told(cfg: PackedConfig, trace: Trace, seed: int | None = None) -> list[list[int]]:
    """Operands that each warp of an annotated trace begins with; a machine of this configuration takes the trace."""
    found = SCHEMES["corf" if cfg.allocation == "pairs" else "corf_plus"].annotated(cfg, trace, seed)
    prepare(cfg, replace(found, source="emulated"))  # these traces have no values, and need none
    operands = []
    for start, end in zip(found.warp_start[:-1], found.warp_start[1:], strict=True):
        statics = [found.program[index] for index in found.instruction[start:end]]
        inserted = [one.kind is Kind.SCHEME for one in statics]
        assert inserted == sorted(inserted, reverse=True) and any(inserted)
        assert all(one.drain is Drain.NONE for one in statics[: sum(inserted)])
        operands.append([one.operand for one in statics[: sum(inserted)]])
    assert np.array_equal(original(found).instruction, trace.instruction)
    return operands


def pairs_in(cfg: PackedConfig, operand: int) -> list[Edge]:
    """Pairs of an operand, as section 6 of docs/schemes/corf.md reads it."""
    size = cfg.operand_bits // 8
    registers = [operand >> size * place & (1 << size) - 1 for place in range(8)]
    assert operand < 1 << cfg.operand_bits
    return [(a, b) for a, b in zip(registers[::2], registers[1::2], strict=True) if a != b]


def sides_in(cfg: PackedConfig, operand: int) -> dict[int, int]:
    """Sides of an operand, likewise."""
    chunk = operand >> 52
    assert operand < 1 << cfg.operand_bits and chunk < cfg.chunks
    sides = {26 * chunk + place: operand >> 2 * place & 3 for place in range(26)}
    return {register: side for register, side in sides.items() if side}


@pytest.mark.parametrize("names", [32, 64, 256])
@pytest.mark.parametrize("listed", [True, False])
def test_warps_tell_the_pairs_of_the_papers_example(names: int, listed: bool) -> None:
    cfg = config("corf", names)
    for operands in told(cfg, executed(reading(FIG_2_5), listed=listed)):
        assert [pairs_in(cfg, one) for one in operands] == [[(1, 3), (2, 4)]]


@pytest.mark.parametrize("names", [32, 64, 256])
@pytest.mark.parametrize("listed", [True, False])
def test_warps_tell_the_sides_of_the_papers_examples(names: int, listed: bool) -> None:
    cfg = config("corf_plus", names)
    first = {1: RIGHT, 4: RIGHT, 5: RIGHT, 2: LEFT, 3: LEFT, 6: LEFT}
    for graph, wanted in ((FIG_2_8, first), (FIG_2_12, {2: RIGHT, 4: RIGHT, 3: LEFT, 5: LEFT})):
        for operands in told(cfg, executed(reading(graph), listed=listed)):
            assert [sides_in(cfg, one) for one in operands] == [wanted]


def test_operands_are_laid_out_as_the_page_says() -> None:
    cfg = config("corf", 64)
    assert pair_operands(cfg, [(1, 3), (2, 4)]) == (1 | 3 << 6 | 2 << 12 | 4 << 18,)
    many = [(k, k + 30) for k in range(10)]
    assert [pairs_in(cfg, one) for one in pair_operands(cfg, many)] == [many[:4], many[4:8], many[8:]]
    assert side_operands({0: 1, 25: 2, 60: 2}) == (1 | 2 << 50, 2 << 16 | 2 << 52)
    assert not pair_operands(cfg, []) and not side_operands({})


def test_the_listing_weighs_loops_and_the_stream_trips() -> None:
    code = """top:
        IADD3 R9, R2, R3, RZ
        @P0 BRA `(top)
        IADD3 R9, R3, R4, RZ
        IADD3 R9, R3, R4, RZ"""
    cfg = config("corf")
    for listed, pair in ((True, (2, 3)), (False, (3, 4))):
        assert pairs_in(cfg, told(cfg, executed(code, listed=listed))[0][0]) == [pair]


@pytest.mark.parametrize("scheme", ["corf", "corf_plus"])
def test_kernels_tell_what_is_shown(scheme: str) -> None:
    cfg, function = config(scheme, 128), function_of("calls")
    operands = told(cfg, kernel("calls"))
    assert len({tuple(one) for one in operands}) == 1
    if scheme == "corf":
        pairs = [pair for one in operands[0] for pair in pairs_in(cfg, one)]
        text = ", ".join(f"R{a} with R{b}" for a, b in sorted(pairs))
    else:
        sides = {register: side for one in operands[0] for register, side in sides_in(cfg, one).items()}
        names = [" ".join(f"R{one}" for one in sorted(sides) if sides[one] == side) for side in (RIGHT, LEFT)]
        text = "right {}, left {}".format(*names)
    assert shown(function, cfg) == {0: text}


@pytest.mark.parametrize("scheme", ["corf", "corf_plus"])
def test_nothing_is_told_where_nothing_is_read_together(scheme: str) -> None:
    cfg, trace = config(scheme), executed("MOV R2, R3")
    assert not SCHEMES[scheme].annotated(cfg, trace).inserted.any()
    assert not shown(function_of("saxpy"), config("first_fit"))
    assert SCHEMES["packing"].annotated(config("packing"), trace).records == trace.records


@pytest.mark.parametrize("scheme", ["corf", "corf_plus"])
def test_warps_draw_operands_that_contradict_each_other(scheme: str) -> None:
    cfg, trace = config(scheme), replace(kernel("bfs_step"), listing="")
    operands = told(cfg, trace, 3)
    assert len({tuple(one) for one in operands}) == len(operands)
    assert operands == told(cfg, trace, 3) != told(cfg, trace, 4)
    if scheme == "corf":
        pairs = [{pair for one in of_warp for pair in pairs_in(cfg, one)} for of_warp in operands]
        assert any(len({a for a, _ in some}) < len(some) for some in pairs)
        assert max(max(pair) for some in pairs for pair in some) < trace.registers
    else:
        sides = [sides_in(cfg, one) for of_warp in operands for one in of_warp]
        assert {side for one in sides for side in one.values()} == {1, 2, 3}
        assert len({one.get(2, 0) for one in sides}) == 4


def test_labels_tell_what_a_stream_holds_for() -> None:
    configurations = (config("corf", 64), config("corf", 32), config("corf_plus", 64))
    assert len({label(cfg) for cfg in configurations}) == 3
    found = SCHEMES["corf"].annotated(configurations[0], executed("NOP"))
    assert label(configurations[0]) in found.annotation
