"""Traces of the scheme: streams, dead bits, what is drawn, what is refused, what is shown."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.compiler.passes.lost import carried, judged
from tests.compiler.passes.ltrf.harness import KERNELS, function_of, kernel, misses
from warpfile.compiler.passes.ltrf.annotate import annotate, dead_shown, label, shown
from warpfile.compiler.passes.ltrf.dead import dead_by_listing
from warpfile.compiler.passes.ltrf.placement import IMPLICIT
from warpfile.spec.presets import PRESETS
from warpfile.spec.rewrite import original
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare


def config(preset: str = "maxwell", **changes: Any) -> LtrfConfig:
    values = PRESETS[preset].config.to_json() | {"scheduler": "two_level"} | changes
    return LtrfConfig(**LtrfConfig.adapted(values))  # type: ignore[arg-type]


def annotated(cfg: LtrfConfig, trace: Trace, seed: int | None = None) -> Trace:
    """The annotated trace, which a machine of this configuration takes."""
    found = replace(annotate(cfg, trace, seed), annotation=label(cfg))
    prepare(cfg, found)
    return found


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("changes", [{}, {"prefetch_unit": "strands", "liveness": 1}])
def test_kernels_run_with_what_is_near(name: str, changes: dict[str, Any]) -> None:
    cfg = config(**changes)
    found = annotated(cfg, kernel(name))
    assert not list(misses(found, 16))
    back = original(found)
    assert np.array_equal(back.instruction, kernel(name).instruction)
    assert found.instructions == kernel(name).records


@pytest.mark.parametrize("slots", [2, 3, 8])
def test_dead_bits_are_on_the_beats_of_their_sources(slots: int) -> None:
    cfg = config(liveness=1, source_slots=slots)
    found = annotate(cfg, kernel("tensor"), None)
    masks = carried(cfg, found, "dead")
    assert masks[~found.inserted].tolist() == dead_by_listing(kernel("tensor"), function_of("tensor")).tolist()
    assert not masks[found.inserted].any()


def test_without_liveness_there_are_no_hints() -> None:
    assert not len(annotate(config(), kernel("saxpy"), None).hints)


@pytest.mark.parametrize("profile", PROFILES)
def test_stress_traces_find_what_they_name(profile: str) -> None:
    trace = stress_trace(5, profile=profile, length=300, registers=24)
    cfg = config(liveness=1)
    for seed in (None, 0, 1, 2):
        found = annotated(cfg, trace, seed)
        assert not list(misses(found, 16))
        assert not judged(found, carried(cfg, found, "dead"))[1]


def test_drawn_streams_differ_and_are_right() -> None:
    cfg, counts, sizes = config(), Counter[str](), set()
    for name in ("calls", "spmv"):
        for seed in range(6):
            found = annotate(cfg, kernel(name), seed)
            assert not list(misses(found, 16))
            vectors = [trace_operand(found, record) for record in np.flatnonzero(found.inserted).tolist()]
            counts.update(again=sum(map(int.__eq__, vectors, vectors[1:])), all=len(vectors))
            sizes.add(len(vectors))
    assert counts["again"] and len(sizes) > 8


def trace_operand(trace: Trace, record: int) -> int:
    return trace.program[trace.instruction[record]].operand


def test_a_drawn_set_that_is_too_small_is_noticed() -> None:
    found = annotate(config(), kernel("spmv"), 1)
    program = [replace(one, operand=one.operand & (one.operand - 1)) if one.inserted else one for one in found.program]
    assert list(misses(replace(found, program=tuple(program)), 16))


def test_changes_of_lanes_are_told_apart() -> None:
    found = annotate(config(), kernel("calls"), None)
    opcodes = Counter(found.program[index].opcode for index in found.instruction[found.inserted].tolist())
    assert opcodes[IMPLICIT] and opcodes["PREFETCH"] > opcodes[IMPLICIT]


@pytest.mark.parametrize("name", ["divide_double", "tensor"])
def test_instructions_wider_than_a_unit_are_refused_in_one_line(name: str) -> None:
    with pytest.raises(ValueError, match=r"^interval_registers must be at least \d+, the registers of '.*, not 4$"):
        annotate(config(interval_registers=4), kernel(name), None)


def test_units_of_a_listing_are_shown() -> None:
    function = function_of("calls")
    found = shown(function, config())
    assert found[0].startswith("19 intervals, code grows by ") and "; PREFETCH R" in found[0]
    assert "no PREFETCH" in found.values()
    assert shown(function, config(prefetch_unit="strands"))[0].startswith("30 strands, ")
    assert shown(function_of("tensor"), config(interval_registers=4))[0].startswith("interval_registers must be at")
    assert not dead_shown(function, config()) and dead_shown(function, config(liveness=1))


def test_the_label_tells_configurations_apart() -> None:
    changes: list[dict[str, Any]] = [{}, {"interval_registers": 8}, {"prefetch_unit": "strands"}, {"liveness": 1}]
    assert len({label(config(**one)) for one in changes}) == 4
