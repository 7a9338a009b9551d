"""The read window, next to sections 7.4 and 7.5 of its paper: what it claims, and what is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warpfile.pages.evidence.factors import Factor, code_for, ptxas
from warpfile.pages.evidence.metrics import IPC, SHORT_STAND_INS, short
from warpfile.pages.evidence.samples import Metric, Sample
from warpfile.pages.evidence.statements import Statement
from warpfile.results.figure import Range
from warpfile.results.points import Outcome, Point

PRESET = "turing_rfc"
PAPER = "R. Huerta and others, Dissecting and modeling the architecture of modern GPU cores, MICRO 2025"
BASELINE, MODERN = Point("baseline", PRESET), Point("modern", PRESET)
OFF = MODERN.with_changes(reuse_cache="off")
TWO, THREE = OFF.with_changes(read_ports=2), OFF.with_changes(read_ports=3)
SCOREBOARD = MODERN.with_changes(dependences="scoreboard")
#: Kernels beside those of the paper: a long run of multiply-adds on registers, and a product of matrices in registers.
FLOPS, PRODUCT = "unrolled_poly", "matmul_registers"
SPOT = "conv2d"

_A6000 = "section 7: an RTX A6000"
WHOLE = Factor("fixed units as wide as a warp", both={"unit_interval": 1}, assumed=_A6000)
AMPERE = Factor("the preset of the paper's GPU, `ampere`", preset="ampere", assumed=_A6000)
OF_AMPERE = code_for(86, assumed=_A6000)
UNMARKED = Factor("marks of reuse ignored on both sides", both={"reuse_cache": "off"})
MEMORY = Factor(
    "an access and a sector in every cycle, misses of 40 cycles",
    both={"lsu_interval": 1, "miss_latency": 40, "sector_interval": 1},
)
LESS = ptxas("O1")
_GPU = (WHOLE, AMPERE, OF_AMPERE)


def marked(one: Sample) -> float:
    """Share of the instructions of a kernel's code, NOPs aside, that have a mark of reuse."""
    code = [static for static in one.run.trace.program if static.opcode != "NOP"]
    return sum(".reuse" in static.text for static in code) / max(1, len(code))


def served(run: Outcome) -> float:
    """Share of the operand positions of fixed beats that the cache serves."""
    return run["rfc_hits"] / max(1, run["fixed_sources"])


def _one(name: str) -> Callable[[], Sequence[str]]:
    return lambda: (name,)


def _of(
    key: str,
    where: str,
    metric: Metric,
    paper: float | Range,
    point: Point,
    kernels: Callable[[], Sequence[str]] = short,
    factors: Sequence[Factor] = (*_GPU, MEMORY),
) -> Statement:
    band = paper if isinstance(paper, tuple) else (paper, paper)
    return Statement(key, where, metric, band, point, MODERN, kernels, factors)


MARKS = Metric("instructions with a mark of reuse", "share", lambda ours, _: marked(ours))
_ROWS = {
    "no-cache": (OFF, (-0.026, 0.0, -0.31)),
    "two-ports": (TWO, (0.006, 0.45, 0.02)),
    "three-ports": (THREE, (0.008, 0.45, 0.02)),
}
_GROUPS = {
    "": (short, (*_GPU, MEMORY)),
    "-flops": (_one(FLOPS), (*_GPU, UNMARKED, MEMORY)),
    "-product": (_one(PRODUCT), (*_GPU, MEMORY)),
}

STATEMENTS = (
    *(
        _of(f"{name}{group}", "section 7.4, Tab. 6", IPC, paper, point, kernels, factors)
        for name, (point, papers) in _ROWS.items()
        for (group, (kernels, factors)), paper in zip(_GROUPS.items(), papers, strict=True)
    ),
    _of("scoreboard", "section 7.5, Tab. 7", IPC, -0.02, SCOREBOARD),
    _of("marks-flops", "section 7.4", MARKS, 0.013, MODERN, _one(FLOPS), (AMPERE, OF_AMPERE, LESS)),
    _of("marks-product", "section 7.4", MARKS, 0.379, MODERN, _one(PRODUCT), (AMPERE, OF_AMPERE, LESS)),
)
#: What the paper says beside these, and what becomes of it here.
LEFT = (
    "Errors of its model against hardware: no hardware is here.",
    f"Its 128 benchmarks: {SHORT_STAND_INS}; `{FLOPS}` for its MaxFlops, `{PRODUCT}` for sgemm of CUTLASS.",
)
