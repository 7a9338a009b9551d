"""A register file cache and a two-level scheduler, next to the paper's section 5: claims, and what is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from warpfile.pages.evidence.factors import Factor, launch, ptxas
from warpfile.pages.evidence.metrics import IPC, SHORT_STAND_INS, energy_over, ratio, share, short
from warpfile.pages.evidence.samples import Metric, Sample
from warpfile.pages.evidence.statements import Statement
from warpfile.results.figure import Range
from warpfile.results.points import Outcome, Point, Run
from warpfile.schemes import find

PRESET = "isca2011"
PAPER = (
    "M. Gebhart and others, Energy-efficient mechanisms for managing thread context in throughput processors, ISCA 2011"
)
WARPS = 32
SPOT = "conv2d"


def cache(**changes: object) -> Point:
    """Cache and scheduler with other parameters."""
    default = find("rfc").configuration(PRESET)
    kept = {name: value for name, value in changes.items() if getattr(default, name) != value}
    return Point("rfc", PRESET, tuple(sorted(kept.items())))


def cache_alone(dead_bits: str, **changes: object) -> Point:
    """The cache without the scheduler: all warps active, none suspended, loads enter it like all other results."""
    free = {"active_warps": WARPS, "suspend": "never", "long_results": "allocate"}
    return cache(dead_bits=dead_bits, **free, **changes)


BASELINE = Point("baseline", PRESET)
BOTH = cache()  #: eight active warps, six entries, suspended for a load that is pending
PLAIN, LIVE = cache_alone("ignored"), cache_alone("honoured")
HINTED = cache(allocation="hinted", replacement="evict_first")
SCHEDULER = BASELINE.with_changes(active_choice="greedy", active_warps=8, scheduler="two_level")

SMALL, UNOPTIMISED = launch("launch"), ptxas("O0")
LANES = Factor("results of some lanes enter the cache too", own={"partial_results": "lanes"})
NEEDED = Factor("a place is kept at barriers until needed", own={"suspend_barrier": "needed"})
RESIDENT = Factor("without suspensions", own={"active_warps": WARPS, "suspend": "never"})
ALWAYS = Factor("every marked instruction suspends", both={"suspend": "always"})
MARKED = Factor("every marked instruction suspends", own={"suspend": "always"}, assumed="section 3.2: replacement")


def reads_avoided(run: Outcome) -> float:
    """Share of the operand reads that the cache serves."""
    return run["cache_hits"] / max(1, run["cache_hits"] + run["cache_misses"])


def accesses(run: Outcome) -> float:
    """Of banks."""
    return run["bank_reads"] + run["bank_writes"]


def written_back(run: Outcome) -> float:
    """Lines that are evicted or flushed to their banks; one where there are none."""
    return max(1, run["evictions"] + run["flushes"])


def _writes_avoided(ours: Sample, other: Sample) -> float:
    return 1 - ours.outcome["bank_writes"] / max(1, other.outcome["bank_writes"])


def _points(ours: Sample, other: Sample) -> float:
    """Growth in points of what banks without a cache do: sources and results of the run beside it, where all are short
    and may enter the cache."""
    names = ("cache_hits", "cache_misses", "cache_writes", "bypasses_partial")
    return 1 + (accesses(ours.outcome) - accesses(other.outcome)) / sum(other.outcome[name] for name in names)


READS = share("bank reads avoided", reads_avoided)
WRITES = Metric("bank writes avoided", "share", _writes_avoided)
ACCESSES = ratio("bank accesses", accesses)
POINTS = Factor(
    "in points of the accesses without a cache",
    counted=Metric("bank accesses", "growth", _points),
    assumed="section 5.3: beside Fig. 6, whose shares are of those",
)
#: Lengths in mm from banks and from the cache to where operands are used, of Tab. 5.
WIRES = {"bank": 1.0, "cache": 0.2}


def claim(
    key: str,
    where: str,
    metric: Metric,
    paper: float | Range,
    point: Point,
    factors: Sequence[Factor],
    over: Point = BASELINE,
) -> Statement:
    """A claim about the kernels whose large launches are short."""
    band = paper if isinstance(paper, tuple) else (paper, paper)
    return Statement(key, where, metric, band, point, over, short, factors)


_CODE = (SMALL, LANES, UNOPTIMISED)


def at_prices_of(point: Point, wires: Mapping[str, float]) -> Callable[[Sample, Sample], float]:
    """Energy over that of the machine beside it, at the prices of a point's configuration."""

    def of(ours: Sample, other: Sample) -> float:
        return ours.picojoules("rfc", wires, Run(point, ours.run.kernel).config) / other.picojoules("rfc", wires)

    return of


def free(point: Point, wires: Mapping[str, float]) -> Factor:
    """No suspensions, at the prices of the eight active warps of a point."""
    metric = energy_over("rfc", wires)
    counted = Metric(metric.name, metric.kind, at_prices_of(point, wires))
    return replace(RESIDENT, what="without suspensions, at the same prices", counted=counted)


def _energy(key: str, where: str, paper: float | Range, wires: Mapping[str, float]) -> Statement:
    """Of the cache and the scheduler together."""
    return claim(key, where, energy_over("rfc", wires), paper, BOTH, (free(BOTH, wires), *_CODE))


STATEMENTS = (
    claim("reads-alone", "section 1, Fig. 6", READS, 0.5, PLAIN, _CODE),
    claim("writes-alone", "section 1, Fig. 6", WRITES, 0.43, PLAIN, _CODE),
    claim("writes-dead-bits", "section 1, Fig. 6", WRITES, 0.59, LIVE, _CODE),
    claim("lru", "section 3.1", ACCESSES, (-0.02, -0.01), cache_alone("ignored", replacement="lru"), (), PLAIN),
    claim("both-over-alone", "section 5.3, Fig. 11", ACCESSES, 0.1, BOTH, (POINTS, NEEDED, RESIDENT), LIVE),
    claim("hints", "section 5.3", ACCESSES, (-0.02, -0.01), HINTED, (SMALL, ALWAYS), BOTH),
    claim(
        "hints-writebacks",
        "section 5.3",
        ratio("lines written back", written_back),
        -0.3,
        HINTED,
        (SMALL, ALWAYS),
        BOTH,
    ),
    claim("speed-scheduler", "section 5.2, Fig. 9", IPC, 0, SCHEDULER, (SMALL, MARKED)),
    claim("speed", "section 5.2", IPC, 0, BOTH, (RESIDENT, SMALL, LANES)),
    _energy("energy", "section 5.4, Fig. 12", -0.25, {}),
    _energy("energy-wires", "section 5.4, Tab. 5", (-0.37, -0.35), WIRES),
)
#: What the paper says beside these, and what becomes of it here.
LEFT = (
    "Other numbers of entries and active warps: bars without numbers in the text.",
    f"Its 210 traces of programs and shaders: {SHORT_STAND_INS}, none of which is a shader.",
)
