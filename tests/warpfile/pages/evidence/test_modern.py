"""Figures of the page of ``modern``, and the machines that it compares."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from tests.compiler.passes.modern.coded import coded_trace
from tests.warpfile.pages.evidence.made_up import KERNELS, answering
from warpfile.pages.evidence import modern as page
from warpfile.pages.evidence.reuse import Reuse
from warpfile.pages.evidence.study import FEW, Outcome, Point, Study
from warpfile.schemes import find
from warpfile.spec.config import Config

#: What belongs to the schemes; everything else is one machine.
OWN = {
    "collect",
    "collectors",
    "scheduler",
    "decode_order",
    "bank_arbitration",
    "dispatch_arbitration",
    "alu_interval",  # of modern its units start as often by ``unit_interval``
    "fma_interval",
    "ports",
    "port_queue",  # of modern its own queues hold the beats that wait
}


def shared(point: Point) -> dict[str, object]:
    """Fields of the frame that no scheme owns."""
    cfg = find(point.scheme).configuration(point.preset, **dict(point.changes))
    return {one.name: getattr(cfg, one.name) for one in fields(Config) if one.name not in OWN}


@pytest.mark.parametrize("name", page.FILES)
def test_register_files_are_compared_in_one_machine(name: str) -> None:
    assert shared(page.FILES[name]) == shared(page.BASELINE)
    intervals = {find(name).configuration("turing_rfc").alu_interval for name in ("baseline", "malekeh", "bow_wr")}
    assert intervals == {find("modern").configuration("turing_rfc").unit_interval} == {2}  # type: ignore[attr-defined]


def test_readers_are_as_far_as_in_the_baseline_where_the_page_says_so() -> None:
    far = find("modern").configuration(page.PRESET, **dict(page.FAR.changes))
    assert far.fixed_distance == find("baseline").configuration(page.PRESET).alu_latency + 4  # type: ignore[attr-defined]


def test_shares_are_those_of_what_was_counted() -> None:
    run = Outcome(10, 4, {"rfc_hits": 3, "rfc_allocations": 4, "fixed_sources": 30, "bank_reads": 8})
    assert (page.found(run), page.served(run), page.reads(run)) == (0.75, 0.1, 2)
    assert page.found(replace(run, counters={"rfc_hits": 0, "rfc_allocations": 0})) == 1


def test_marks_are_counted_by_instructions_other_than_nops() -> None:
    trace = coded_trace("FFMA R5, R2.reuse, R3.reuse, R4", "NOP", "MOV R6, R5", "FADD R7, R6.reuse, R5")
    study = Study({}, KERNELS, lambda _: Reuse(trace))
    assert page.marked(study, "one") == 2 / 4


def test_the_cost_is_that_of_the_kept_figures() -> None:
    text = page.page(answering()[0])
    for name, kept in page._figures().items():
        row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
        assert f"{kept['nand2_equivalents']:,.0f} | {kept['flip_flops']:,} |" in row
    assert {*page._figures()} == {"baseline", "modern", "malekeh", "bow_wr", "rfc"}


def test_the_page_has_80_runs_of_most_kernels() -> None:
    study, asked = answering()
    page.page(study)
    of_most = [run for run in asked if run.kernel in study.kernels]
    assert len(of_most) <= 80 * len(study.kernels) and {run.seed for run in asked} == set(FEW)
