"""What operand windows do on the bundled kernels, next to chapter 3 of the dissertation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from warpfile.evidence.energy import energy_over, unpriced
from warpfile.evidence.markdown import percent, signed, table
from warpfile.evidence.study import Outcome, Point, Study

PRESET = "pascal"
WINDOWS = range(2, 8)
BASELINE = Point("baseline", PRESET)
PRICES = "bow"


def window(size: int, writes: str, entries: int = 0) -> Point:
    """Windows of ``size`` beats; as many entries as four per beat, unless said otherwise."""
    scheme = "bow" if writes == "through" else "bow_wr"
    changes = (("window", size), ("window_entries", entries or 4 * size), ("window_writes", writes))
    return Point(scheme, PRESET, changes)


FULL, HALF = window(3, "hints"), window(3, "hints", 6)
THROUGH, BACK = window(3, "through"), window(3, "back")


def points() -> Iterable[Point]:
    """Everything that the page compares."""
    sweep = (window(size, writes).small for size in WINDOWS for writes in ("through", "back", "hints"))
    return (BASELINE, FULL, HALF, THROUGH, BACK, window(2, "hints"), window(7, "hints"), BASELINE.small, *sweep)


def reads_bypassed(run: Outcome) -> float:
    """Share of the operand reads that need no bank."""
    return run["bypassed_reads"] / max(1, run["bypassed_reads"] + run["bank_reads"])


def writes_bypassed(run: Outcome) -> float:
    """Share of the results that never reach a bank."""
    return run["bypassed_writes"] / max(1, run["results"])


def residency(run: Outcome) -> float:
    """Cycles from a beat's entry to its dispatch."""
    return run["unit_cycles"] / max(1, run["dispatches"])


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    yield "## Paper says, we measure\n"
    yield table(("metric", "dissertation", "bundled kernels", "why"), _claims(study))
    yield "## Windows of 2 to 7 beats\n"
    yield "Small launches; reads and writes that no bank sees (mean), IPC against the baseline (geometric mean).\n"
    columns = ("window", "reads bypassed", "writes: back", "writes: hints", "IPC through", "IPC back", "IPC hints")
    yield table(columns, (_sweep(study, size) for size in WINDOWS))
    yield "## Kernel by kernel, window 3, hints\n"
    columns = (
        "kernel",
        "reads bypassed",
        "writes bypassed",
        "file only",
        "window only",
        "both",
        "neither",
        "IPC baseline",
        "IPC full",
        "IPC half",
        "cycles to dispatch",
        "baseline",
    )
    yield table(columns, (_kernel(study, kernel) for kernel in study.kernels))


def _claims(study: Study) -> Iterator[tuple[str, str, str, str]]:
    mean = study.mean
    sass = "SASS after allocation reuses registers at other distances than PTXPlus; other kernels"
    for size, reads in ((2, "45%"), (3, "59%"), (7, ">70%")):
        ours = percent(mean(window(size, "hints"), reads_bypassed))
        yield f"reads bypassed, window {size} (Fig. 3.3)", reads, ours, sass
    for size, writes in ((2, "35%"), (3, "52%")):
        ours = percent(mean(window(size, "hints"), writes_bypassed))
        yield f"writes bypassed, window {size} (Fig. 3.3)", writes, ours, sass
    for number, name, share in ((1, "file only", "21%"), (2, "window only", "52%"), (3, "both", "27%")):
        ours = percent(mean(FULL, _class(number)))
        yield f"results: {name} (Fig. 3.7)", share, ours, "ptxas schedules dependent instructions apart"
    yield "results: neither", "-", percent(mean(FULL, _class(0))), "never read again; not in the dissertation"
    quiet = "one issue per cycle and scheduler; SASS is scheduled for the banks already"
    yield "IPC, write-through (Fig. 3.10)", "+11%", signed(study.speedup(THROUGH, BASELINE)), quiet
    yield "IPC, hints (Fig. 3.10)", "+13%", signed(study.speedup(FULL, BASELINE)), quiet
    yield "IPC, hints, half-size (Fig. 3.11)", "+11%", signed(study.speedup(HALF, BASELINE)), "-"
    shorter = mean(FULL, residency) / mean(BASELINE, residency) - 1
    yield "cycles from issue to dispatch (Fig. 3.12)", "-60%", signed(shorter), "ports and older beats set the time"
    yield "beats with three sources (Fig. 3.8)", "2%", percent(mean(FULL, _three_sources)), "beats, not instructions"
    yield "cycles with more than half the entries (Fig. 3.9)", "3%", percent(mean(FULL, _crowded)), "per resident warp"
    for name, point, share in (("write-through", THROUGH, "-36%"), ("hints", FULL, "-55%")):
        saved = energy_over(study, point, BASELINE, PRICES) - 1
        without = f"Tab. 3.4 per access, mean of the ratios of all kernels; without {unpriced(study, point, PRICES)}"
        yield f"dynamic energy, {name} (Fig. 3.13)", share, signed(saved), without


def _class(number: int) -> Callable[[Outcome], float]:
    return lambda run: run[f"class_{number}"] / max(1, run["results"])


def _three_sources(run: Outcome) -> float:
    return run["sources_3"] / max(1, run["beats"])


def _crowded(run: Outcome) -> float:
    levels = [run.counters.get(f"occupancy_{count}", 0) for count in range(13)]
    return sum(levels[7:]) / max(1, sum(levels))


def _sweep(study: Study, size: int) -> tuple[object, ...]:
    through, back, hints = (window(size, writes).small for writes in ("through", "back", "hints"))
    return (
        size,
        percent(study.mean(hints, reads_bypassed)),
        percent(study.mean(back, writes_bypassed)),
        percent(study.mean(hints, writes_bypassed)),
        *(signed(study.speedup(point, BASELINE.small)) for point in (through, back, hints)),
    )


def _kernel(study: Study, kernel: str) -> tuple[object, ...]:
    plain, full, half = (study.of(point, kernel) for point in (BASELINE, FULL, HALF))
    shares = (reads_bypassed(full), writes_bypassed(full), *(_class(number)(full) for number in (1, 2, 3, 0)))
    figures = (plain.ipc, full.ipc, half.ipc, residency(full), residency(plain))
    return (kernel, *map(percent, shares), *(f"{value:.3f}" for value in figures))
