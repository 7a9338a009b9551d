"""What a register file cache and a two-level scheduler do on the bundled kernels, next to the paper's section 5."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpfile.evidence.markdown import percent, signed, table
from warpfile.evidence.study import Outcome, Point, Study

PRESET = "isca2011"
WARPS = 32
BASELINE = Point("baseline", PRESET)
BOTH = Point("rfc", PRESET)
ENTRIES = range(1, 9)
ACTIVE = (4, 6, 8, WARPS)
#: pJ per 128-bit access (paper, Tab. 3): banks read and write, a cache of six entries for eight warps read and write.
BANK_READ, BANK_WRITE, CACHE_READ, CACHE_WRITE = 8.0, 11.0, 2.2, 6.7


def cache(**changes: object) -> Point:
    """Cache and scheduler with other parameters."""
    return Point("rfc", PRESET, tuple(sorted(changes.items())))


def alone(entries: int = 6, dead_bits: str = "ignored", **changes: object) -> Point:
    """The cache without the scheduler: all warps active, loads enter it like all other results."""
    free = {"active_warps": WARPS, "suspend": "never", "long_results": "allocate"}
    return cache(cache_entries=entries, dead_bits=dead_bits, **free, **changes)


def scheduler(active: int, choice: str = "greedy") -> Point:
    """The baseline under the two-level scheduler."""
    changes = (("active_choice", choice), ("active_warps", active), ("scheduler", "two_level"))
    return Point("baseline", PRESET, changes)


HINTED = cache(allocation="hinted", replacement="evict_first")
ALWAYS = cache(suspend="always")
LIVE = alone(dead_bits="honoured")


def points() -> Iterable[Point]:
    """Everything that the page compares."""
    sweep = (alone(count, bits).small for count in ENTRIES for bits in ("ignored", "honoured"))
    active = (point.small for count in ACTIVE for point in (cache(active_warps=count), scheduler(count)))
    return (
        *(BASELINE, BOTH, alone(), LIVE, HINTED, ALWAYS, scheduler(8)),
        *(BASELINE.small, alone(replacement="lru").small, scheduler(8, "round_robin").small),
        *sweep,
        *active,
    )


def reads_avoided(run: Outcome) -> float:
    """Share of the operand reads that the cache serves."""
    return run["cache_hits"] / max(1, run["cache_hits"] + run["cache_misses"])


def energy(run: Outcome) -> float:
    """pJ of all accesses to banks and cache, eight of 128 bits for each warp register, without wires."""
    banks = BANK_READ * run["bank_reads"] + BANK_WRITE * run["bank_writes"]
    if "cache_hits" not in run.counters:
        return 8 * banks
    reads = run["cache_hits"] + run["evictions"] + run["flushes"]
    return 8 * (banks + CACHE_READ * reads + CACHE_WRITE * (run["cache_writes"] + run["long_merges"]))


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    yield "## Paper says, we measure\n"
    yield table(("metric", "paper", "bundled kernels", "why"), _claims(study))
    yield "## Entries per warp, all warps active\n"
    columns = ("entries", "bank reads avoided", "bank writes avoided", "with dead bits")
    yield table(columns, (_entries(study, count) for count in ENTRIES))
    yield "## Active warps\n"
    columns = ("active warps", "IPC, scheduler alone", "IPC, both", "bank reads avoided", "bank writes avoided")
    yield table(columns, (_active(study, count) for count in ACTIVE))
    yield "## Kernel by kernel, eight active warps, six entries\n"
    columns = ("kernel", "bank reads avoided", "bank writes avoided", "IPC baseline", "IPC", "flushed per activation")
    yield table(columns, (_kernel(study, kernel) for kernel in study.kernels))


def _claims(study: Study) -> Iterator[tuple[str, str, str, str]]:
    other = "other kernels, and SASS that is scheduled with dependent instructions apart"
    yield "bank reads avoided, cache alone (Fig. 6)", "50%", percent(study.mean(alone(), reads_avoided)), other
    yield "bank writes avoided, cache alone (Fig. 6)", "43%", percent(_writes_avoided(study, alone(), BASELINE)), other
    yield "bank writes avoided, with dead bits", "59%", percent(_writes_avoided(study, LIVE, BASELINE)), other
    yield "bank reads avoided, both (section 5.3)", "-", percent(study.mean(BOTH, reads_avoided)), "-"
    yield "bank writes avoided, both", "-", percent(_writes_avoided(study, BOTH, BASELINE)), "-"
    more = _accesses(study, BOTH) / _accesses(study, LIVE) - 1
    yield "bank accesses, both over cache alone (Fig. 11)", "+10%", signed(more), "suspensions per instruction differ"
    fewer = _accesses(study, HINTED) / _accesses(study, BOTH) - 1
    yield "bank accesses, no-allocate and evict-first hints", "-1 to -2%", signed(fewer), "-"
    lru = _accesses(study, alone(replacement="lru").small) / _accesses(study, alone().small) - 1
    yield "bank accesses, LRU over FIFO (section 3.1)", "-1 to -2%", signed(lru), "small launches"
    yield "IPC, scheduler alone, 8 active (Fig. 9)", "about equal", signed(study.speedup(scheduler(8), BASELINE)), "-"
    yield (
        "IPC, both, 8 active",
        "about equal",
        signed(study.speedup(BOTH, BASELINE)),
        "a tag check before every dispatch",
    )
    always = study.speedup(ALWAYS, BOTH)
    yield "IPC, suspending always over when pending", "-", signed(always), "the literal reading flushes without need"
    saved = study.mean(BOTH, energy) / study.mean(BASELINE, energy) - 1
    yield "access energy, both (Fig. 12)", "-25%", signed(saved), "table 3 per access, no wires"


def _writes_avoided(study: Study, point: Point, over: Point) -> float:
    shares = (
        1 - study.of(point, kernel)["bank_writes"] / study.of(over, kernel)["bank_writes"] for kernel in study.kernels
    )
    return sum(shares) / len(study.kernels)


def _accesses(study: Study, point: Point) -> float:
    return study.mean(point, lambda run: run["bank_reads"] + run["bank_writes"])


def _entries(study: Study, count: int) -> tuple[object, ...]:
    plain, live = alone(count).small, alone(count, "honoured").small
    writes = (_writes_avoided(study, point, BASELINE.small) for point in (plain, live))
    return (count, percent(study.mean(plain, reads_avoided)), *map(percent, writes))


def _active(study: Study, count: int) -> tuple[object, ...]:
    both = cache(active_warps=count).small
    ipc = (signed(study.speedup(point, BASELINE.small)) for point in (scheduler(count).small, both))
    avoided = (study.mean(both, reads_avoided), _writes_avoided(study, both, BASELINE.small))
    return (count, *ipc, *map(percent, avoided))


def _kernel(study: Study, kernel: str) -> tuple[object, ...]:
    plain, both = study.of(BASELINE, kernel), study.of(BOTH, kernel)
    writes = 1 - both["bank_writes"] / plain["bank_writes"]
    flushed = both["flushes"] / max(1, both["activations"])
    return (
        kernel,
        percent(reads_avoided(both)),
        percent(writes),
        f"{plain.ipc:.3f}",
        f"{both.ipc:.3f}",
        f"{flushed:.2f}",
    )
