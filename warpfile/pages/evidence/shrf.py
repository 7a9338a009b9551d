"""A register hierarchy that the compiler manages, next to what its paper and that of LTRF say of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from warpfile.pages.evidence import ltrf, rfc
from warpfile.pages.evidence.factors import PIPELINED_BANKS, Factor, launch, ptxas
from warpfile.pages.evidence.figure import Metric, Range
from warpfile.pages.evidence.metrics import IPC, SHORT, energy_over, share, short
from warpfile.pages.evidence.samples import Sample
from warpfile.pages.evidence.statements import Statement
from warpfile.results.points import Outcome, Point, Run

PRESET = "isca2011"
PAPER = (
    "M. Gebhart, S. W. Keckler and W. J. Dally, A compile-time managed multi-level register file hierarchy, MICRO 2011"
)
BASELINE, SHRF, RFC = (Point(name, PRESET) for name in ("baseline", "shrf", "rfc"))
#: At the preset of the paper that compares with it.
SHRF_THERE, RFC_THERE = (Point(name, ltrf.PRESET) for name in ("shrf", "rfc"))
TWICE = 2 * ltrf.CYCLES  #: cycles of an access to a main bank
SPOT = "conv2d"

SMALL, UNOPTIMISED = launch("launch"), ptxas("O0")
RESIDENT = Factor("without suspensions", own={"active_warps": rfc.WARPS, "suspend": "never"})
NEEDED = Factor("suspended only for a load that the next beat needs", own={"suspend": "pending"})
SHARED = Factor("no entries but one last-result file", own={"orf_entries": 0, "lrf": "one"})
#: Lengths in mm from banks and from entries to where operands are used, of the earlier paper's Tab. 5.
WIRES = {"bank": 1.0, "orf": 0.2}


def read_near(run: Outcome) -> float:
    """Share of the operand reads that entries serve."""
    entries = run["orf_reads"] + run["lrf_reads"]
    return entries / max(1, entries + run["bank_reads"])


NEAR = share("operands read from entries", read_near)


def _of(
    key: str,
    where: str,
    metric: Metric,
    paper: float | Range,
    point: Point,
    factors: Sequence[Factor],
    over: Point = BASELINE,
) -> Statement:
    band = paper if isinstance(paper, tuple) else (paper, paper)
    return Statement(key, where, metric, band, point, over, short, factors)


def _at_prices_of(point: Point, wires: Mapping[str, float]) -> Callable[[Sample, Sample], float]:
    """Energy over that of the machine beside it, at the prices of a point's configuration."""

    def of(ours: Sample, other: Sample) -> float:
        return ours.picojoules("rfc", wires, Run(point, ours.run.kernel).config) / other.picojoules("rfc", wires)

    return of


def _energy(key: str, paper: float, point: Point) -> Statement:
    """Then also with wires, and without suspensions at the prices of eight active warps."""
    metric, far = energy_over("rfc"), energy_over("rfc", WIRES if point is SHRF else rfc.WIRES)
    wires = Factor("energy of wires", counted=far)
    free = replace(
        RESIDENT,
        what="without suspensions, at the same prices",
        counted=Metric(far.name, far.kind, _at_prices_of(point, WIRES if point is SHRF else rfc.WIRES)),
    )
    return _of(key, "abstract", metric, paper, point, (wires, free, SMALL, UNOPTIMISED))


_LATE = ltrf.slowed(SHRF_THERE, TWICE).small
STATEMENTS = (
    _energy("energy", -0.54, SHRF),
    _energy("energy-hardware", -0.34, RFC),
    _of("speed", "abstract", IPC, 0, SHRF, (NEEDED, RESIDENT, SMALL)),
    _of("near", "LTRF, section 2.3, Fig. 4", NEAR, (0.08, 0.3), SHRF_THERE.small, (UNOPTIMISED, SHARED), BASELINE),
    _of("tolerated", "LTRF, section 6.6: twice the latency", IPC, -0.05, _LATE, (PIPELINED_BANKS,), SHRF_THERE.small),
    _of(
        "as-hardware",
        "LTRF, section 6.6",
        IPC,
        0,
        _LATE,
        (NEEDED, PIPELINED_BANKS, UNOPTIMISED),
        ltrf.slowed(RFC_THERE, TWICE).small,
    ),
)
#: What the papers say beside these, and what becomes of it here.
LEFT = (
    "Other numbers of entries, with and without last-result files: the MICRO paper's curves are not at hand. Its"
    " abstract is, and what the LTRF paper says of it.",
    "Last-result files: no price is published at hand, so their accesses cost nothing here. Operand register files have"
    " the price of a cache of their size.",
    f"Its 210 traces of programs and shaders: {', '.join(SHORT)} stand in for them, none of which is a shader.",
)
