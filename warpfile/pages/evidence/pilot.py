"""A partitioned register file, next to the paper's figures: what it claims, and what is changed."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.pages.evidence.factors import PIPELINED_BANKS, Factor, allocated_ptx, ptxas
from warpfile.pages.evidence.metrics import IPC, SHORT_STAND_INS, energy_over, share, short
from warpfile.pages.evidence.samples import Metric
from warpfile.pages.evidence.statements import Statement
from warpfile.results.figure import Range
from warpfile.results.points import Outcome, Point

PAPER = (
    "M. Abdel-Majeed and others, Pilot register file: energy efficient partitioned register file for GPUs, HPCA 2017"
)
NAMES = (("register_names", 256),)  #: a kernel has more than 63 registers
BASELINE, PARTS = (Point(name, "kepler", NAMES) for name in ("baseline", "pilot"))
COMPILER = PARTS.with_changes(profile="compiler")
SLOW = BASELINE.with_changes(bank_cycles=3)
SPOT = "conv2d"
HOT = (3, 4, 5)

UNOPTIMISED = ptxas("O0")
LESS = ptxas("O1")
PTX = allocated_ptx()  # the paper names GPGPU-Sim, and not which form of code it executed
ORACLE = Factor("the four registers that are used most", own={"profile": "oracle", "remap": "versioned"})
FEWER = Factor("4 warps resident instead of 16, and more after the pilot", own={"warps": 4})
INSTANT = Factor("registers of resident warps move in an instant", own={"remap": "instant"})


def _sum(run: Outcome, *names: str) -> int:
    return sum(run[name] for name in names)


def fast_share(run: Outcome) -> float:
    """Share of reads and writes that the fast part serves."""
    fast = _sum(run, "fast_reads_high", "fast_reads_low", "fast_writes_high", "fast_writes_low")
    return fast / max(1, fast + _sum(run, "slow_reads", "slow_writes"))


def low_share(run: Outcome) -> float:
    """Share of the fast part's accesses that come in low mode."""
    low = _sum(run, "fast_reads_low", "fast_writes_low")
    return low / max(1, low + _sum(run, "fast_reads_high", "fast_writes_high"))


def pilot_share(run: Outcome) -> float:
    """Share of the run in which the pilot runs."""
    return run["pilot_cycles"] / run.cycles


def top(count: int) -> Metric:
    """Share of the accesses that are to so many registers."""
    return Metric(f"accesses to the top {count} registers", "share", lambda ours, _: ours.reuse.top(count))


def _of(
    key: str,
    where: str,
    metric: Metric,
    paper: float | Range,
    factors: Sequence[Factor],
    point: Point = PARTS,
    over: Point = BASELINE,
) -> Statement:
    band = paper if isinstance(paper, tuple) else (paper, paper)
    return Statement(key, where, metric, band, point, over, short, factors)


def slower(cycles: int) -> Point:
    """With another latency of the slow part."""
    return PARTS.with_changes(slow_cycles=cycles)


_SPEED = (PIPELINED_BANKS, ORACLE)

STATEMENTS = (
    *(
        _of(f"top-{count}", "section III, Fig. 2", top(count), paper, (PTX, LESS, UNOPTIMISED))
        for count, paper in zip(HOT, (0.62, 0.72, 0.77), strict=True)
    ),
    _of(
        "fast",
        "section V.B, Fig. 10",
        share("accesses in the fast part", fast_share),
        0.62,
        (PTX, INSTANT, ORACLE, UNOPTIMISED),
    ),
    _of("low", "section V.B", share("fast accesses in low mode", low_share), 0.22, (PIPELINED_BANKS,)),
    _of("pilot-time", "Table I", share("time in which the pilot runs", pilot_share), 0.161, (FEWER,)),
    _of("speed", "section V.C, Fig. 12", IPC, (-0.02, 0), _SPEED),
    _of("speed-slow", "section V.C, Fig. 12", IPC, -0.071, (PIPELINED_BANKS,), SLOW),
    _of("speed-pilot", "section V.C", IPC, 0.02, (PIPELINED_BANKS,), PARTS, COMPILER),
    _of("speed-4", "section V.C", IPC, -0.005, (PIPELINED_BANKS,), slower(4), PARTS),
    _of("speed-5", "section V.C", IPC, -0.024, (PIPELINED_BANKS,), slower(5), PARTS),
    _of("speed-low", "section V.B", IPC, (-0.005, 0), (PIPELINED_BANKS,), PARTS, PARTS.with_changes(epoch_threshold=0)),
    _of("energy", "section V.B, Fig. 11", energy_over("pilot"), -0.54, (INSTANT, ORACLE, UNOPTIMISED)),
)
#: What the paper says beside these, and what becomes of it here.
LEFT = (
    "Table I has a geometric mean of 3 % for the pilot's time; the page compares the mean of its rows.",
    "The two-level scheduler of Fig. 12, and leakage: figures without numbers in the text, and no model of leakage.",
    f"Its 17 programs of Rodinia and Parboil: {SHORT_STAND_INS}.",
)
