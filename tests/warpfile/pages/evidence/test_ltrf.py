"""Machines and figures of the page of ``ltrf``."""

from __future__ import annotations

import pytest

from warpfile.pages.evidence import ltrf as page
from warpfile.pages.evidence.samples import Sample
from warpfile.pages.lengths import measured
from warpfile.results.points import Outcome, Run, trace_of
from warpfile.schemes import find
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import possible_warps
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare
from warpfile.workloads.inputs import bundled_kernels


def test_latencies_are_the_multiples_that_the_paper_has() -> None:
    """Of the preset's, to the nearest cycle: 5.3, 6.2, 2.1, 3 and, of the larger file, 6.3 times."""
    preset = find("ltrf").configuration(page.PRESET)
    assert preset.bank_cycles == page.CYCLES
    multiples = {"tolerated": 5.3, "tolerated-plus": 6.2, "tolerated-rfc": 2.1, "tolerated-strands": 3}
    for one in page.STATEMENTS:
        if one.key in multiples:
            assert dict(one.point.changes)["bank_cycles"] == round(page.CYCLES * multiples[one.key])
    assert round(page.CYCLES * 6.3) == page.SLOWEST


@pytest.mark.check
def test_pressed_kernels_have_half_as_many_warps_again_with_eight_times_the_registers() -> None:
    few, many = (
        find("baseline").configuration(one.preset, **dict(one.changes))
        for one in (page.BASELINE, page.eightfold(page.BASELINE, 1))
    )
    assert many.banks * many.rows == 8 * few.banks * few.rows

    def warps(cfg: Config, trace: Trace) -> int:
        workload = prepare(cfg, trace)
        return min(possible_warps(cfg, workload), sum(map(len, workload.ctas)))

    traces = {kernel: trace_of(kernel, "large") for kernel in sorted(bundled_kernels())}
    more = [kernel for kernel, trace in traces.items() if 2 * warps(many, trace) >= 3 * warps(few, trace)]
    assert tuple(more) == page.PRESSED


def test_main_accesses_are_over_all_of_the_baseline() -> None:
    ours = Sample(Run(page.LTRF, "divide"), Outcome(1, 1, {"main_reads": 3, "main_writes": 2}))
    other = Sample(Run(page.BASELINE, "divide"), Outcome(1, 1, {"bank_reads": 15, "bank_writes": 5}))
    assert page.ACCESSES.of(ours, other) == 0.25


def test_figures_of_the_code_are_those_of_its_listing() -> None:
    one = Sample(Run(page.LTRF, "stencil"), Outcome(1, 1, {}))
    code = measured(trace_of("stencil", "large"))
    by_key = {
        claim.key: claim.metric.of(one, one)
        for claim in page.STATEMENTS
        if "IPC" not in claim.metric.name and claim.key in ("optimum", "code", "code-sets")
    }
    assert by_key["optimum"] == code.share <= 1
    assert by_key["code"] > by_key["code-sets"] == 1 + code.growth.by(opcode=False) > 1
