"""Renamed kernels and generated programs under an interpreter that poisons what a new owner gets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.compiler.generated import graph
from tests.compiler.irregular import irregular
from tests.compiler.passes.owf.interpreter import wrong_reads
from tests.compiler.passes.regmutex.crowded import crowded
from tests.compiler.passes.regmutex.harness import KERNELS, kernel, registers_of, traced
from tests.compiler.passes.regmutex.test_soundness import records_of
from warpfile.compiler.model import Function
from warpfile.compiler.passes.owf.annotate import annotate, label, renamed, shown
from warpfile.compiler.passes.owf.choice import Sets
from warpfile.compiler.passes.owf.order import ordered
from warpfile.emulator.record import WarpRecords
from warpfile.schemes import find
from warpfile.spec.rewrite import RewriteError, original
from warpfile.spec.schemes.owf import OwfConfig
from warpfile.spec.trace import Trace


def config(**changes: Any) -> OwfConfig:
    cfg = find("owf").configuration("fermi_linear", **{"lanes": 1} | changes)
    assert isinstance(cfg, OwfConfig)
    return cfg


def renamed_program(function: Function, records: WarpRecords, private: int) -> tuple[Trace, bool]:
    """What a warp executed of a program, renamed; whether any register has another number."""
    trace = traced(function, records)
    names = ordered(function, registers_of(function)).names
    sets = Sets(private, max(0, trace.registers - private))
    return renamed(trace, names, sets), any(old != new for old, new in names.items())


def test_generated_programs_find_what_they_read() -> None:
    changed = 0
    for seed in range(150):
        code = crowded(seed)
        trace, differs = renamed_program(graph(code).function, records_of(code, bool(seed % 2)), 1 + seed % 9)
        changed += differs
        assert not wrong_reads(trace, 1 + seed % 9), seed
    assert changed > 50


def test_programs_with_any_control_flow_find_what_they_read() -> None:
    changed = 0
    for seed in range(150):
        execution = irregular(seed)
        trace, differs = renamed_program(execution.function, execution.records, 1 + seed % 5)
        changed += differs
        assert not wrong_reads(trace, 1 + seed % 5), seed
    assert changed > 50


def test_an_operand_that_stands_elsewhere_is_noticed() -> None:
    """R1 becomes R0 and R0 R1; one instruction then has its sources the other way round."""
    code = "MOV R1, 0x1\n    MOV R0, 0x2\n    IADD3 R2, R0, R1, RZ"
    trace, differs = renamed_program(graph(code).function, records_of(code, False), 1)
    assert differs and not wrong_reads(trace, 1)
    swapped = [replace(one, sources=one.sources[::-1]) if one.origin >= 0 else one for one in trace.program]
    assert wrong_reads(replace(trace, program=tuple(swapped)), 1)


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_bundled_kernels_find_what_they_read(name: str) -> None:
    trace = annotate(config(rows=32), kernel(name), None)
    assert not wrong_reads(trace, trace.descriptor["private_registers"])
    assert np.array_equal(original(trace).instruction, kernel(name).instruction)


def test_kernels_that_registers_limit_share_and_are_renamed() -> None:
    """R = 52, P = 6, T = 58, m = 4: one CTA of 208 places fits 256, and two that share take 232."""
    trace = annotate(config(rows=32), kernel("matmul_2mm"), None)
    assert trace.descriptor == {
        "private_registers": 6, "shared_registers": 46, "cta_warps": 4, "paired_warps": 8,
    }  # fmt: skip
    assert trace.before, "it names its registers in another order"


def test_a_launch_that_registers_do_not_limit_is_left_as_it_is() -> None:
    trace = annotate(config(rows=1024), kernel("chacha"), None)
    registers = config().allocated(trace.registers)
    assert trace.descriptor == {
        "private_registers": registers, "shared_registers": 0, "cta_warps": 1, "paired_warps": 0,
    }  # fmt: skip
    assert not trace.before


def test_with_a_seed_and_without_a_listing_numbers_stay() -> None:
    cfg, whole = config(rows=32), kernel("matmul_2mm")
    bare = replace(whole, listing="")
    assert not annotate(cfg, bare, None).before
    assert annotate(cfg, bare, None).descriptor == annotate(cfg, whole, None).descriptor
    found = [annotate(cfg, whole, seed) for seed in range(8)]
    assert not any(trace.before for trace in found)
    assert len({tuple(trace.descriptor.items()) for trace in found}) > 4


def test_the_label_names_what_the_descriptor_depends_on() -> None:
    assert label(config()) != label(config(private_percent=20)) != label(config(rows=32))


def test_two_registers_cannot_get_one_name() -> None:
    trace = kernel("chacha")
    with pytest.raises(RewriteError):
        renamed(trace, dict.fromkeys(range(4, 8), 4), Sets(1, trace.registers - 1))


def test_new_numbers_are_shown_by_offset() -> None:
    code = "\n    ".join(["MOV R39, 0x1", *(f"MOV R{number}, 0x1" for number in range(39))])
    lines = shown(graph(code).function, config(rows=16))
    assert lines[0].startswith("private 4, shared 36, ") and lines[0].endswith("; R39 as R0")
    assert lines[0x10] == "R0 as R1"
