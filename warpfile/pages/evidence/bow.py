"""Operand windows, next to chapter 3 of the dissertation: what it claims, and what is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from warpfile.pages.evidence.factors import Factor, ptxas, two_issues
from warpfile.pages.evidence.metrics import IPC, STAND_INS, energy_over, ratio, share, suites
from warpfile.pages.evidence.samples import Metric
from warpfile.pages.evidence.statements import Statement
from warpfile.results.figure import Range
from warpfile.results.points import Outcome, Point

PRESET = "pascal"
PAPER = "H. Asghari Esfeden, dissertation, UC Riverside 2021, chapter 3"
BASELINE = Point("baseline", PRESET)
SPOT = "bitonic_sort"


def window(size: int, writes: str, entries: int = 0) -> Point:
    """Windows of ``size`` beats; as many entries as four per beat, unless said otherwise."""
    scheme = "bow" if writes == "through" else "bow_wr"
    changes = (("window", size), ("window_entries", entries or 4 * size), ("window_writes", writes))
    return Point(scheme, PRESET, changes)


FULL, HALF, THROUGH = window(3, "hints"), window(3, "hints", 6), window(3, "through")
UNOPTIMISED = ptxas("O0")
TWO = two_issues("one warp")
FOUR_BANKS = Factor("four banks on both sides", both={"banks": 4, "rows": 128})
UNITS = Factor("24 collector units beside the windows", beside={"collectors": 24})


def reads_bypassed(run: Outcome) -> float:
    """Share of the operand reads that need no bank."""
    return run["bypassed_reads"] / max(1, run["bypassed_reads"] + run["bank_reads"])


def writes_bypassed(run: Outcome) -> float:
    """Share of the results that never reach a bank."""
    return run["bypassed_writes"] / max(1, run["results"])


def residency(run: Outcome) -> float:
    """Cycles from a beat's entry to its dispatch."""
    return run["unit_cycles"] / max(1, run["dispatches"])


def waiting(run: Outcome) -> float:
    """Cycles in which a beat lacks an operand."""
    return run["operand_waits"] / max(1, run["dispatches"])


def three_sources(run: Outcome) -> float:
    """Share of the beats with three sources."""
    return run["sources_3"] / max(1, run["beats"])


def mostly_full(run: Outcome) -> float:
    """Share of the cycles of a resident warp in which more than half of its twelve entries are held."""
    levels = [run.counters.get(f"occupancy_{count}", 0) for count in range(13)]
    return sum(levels[7:]) / max(1, sum(levels))


def of_class(number: int) -> Callable[[Outcome], float]:
    """Share of the results of a write class."""
    return lambda run: run[f"class_{number}"] / max(1, run["results"])


READS = share("operand reads without a bank", reads_bypassed)
WRITES = share("results without a bank", writes_bypassed)
_SPEED = (UNOPTIMISED, TWO, FOUR_BANKS)


def _of(
    key: str, where: str, metric: Metric, paper: float | Range, point: Point, factors: Sequence[Factor] = (UNOPTIMISED,)
) -> Statement:
    band = paper if isinstance(paper, tuple) else (paper, paper)
    return Statement(key, where, metric, band, point, BASELINE, suites, factors)


STATEMENTS = (
    _of("reads-3", "section 3.2.2, Fig. 3.3", READS, 0.59, FULL),
    _of("reads-2", "section 3.2.2, Fig. 3.3", READS, 0.45, window(2, "hints")),
    _of("reads-7", "section 3.2.2, Fig. 3.3", READS, (0.7, 0.75), window(7, "hints")),
    _of("writes-3", "section 3.2.2, Fig. 3.3", WRITES, 0.52, FULL),
    _of("writes-2", "section 3.2.2, Fig. 3.3", WRITES, 0.35, window(2, "hints")),
    _of("file-only", "Fig. 3.7", share("results for the file only", of_class(1)), 0.21, FULL),
    _of("window-only", "Fig. 3.7", share("results for the window only", of_class(2)), 0.52, FULL),
    _of("both", "Fig. 3.7", share("results for window and file", of_class(3)), 0.27, FULL),
    _of("three-sources", "Fig. 3.8", share("beats with three sources", three_sources), 0.02, FULL),
    _of("crowded", "Fig. 3.9", share("cycles of a warp with more than six entries held", mostly_full), 0.03, FULL),
    _of("speed-through", "Fig. 3.10", IPC, 0.11, THROUGH, _SPEED),
    _of("speed-hints", "Fig. 3.10", IPC, 0.13, FULL, _SPEED),
    _of("speed-half", "Fig. 3.11", IPC, 0.11, HALF, _SPEED),
    _of(
        "residency",
        "Fig. 3.12",
        ratio("cycles from issue to dispatch", residency),
        -0.6,
        FULL,
        (UNITS, UNOPTIMISED),
    ),
    _of(
        "waiting",
        "Fig. 3.12",
        ratio("cycles without an operand", waiting),
        -0.6,
        FULL,
        (UNITS, UNOPTIMISED),
    ),
    _of("energy-through", "Fig. 3.13", energy_over("bow"), -0.36, THROUGH),
    _of("energy-hints", "Fig. 3.13", energy_over("bow"), -0.55, FULL),
)
#: What the chapter says beside these, and what becomes of it here.
LEFT = (
    "Fig. 3.4 and 3.5: shares of the operand stage in the time of an instruction; bars without numbers in the text.",
    "Table 3.4, area and storage: the storage table of [the scheme's page](bow.md).",
    "Prices are those of banks and entries; crossbar and window tags have none, which the paper puts at 3 % and 1.8 %.",
    f"Its 15 benchmarks, in PTXPlus: {STAND_INS}.",
)
