"""Configurations of the register file cache that its page compares, and what is measured of them."""

from __future__ import annotations

from collections.abc import Iterable

from warpfile.pages.evidence.study import Outcome, Point, Study
from warpfile.schemes import SCHEMES

PRESET = "isca2011"
PRICES = "rfc"
WARPS = 32
ENTRIES = range(1, 9)
ACTIVE = (4, 6, 8, WARPS)
BANK_ACCESSES = ("bank_reads", "bank_writes")
DEAD_BITS = ("honoured", "ignored")
SUSPENDS = ("pending", "always")
CHOICES = ("greedy", "round_robin")
#: The hints about the next suspension, by name.
HINTS = {
    "none": {},
    "no allocate": {"allocation": "hinted"},
    "evict first": {"replacement": "evict_first"},
    "both": {"allocation": "hinted", "replacement": "evict_first"},
}


def cache(**changes: object) -> Point:
    """Cache and scheduler with other parameters; with all warps active none is ever suspended."""
    if changes.get("active_warps") == WARPS:
        changes["suspend"] = "never"
    default = SCHEMES["rfc"].configuration(PRESET)
    kept = {name: value for name, value in changes.items() if getattr(default, name) != value}
    return Point("rfc", PRESET, tuple(sorted(kept.items())))


def alone(entries: int = 6, dead_bits: str = "ignored", **changes: object) -> Point:
    """The cache without the scheduler: all warps active, loads enter it like all other results."""
    free = {"active_warps": WARPS, "long_results": "allocate"}
    return cache(cache_entries=entries, dead_bits=dead_bits, **free, **changes)


def sized(active: int, entries: int, dead_bits: str = "honoured") -> Point:
    """A point of the sweep, small launches: the cache alone where all warps are active, otherwise both."""
    if active == WARPS:
        return alone(entries, dead_bits).small
    return cache(active_warps=active, cache_entries=entries, dead_bits=dead_bits).small


def scheduler(active: int, choice: str = "greedy") -> Point:
    """The baseline under the two-level scheduler; with all warps active none is ever suspended."""
    changes = (("active_choice", choice), ("active_warps", active), ("scheduler", "two_level"))
    return Point("baseline", PRESET, (*changes, ("suspend", "never")) if active == WARPS else changes)


def hinted(suspend: str, hints: str) -> Point:
    """Both, with hints about the next suspension."""
    return cache(suspend=suspend, **HINTS[hints])


BASELINE = Point("baseline", PRESET)
BOTH = cache()  #: eight active warps, six entries, suspended for a load that is pending
ALWAYS = cache(suspend="always")
PLAIN, LIVE = alone(), alone(dead_bits="honoured")
RESIDENT = cache(active_warps=WARPS)  #: as BOTH, without suspensions
LRU = alone(replacement="lru").small
#: The same with one choice made otherwise, unless that is how it is made; another choice is one line here.
_CHOICES = {
    "four collector units": cache(collectors=4),
    "five collector units": cache(collectors=5),
    "a place kept at barriers unless needed": cache(suspend_barrier="needed"),
    "lines that know their lanes": cache(partial_results="lanes"),
}
CHOSEN = {name: point for name, point in _CHOICES.items() if point != BOTH}


#: Latencies of the ALU besides the preset's: with 4, dependent instructions issue the paper's 8 cycles apart.
LATENCIES = tuple(one for one in (4, 8) if one != SCHEMES["rfc"].configuration(PRESET).alu_latency)


def timed(point: Point, cycles: int) -> Point:
    """The same with another latency of the ALU, and of the uniform datapath that follows it."""
    return point.but(alu_latency=cycles, uniform_latency=cycles + 3)


def headline() -> Iterable[Point]:
    """Everything that the page compares."""
    return (
        *(BASELINE, BOTH, PLAIN, LIVE, RESIDENT, scheduler(8), *CHOSEN.values()),
        *(timed(point, cycles) for point in (BASELINE, BOTH) for cycles in LATENCIES),
        *(hinted(suspend, hints) for suspend in SUSPENDS for hints in ("none", "evict first", "both")),
    )


def sweep() -> Iterable[Point]:
    """What it goes through, small launches."""
    return (
        *(BASELINE.small, LRU, alone().small),
        *(sized(active, count, bits) for active in ACTIVE for count in ENTRIES for bits in DEAD_BITS),
        *(scheduler(active, choice).small for active in ACTIVE for choice in CHOICES),
        *(hinted(suspend, hints).small for suspend in SUSPENDS for hints in HINTS),
    )


def reads_avoided(run: Outcome) -> float:
    """Share of the operand reads that the cache serves."""
    return run["cache_hits"] / max(1, run["cache_hits"] + run["cache_misses"])


def results(run: Outcome) -> int:
    """Results that cache or queues took."""
    uncached = ("bypasses_hint", "bypasses_partial", "bypasses_full", "long_results")
    return run["cache_writes"] + sum(run[counter] for counter in uncached)


def partial_share(run: Outcome) -> float:
    """Share of the results that pass the cache by because they write some lanes only."""
    return run["bypasses_partial"] / max(1, results(run))


def load_share(run: Outcome) -> float:
    """Share of the results that pass it by because they are loads."""
    return run["long_results"] / max(1, results(run))


def flushed_share(run: Outcome) -> float:
    """Lines written to their banks because of a suspension, per result."""
    return run["flushes"] / max(1, results(run))


def baseline_of(point: Point) -> Point:
    """The baseline with the same launches."""
    return BASELINE if point.setting == "large" else BASELINE.small


def writes_avoided(study: Study, point: Point) -> float:
    """Share of the baseline's bank writes that are not done, mean over the kernels."""
    return 1 - _left(study, point, ("bank_writes",), ("bank_writes",))


def accesses_left(study: Study, point: Point) -> float:
    """Bank accesses in units of the baseline's, mean over the kernels."""
    return _left(study, point, BANK_ACCESSES, BANK_ACCESSES)


def cache_accesses(study: Study, point: Point) -> float:
    """Reads and writes of the cache in units of the baseline's bank accesses, mean over the kernels."""
    kinds = SCHEMES["rfc"].accesses
    return _left(study, point, (*kinds["cache_read"], *kinds["cache_write"]), BANK_ACCESSES)


def _left(study: Study, point: Point, ours: tuple[str, ...], base: tuple[str, ...]) -> float:
    def left(kernel: str) -> float:
        found, plain = study.of(point, kernel), study.of(baseline_of(point), kernel)
        return sum(found[name] for name in ours) / sum(plain[name] for name in base)

    return study.over_kernels(left)


def accesses_over(study: Study, point: Point, over: Point) -> float:
    """Growth of the mean share of bank accesses that is left."""
    return accesses_left(study, point) / accesses_left(study, over) - 1


def accesses_together(study: Study, point: Point, over: Point) -> float:
    """Growth of the bank accesses of all kernels, added up."""
    return total(study, point, *BANK_ACCESSES) / total(study, over, *BANK_ACCESSES) - 1


def total(study: Study, point: Point, *counters: str) -> int:
    """Sum of some counters over all kernels."""
    return sum(study.of(point, kernel)[name] for kernel in study.kernels for name in counters)
