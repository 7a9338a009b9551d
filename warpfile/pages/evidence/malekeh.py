"""Caching collector units, next to the paper's sections 8 and 9: what it claims, and what is changed."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.pages.evidence.factors import Factor, ptxas
from warpfile.pages.evidence.metrics import IPC, STAND_INS, energy_over, ratio, share, suites
from warpfile.pages.evidence.samples import Metric, Sample
from warpfile.pages.evidence.statements import Statement
from warpfile.results.figure import Range
from warpfile.results.points import Outcome, Point

PRESET = "turing"
PAPER = "Malekeh, an energy-efficient hierarchical register file for GPUs"
BASELINE, UNITS = Point("baseline", PRESET), Point("malekeh", PRESET)
EXACT = Point("malekeh", PRESET, oracle=True)
WINDOWS = Point("bow", PRESET, (("window", 3),))
SPOT = "bitonic_sort"

ONE_PORT = Factor("units beside it take one operand per cycle", beside={"collect": "one"})
LATE = Factor("units beside it are taken again a cycle after their dispatch", beside={"retake": "next"})
NEVER = Factor("never waiting for a unit", own={"wait_control": "fixed", "wait_threshold": 0})
EIGHT = Factor("as many units as there are windows", own={"collectors": 8})
UNOPTIMISED = ptxas("O0")


def hit_ratio(run: Outcome) -> float:
    """Share of the source operands that the units hold."""
    return run["source_hits"] / max(1, run["sources"])


def window_hit_ratio(run: Outcome) -> float:
    """The same of operand windows."""
    return run["bypassed_reads"] / max(1, run["bypassed_reads"] + run["bank_reads"])


def bank_reads(run: Outcome) -> float:
    """Operands that banks give."""
    return run["bank_reads"]


def _over_windows(ours: Sample, other: Sample) -> float:
    return hit_ratio(ours.outcome) - window_hit_ratio(other.outcome)


def _over_forgetful(ours: Sample, _: Sample) -> float:
    return hit_ratio(ours.outcome) - ours.reuse.near(3, flushed=True)


def _over_exact(ours: Sample, other: Sample) -> float:
    return hit_ratio(ours.outcome) - hit_ratio(other.outcome)


HITS = share("operands that the units hold", hit_ratio)
FORGETTING = Factor(
    "windows that are empty after every taken branch",
    counted=Metric("hit ratio minus that of such windows, from the trace", "share", _over_forgetful),
    assumed="section 9.2: windows are flushed at each branch to another window",
)


def _of(
    key: str,
    where: str,
    metric: Metric,
    paper: float | Range,
    factors: Sequence[Factor],
    over: Point = BASELINE,
) -> Statement:
    band = paper if isinstance(paper, tuple) else (paper, paper)
    return Statement(key, where, metric, band, UNITS, over, suites, factors)


STATEMENTS = (
    _of("hits", "section 9.2, Fig. 7", HITS, 0.485, (NEVER, UNOPTIMISED)),
    _of(
        "hits-over-windows",
        "section 9.2",
        Metric("hit ratio minus that of windows of 3", "share", _over_windows),
        0.281,
        (FORGETTING, UNOPTIMISED),
        WINDOWS,
    ),
    _of("one-bit", "section 8", Metric("hit ratio, one bit minus exact distances", "share", _over_exact), 0, (), EXACT),
    _of("bank-reads", "abstract", ratio("bank reads", bank_reads), -0.485, (NEVER, UNOPTIMISED)),
    _of("energy", "abstract", energy_over("pilot"), -0.291, (NEVER, UNOPTIMISED)),
    _of("speed", "section 9.1, Fig. 6", IPC, 0.096, (ONE_PORT, LATE, NEVER, UNOPTIMISED)),
    _of("speed-over-windows", "section 9.1", IPC, 0.054, (EIGHT, NEVER, UNOPTIMISED), WINDOWS),
)
#: What the paper says beside these, and what becomes of it here.
LEFT = (
    "Section 9.3 has a reduction of the energy by 9.6 %, the abstract 29.1 %; the page compares the abstract.",
    "Best and worst hit ratio (gaussian, particlefilter_naive), best IPC (rnn_bench_i2): those programs are not here.",
    "The largest loss of IPC, less than 4 % (b+tree): the table of the kernels has ours.",
    "Energy is that of the banks alone, one price per access; arbiter, crossbar and units have none.",
    f"Its programs of Rodinia and Deepbench: {STAND_INS}.",
)
