"""Figures of single runs, and what pages make of them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from warpfile.pages.evidence.metrics import (
    CYCLES,
    IPC,
    KINDS,
    LONGEST,
    SHORT,
    SUITES,
    energy_over,
    ratio,
    share,
    short,
    suites,
)
from warpfile.pages.evidence.samples import Metric, Sample
from warpfile.results.points import Outcome, Point, Run, trace_of
from warpfile.schemes import find
from warpfile.synth.energy import all_prices
from warpfile.workloads.inputs import bundled_kernels

RUN = Run(Point("baseline", "isca2011").small, "divide")


def sample(cycles: int, reads: int = 0, writes: int = 0) -> Sample:
    """A run that did nothing but this."""
    return Sample(RUN, Outcome(cycles, 100, {"bank_reads": reads, "bank_writes": writes}))


def test_cycles_grow_where_instructions_per_cycle_fall() -> None:
    assert CYCLES.of(sample(120), sample(100)) == pytest.approx(1.2)
    assert IPC.of(sample(120), sample(100)) == pytest.approx(1 / 1.2) and IPC.kind == "geometric growth"


def test_shares_and_ratios_are_of_counters() -> None:
    def reads(run: Outcome) -> float:
        return run["bank_reads"] / run.cycles

    assert share("reads", reads).of(sample(100, 25), sample(1, 1)) == 0.25 and share("reads", reads).neutral is None
    assert ratio("reads", reads).of(sample(100, 25), sample(100, 50)) == 0.5 and ratio("reads", reads).neutral == 0


def test_energy_is_that_of_the_prices() -> None:
    cfg = find("baseline").configuration("isca2011")
    read, write = (all_prices()["rfc"].price(kind, cfg) for kind in ("bank_read", "bank_write"))
    assert read and write
    both = sample(1, 3, 2).picojoules("rfc")
    assert both == pytest.approx(3 * read.picojoules(cfg) + 2 * write.picojoules(cfg)) and both > 0
    assert energy_over("rfc").of(sample(1, 3, 2), sample(1, 6, 4)) == pytest.approx(0.5)
    assert sample(1, 3, 2).picojoules("rfc", {"bank": 1.0}) > both
    assert energy_over("rfc", {"bank": 1.0}).name != energy_over("rfc").name


def test_distances_are_of_the_trace_of_the_run() -> None:
    small = sample(1).reuse
    large = Sample(replace(RUN, point=replace(RUN.point, setting="large")), sample(1).outcome).reuse
    assert small.trace.kernel == large.trace.kernel == "divide"
    assert 0 < small.near(3) < 1 and len(small.trace.instruction) != len(large.trace.instruction)


def test_kernels_of_the_suites_are_bundled_and_named_once() -> None:
    assert set(suites()) <= set(bundled_kernels()) and len(set(SUITES)) == len(SUITES)


def test_kinds_are_those_of_the_page_on_kernels(root: Path) -> None:
    page = (root / "docs/kernels.md").read_text().partition("## Kinds that papers measured")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([^|]*`[^|]*) \|$", page, re.MULTILINE))
    assert {suite: sorted(re.findall(r"`(\w+)`", programs)) for suite, programs in rows.items()} == {
        suite: sorted(kernels) for suite, kernels in KINDS.items()
    }


@pytest.mark.check
def test_short_launches_have_at_most_twenty_thousand_instructions() -> None:
    lengths = {kernel: len(trace_of(kernel, "large").instruction) for kernel in suites()}
    assert short() == tuple(kernel for kernel in suites() if lengths[kernel] <= LONGEST) == SHORT


def test_unknown_kinds_of_metrics_are_refused() -> None:
    with pytest.raises(ValueError, match="kind must be one of growth, geometric growth, share, not 'mean'"):
        Metric("IPC", "mean", lambda ours, other: ours.ipc / other.ipc)
