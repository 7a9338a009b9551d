"""Traces of short programs and kernels, and the pass at a chosen base set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.compiler.passes.malekeh.test_exact import trace_of
from tests.sm import whole
from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.model import Function
from warpfile.compiler.passes.regmutex.apply import applied
from warpfile.compiler.passes.regmutex.choice import Limits
from warpfile.compiler.passes.regmutex.static import Plan, planned
from warpfile.compiler.program import static_instructions
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.record import WarpRecords
from warpfile.emulator.run import execute
from warpfile.spec.presets import PRESETS
from warpfile.spec.schemes.regmutex import RegMutexConfig
from warpfile.spec.trace import Trace

KERNELS = {path.parent.name: path.parent for path in (Path(__file__).parents[4] / "kernels").glob("*/launch.toml")}
PLENTY = Limits(48, 4096, unit=4)


def config(preset: str = "fermi_linear", **changes: Any) -> RegMutexConfig:
    """Of the preset's whole SM, as the paper has it."""
    values = PRESETS[preset].config.to_json() | whole(preset) | changes
    return RegMutexConfig(**RegMutexConfig.adapted(values))  # type: ignore[arg-type]


@cache
def kernel(name: str, setting: str = "launch") -> Trace:
    return execute(load_kernel(KERNELS[name], setting)).trace


def traced(function: Function, *warps: WarpRecords) -> Trace:
    """A trace without values of what warps executed of a program."""
    program = static_instructions(function)
    columns = [zip(one.instruction, one.execute, one.live, strict=True) for one in warps]
    trace = trace_of(program, *([(a, b, c) for a, b, c in column] for column in columns))
    active = np.array([mask for one in warps for mask in one.active], dtype=np.uint32)
    return replace(trace, active=active, registers=registers_of(function))


def registers_of(function: Function) -> int:
    statics = static_instructions(function)
    return 1 + max((register for one in statics for register in (*one.sources, *one.dests)), default=0)


def plan_for(function: Function, base: int, **changes: Any) -> Plan:
    """The plan with a base set of that size. Raises ``ValueError`` where there is none."""
    registers = registers_of(function)
    cfg = config(es_override=PLENTY.rounded(registers) - base, **changes)
    return planned(function, registers, PLENTY, cfg)


def with_base(function: Function, base: int, warps: Sequence[WarpRecords], **changes: Any) -> Trace:
    """What warps executed, rewritten for a base set of that size. Raises ``ValueError`` where it cannot be."""
    plan = plan_for(function, base, **changes)
    descriptor = {"base_registers": plan.base, "extended_registers": plan.extended}
    return applied(traced(function, *warps), build_cfg(function), plan.rewriting, descriptor)
