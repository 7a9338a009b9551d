"""No read misses a value under the classes of the compiler, whatever executes: a replay with late results judges."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings

import warpfile.compiler.passes.bow.static as module
from tests.compiler.generated import graph, structured
from tests.compiler.irregular import irregular
from tests.compiler.passes.bow.replay import HINTS, Record, Replay, stale_reads
from tests.emulator.harness import run
from warpfile.compiler.cfg import Cfg
from warpfile.compiler.divergence import Divergence
from warpfile.compiler.model import Function
from warpfile.compiler.passes.bow.static import write_classes
from warpfile.compiler.program import static_instructions
from warpfile.emulator.launch import load_kernel
from warpfile.emulator.record import WarpRecords
from warpfile.emulator.run import execute
from warpfile.spec.trace import Trace

KERNELS = {path.parent.name: path.parent for path in (Path(__file__).parents[4] / "kernels").glob("*/launch.toml")}
WINDOWS = range(2, 8)
PROGRAMS = 400


@cache
def kernel(name: str) -> tuple[Function, Trace]:
    launch = load_kernel(KERNELS[name])
    return launch.function, execute(launch).trace


def misses(function: Function, records: WarpRecords, window: int, source_slots: int, seed: int = 0) -> int:
    """Stale reads of one executed warp."""
    classes = write_classes(function, window=window, source_slots=source_slots)
    program = static_instructions(function)
    rows = zip(records.instruction, records.execute, records.live, strict=True)
    stream = [Record(program[index], mask, live, classes.get(16 * index, 0)) for index, mask, live in rows]
    rng = random.Random(seed)
    return sum(len(Replay(window, source_slots, HINTS, prompt, rng).run(stream)) for prompt in (1.0, 0.2, 0.0))


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_bundled_kernels(name: str) -> None:
    function, trace = kernel(name)
    for window in WINDOWS:
        for source_slots in (3, 8):
            classes = write_classes(function, window=window, source_slots=source_slots)
            assert stale_reads(trace, classes, window, source_slots, seed=window) == 0, (window, source_slots)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(structured())
def test_generated_programs(code: str) -> None:
    function, records = graph(code).function, run(code, live=0xFFFF).records
    for window in WINDOWS:
        assert misses(function, records, window, 3) == 0, window


@pytest.mark.parametrize("start", range(0, PROGRAMS, 100))
def test_programs_with_any_control_flow(start: int) -> None:
    for seed in range(start, start + 100):
        execution = irregular(seed)
        for window in (2, 3, 5):
            assert misses(execution.function, execution.records, window, 3, seed=seed) == 0, (seed, window)


@pytest.mark.parametrize("name", ["divide", "calls", "warp_reduce", "tensor"])
def test_classes_hold_for_longer_windows(name: str) -> None:
    function, trace = kernel(name)
    classes = write_classes(function, window=2, source_slots=3)
    assert [stale_reads(trace, classes, window, 3) for window in WINDOWS] == [0] * len(WINDOWS)


@pytest.mark.parametrize("name", ["divide", "calls", "warp_reduce", "tensor"])
def test_classes_for_a_longer_window_are_caught(name: str) -> None:
    function, trace = kernel(name)
    longer = {window: write_classes(function, window=window + 2, source_slots=3) for window in WINDOWS}
    assert sum(stale_reads(trace, classes, window, 3) for window, classes in longer.items()) > 0


def test_classes_for_longer_beats_are_caught() -> None:
    function, trace = kernel("tensor")
    assert stale_reads(trace, write_classes(function, window=3, source_slots=8), 3, 3) > 0


LONG = "NOP\n" * 8
PART = "ISETP.LT.AND P0, PT, R0, 0x4, PT\n"
#: Between a definition of R2 and its read, other lanes execute more than a window: what hazards are about.
INTERRUPTED = {
    "other side": f"S2R R0, SR_LANEID\n{PART}MOV R2, 0x1\n@P0 BRA `(other)\n{LONG}EXIT\nother:\nIADD3 R3, R2, 0x1, RZ",
    "reconvergence": f"""S2R R0, SR_LANEID
        {PART}BSSY B0, `(behind)
        @P0 BRA `(other)
        MOV R2, 0x1
        BRA `(end)
        other:
        {LONG}MOV R2, 0x2
        end:
        BSYNC B0
        behind:
        IADD3 R3, R2, 0x1, RZ""",
    "gathering": f"""S2R R0, SR_LANEID
        {PART}@P0 BRA `(other)
        MOV R2, 0x1
        WARPSYNC 0xffffffff
        IADD3 R3, R2, 0x1, RZ
        EXIT
        other:
        {LONG}WARPSYNC 0xffffffff""",
    "barrier": f"""S2R R0, SR_LANEID
        {PART}@P0 BRA `(other)
        BRA `(end)
        other:
        {LONG}end:
        MOV R2, 0x1
        BAR.SYNC 0x0
        IADD3 R3, R2, 0x1, RZ""",
    "turn of a loop": f"""S2R R0, SR_LANEID
        {PART}MOV R4, RZ
        @P0 BRA `(other)
        MOV R2, RZ
        top:
        IADD3 R3, R2, 0x1, RZ
        IADD3 R4, R4, 0x1, RZ
        ISETP.LT.AND P1, PT, R4, 0x80, PT
        MOV R2, R4
        @P1 BRA `(top)
        EXIT
        other:
        {LONG}NOP""",
}


@pytest.mark.parametrize("name", INTERRUPTED)
def test_a_value_survives_the_code_of_other_lanes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = INTERRUPTED[name]
    function, records = graph(code).function, run(code).records
    assert [misses(function, records, window, 3) for window in (4, 5)] == [0, 0]

    def none(cfg: Cfg, found: Divergence, any_progress: bool = False) -> frozenset[int]:
        return frozenset()

    monkeypatch.setattr(module, "hazard_points", none)
    assert misses(function, records, 4, 3) > 0, "without hazards it must be missed"
