"""Loads that find their words in the register file, next to chapter 5 of the dissertation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warpfile.pages.evidence.factors import Factor, ptxas
from warpfile.pages.evidence.metrics import IPC, share
from warpfile.pages.evidence.samples import Metric, Sample
from warpfile.pages.evidence.statements import Statement
from warpfile.results.figure import Range
from warpfile.results.points import Outcome, Point
from warpfile.schemes import find
from warpfile.spec.schemes.shared import OUTCOMES, REASONS

PRESET = "pascal_larf"
PAPER = "H. Asghari Esfeden, dissertation, UC Riverside 2021, chapter 5"
BASELINE, LARF = Point("baseline", PRESET), Point("larf", PRESET)
AHEAD = Point("larf+las", PRESET)
#: The renaming table with release of dead registers, and nothing that is shared.
RENAMED = Point("virtualization", PRESET)
NOTHING = LARF.with_changes(search="none")
#: Convolutions, stencils and matrix products: what the chapter is about.
KERNELS = ("conv2d", "conv_layer", "depthwise_conv", "fdtd", "matmul_2mm", "stencil")
SPOT = "depthwise_conv"
HITS = OUTCOMES[:3]

LATENCIES = ("alu", "fma", "double", "tensor", "sfu", "shared", "texture", "hit", "miss")
EARLIER = Factor(
    "results a cycle earlier, the one that renaming takes",
    own={
        f"{name}_latency": getattr(find("baseline").configuration(PRESET), f"{name}_latency") - 1 for name in LATENCIES
    },
)
LAS = Factor(
    "its locality-aware scheduler", scheme="larf+las", assumed="section 5.6.1, Fig. 5.7: bars of LARF (400) + LAS"
)
PATIENT = Factor("the merge slot is waited for 63 cycles", own={"merge_wait": 63})
LARGE = Factor("512 entries of the address table", own={"table_entries": 512})
UNOPTIMISED = ptxas("O0")


def searching(run: Outcome) -> int:
    """Loads that may be shared."""
    return sum(run[name] for name in (*OUTCOMES, *(f"untracked_{reason}" for reason in REASONS)))


def absorbed(run: Outcome) -> float:
    """Share of them that is absorbed."""
    return sum(run[name] for name in HITS) / max(1, searching(run))


def rows(one: Sample) -> float:
    """Rows in use over the registers of resident warps."""
    return one.outcome["used_row_cycles"] / max(1, one.outcome["resident_cycles"] * one.run.trace.registers)


def _all() -> Sequence[str]:
    return KERNELS


def _one(name: str) -> Callable[[], Sequence[str]]:
    return lambda: (name,)


def _of(
    key: str,
    where: str,
    metric: Metric,
    paper: float | Range,
    factors: Sequence[Factor],
    kernels: Callable[[], Sequence[str]] = _all,
    point: Point = LARF,
    over: Point = BASELINE,
) -> Statement:
    band = paper if isinstance(paper, tuple) else (paper, paper)
    return Statement(key, where, metric, band, point, over, kernels, factors)


ABSORBED = share("loads absorbed", absorbed)
ROWS = Metric("rows in use over registers of resident warps", "share", lambda ours, _: rows(ours))
FEWER = Metric("rows in use", "growth", lambda ours, other: rows(ours) / rows(other))
_SPEED = (LAS, LARGE, PATIENT, EARLIER)

STATEMENTS = (
    _of("absorbed-depthwise", "section 5.1", ABSORBED, 0.8, (LAS, LARGE, PATIENT), _one("depthwise_conv")),
    _of("speed-depthwise", "section 5.6.1, Fig. 5.7", IPC, 2.5, _SPEED, _one("depthwise_conv")),
    _of("speed", "section 5.6.1, Fig. 5.9", IPC, (0.06, 0.7), _SPEED),
    _of("speed-las", "section 5.6.1, Fig. 5.9", IPC, 0.4, (LARGE, PATIENT), _one("matmul_2mm"), AHEAD, LARF),
    _of("registers", "section 5.6.2, Fig. 5.10", ROWS, 0.5, (UNOPTIMISED,), _all, RENAMED),
    _of(
        "registers-shared",
        "section 5.6.2, Fig. 5.10",
        FEWER,
        (-0.5, -0.45),
        (LAS, LARGE, UNOPTIMISED),
        _all,
        LARF,
        NOTHING,
    ),
)
#: What the chapter says beside these, and what becomes of it here.
LEFT = (
    "Fig. 5.6, 5.8: bars of single layers without numbers in the text.",
    "Section 5.6.3, 128 x 128 matrix product on Fermi: no preset of that machine has the scheme.",
    "An infinite address table: 512 entries are the most that the machine can have.",
    "Networks from end to end, seven of Tango and GPGPU-Sim's: the bundled kernels of such layers,"
    f" {', '.join(KERNELS)}, stand in for them; large launches.",
)
