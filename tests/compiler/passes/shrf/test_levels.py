"""No operand misses its value: random control flow with divergence and partial writes, kernels, stress traces."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings

from tests.compiler.generated import graph, structured
from tests.compiler.irregular import irregular
from tests.compiler.passes.rfc.test_soundness import KERNELS, kernel, rows_of_warp
from tests.compiler.passes.shrf.judge import Judge, Row, judged_trace, of_levels
from tests.emulator.harness import run
from warpfile.compiler.model import Function
from warpfile.compiler.passes.long_latency import is_long
from warpfile.compiler.passes.shrf import allocation, listing, strands
from warpfile.compiler.passes.shrf.allocation import Levels, Room, allocated
from warpfile.compiler.passes.shrf.annotate import annotate
from warpfile.compiler.passes.shrf.listing import flow_of
from warpfile.compiler.passes.shrf.values import Flow, Step, Value, extent, values_of
from warpfile.compiler.program import static_instructions
from warpfile.schemes import SCHEMES
from warpfile.spec.schemes.shrf import ShrfConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import StaticInstruction


def config(preset: str = "isca2011", **changes: object) -> ShrfConfig:
    cfg = SCHEMES["shrf"].configuration(preset, **changes)
    assert isinstance(cfg, ShrfConfig)
    return cfg


def judged(function: Function, rows: list[Row], levels: Levels, judge: Judge | None = None) -> Judge:
    """The judge behind one warp with levels of the listing."""
    judge, flow, statics = judge or Judge(), flow_of(function), static_instructions(function)
    judge.warp((statics[index], execution, of_levels(flow, levels, index)) for index, _, execution, _ in rows)
    return judge


def some_room(rng: random.Random) -> Room:
    orf, lrf = rng.choice(((1, "none"), (2, "one"), (3, "split"), (3, "none"), (6, "split"), (0, "one"), (0, "split")))
    slots = rng.choice((1, 2, 3))
    return Room(orf, {"none": 0, "one": 1, "split": slots}[lrf], lrf == "split", slots)


def irregular_programs(start: int, count: int, is_load: Callable[[StaticInstruction], bool] = is_long) -> Judge:
    judge = Judge(is_load)
    for seed in range(start, start + count):
        rng, execution = random.Random(seed), irregular(seed)
        flow, room = flow_of(execution.function), some_room(rng)
        for chosen in (None, rng):
            levels = allocated(flow, room, chosen)
            judged(execution.function, rows_of_warp(execution.records), levels, judge)
            assert judge.misses == judge.late == 0, seed
    return judge


@pytest.mark.parametrize("start", range(0, 4000, 500))
def test_programs_with_any_control_flow_find_every_operand(start: int) -> None:
    judge = irregular_programs(start, 500)
    assert judge.near > 300
    assert judge.brought > 30
    assert judge.skipped > 100
    assert judge.partial > 30


def _from_shared_memory(static: StaticInstruction) -> bool:
    return static.opcode.startswith("LDS")


@pytest.mark.parametrize("start", [4000, 4500])
def test_programs_with_loads_touch_nothing_in_their_strand(monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    """The programs load from shared memory alone; for the pass these loads take long."""
    for module in (strands, listing):
        monkeypatch.setattr(module, "is_long", _from_shared_memory)
    assert irregular_programs(start, 500, _from_shared_memory).loads > 100


@settings(max_examples=300, deadline=None, derandomize=True)
@given(structured())
def test_structured_programs_find_every_operand(code: str) -> None:
    function, records = graph(code).function, run(code, live=0xFFFF).records
    levels = allocated(flow_of(function), Room(3, 3, True, 3))
    assert judged(function, rows_of_warp(records), levels).misses == 0


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_kernels_find_every_operand(name: str) -> None:
    _, trace = kernel(name)
    cfg = config()
    judge = judged_trace(cfg, annotate(cfg, trace, None))
    assert judge.misses == judge.late == judge.foreign == 0
    assert judge.near > 0
    assert judge.skipped > 0


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("changes", [{}, {"orf_entries": 1, "lrf": "one"}, {"orf_entries": 8, "lrf": "none"}])
def test_stress_traces_find_every_operand(profile: str, changes: dict[str, object]) -> None:
    cfg, trace = config("tiny", **changes), stress_trace(3, profile=profile, length=200, registers=12)
    for seed in (None, 1, 2):
        judge = judged_trace(cfg, annotate(cfg, trace, seed))
        assert judge.misses == judge.foreign == 0
        assert judge.near > 0


def test_a_pass_without_classes_names_the_last_result_file_for_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    def arithmetic(*args: object, **named: object) -> Step:
        return Step(*args, **{**named, "arithmetic": True})  # type: ignore[arg-type]

    monkeypatch.setattr(listing, "Step", arithmetic)
    cfg = config("tiny")
    assert judged_trace(cfg, annotate(cfg, stress_trace(3, profile="memory", length=200, registers=12), None)).foreign


def _no_rule_five(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(strands, "_around_divergence", lambda cfg, behind, begins: iter(()))


def _loads_are_not_waited_for(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(strands, "_pending", lambda function, before, found: found)


def _nothing_is_live(patch: pytest.MonkeyPatch) -> None:
    def dead(flow: Flow, brings: bool) -> list[Value]:
        found = values_of(flow, brings)
        for value in found:
            value.in_main = False
        return found

    patch.setattr(allocation, "values_of", dead)


def _partial_is_full(patch: pytest.MonkeyPatch) -> None:
    def full(*args: object, **named: object) -> Step:
        return Step(*args, **{**named, "partial": False})  # type: ignore[arg-type]

    patch.setattr(listing, "Step", full)


def _entries_are_free_between_reads(patch: pytest.MonkeyPatch) -> None:
    def short(flow: Flow, before: Sequence[Sequence[int]], value: Value, reads: Sequence[tuple[int, int]]) -> int:
        points = extent(flow, before, value, reads)
        return points & sum(2 << 2 * index for index in (*value.writes, *value.brings))

    patch.setattr(allocation, "extent", short)


@pytest.mark.parametrize(
    "change",
    [_loads_are_not_waited_for, _no_rule_five, _nothing_is_live, _partial_is_full, _entries_are_free_between_reads],
)
def test_a_pass_without_one_of_its_rules_misses_operands(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[pytest.MonkeyPatch], None]
) -> None:
    change(monkeypatch)
    with pytest.raises(AssertionError):
        irregular_programs(0, 500, _from_shared_memory if change is _loads_are_not_waited_for else is_long)
