"""What caching collector units do on the bundled kernels, next to the paper's sections 8 and 9."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from warpfile.evidence.energy import energy_over, unpriced
from warpfile.evidence.markdown import percent, signed, table
from warpfile.evidence.study import Outcome, Point, Study

PRESET = "turing"
PRICES = "pilot"
BASELINE = Point("baseline", PRESET)
PAPER = Point("malekeh", PRESET)
FORESIGHT = Point("malekeh", PRESET, foresight=True)
WINDOWS = Point("bow", PRESET, (("window", 3),))
THRESHOLDS = (2, 3, 4, 6, 8, 12, 16, 32)
WAITS = (0, 1, 2, 4, 8, 16, 32, 63)
ENTRIES = (8, 16)
INTERVALS = (1024, 256)


def changed(**changes: object) -> Point:
    """The scheme with other parameters."""
    return Point("malekeh", PRESET, tuple(sorted(changes.items())))


def waiting(limit: int) -> Point:
    """With a fixed wait threshold."""
    return changed(wait_control="fixed", wait_threshold=limit)


def points() -> Iterable[Point]:
    """Everything that the page compares."""
    return (
        BASELINE,
        PAPER,
        WINDOWS,
        FORESIGHT,
        changed(reuse_hints="static"),
        BASELINE.small,
        PAPER.small,
        *(changed(reuse_threshold=limit).small for limit in THRESHOLDS),
        *(waiting(limit).small for limit in WAITS),
        *(changed(unit_entries=count).small for count in ENTRIES),
        *(changed(interval=cycles).small for cycles in INTERVALS),
    )


def hit_ratio(run: Outcome) -> float:
    """Share of the source operands that the units hold."""
    return run["source_hits"] / max(1, run["sources"])


def window_hit_ratio(run: Outcome) -> float:
    """The same of operand windows."""
    return run["bypassed_reads"] / max(1, run["bypassed_reads"] + run["bank_reads"])


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    yield "## Paper says, we measure\n"
    yield table(("metric", "paper", "bundled kernels", "why"), _claims(study))
    yield "## Reuse threshold\n"
    columns = ("largest near distance", "read hit ratio", "IPC", "results cached")
    rows = ((limit, *_figures(study, changed(reuse_threshold=limit).small)) for limit in THRESHOLDS)
    yield table(columns, rows)
    yield "## Wait threshold\n"
    rows = [(limit, *_figures(study, waiting(limit).small)) for limit in WAITS]
    rows += [("adaptive, 10,000 cycles", *_figures(study, PAPER.small))]
    rows += [(f"adaptive, {cycles:,} cycles", *_figures(study, changed(interval=cycles).small)) for cycles in INTERVALS]
    yield table(("wait threshold", "read hit ratio", "IPC", "results cached"), rows)
    yield "Wait threshold after each interval of 256 cycles, first 24 intervals:\n"
    fast = changed(interval=INTERVALS[-1]).small
    rows = [(kernel, " ".join(str(row[2]) for row in study.of(fast, kernel).trail[:24])) for kernel in study.kernels]
    yield table(("kernel", "threshold"), rows)
    yield "## Entries per unit\n"
    rows = [(count, *_figures(study, changed(unit_entries=count).small)) for count in ENTRIES]
    yield table(("entries", "read hit ratio", "IPC", "results cached"), rows)
    yield "## Kernel by kernel\n"
    columns = ("kernel", "read hit ratio", "static hints", "windows of 3", "IPC baseline", "IPC", "IPC windows of 3")
    yield table(columns, (_kernel(study, kernel) for kernel in study.kernels))


def _claims(study: Study) -> Iterator[tuple[str, str, str, str]]:
    ratios = {kernel: hit_ratio(study.of(PAPER, kernel)) for kernel in study.kernels}
    best, worst = max(ratios, key=ratios.__getitem__), min(ratios, key=ratios.__getitem__)
    other = "other kernels; few warps per kernel leave less to schedule around a unit"
    yield "read hit ratio, mean (Fig. 7)", "48.5%", percent(study.mean(PAPER, hit_ratio)), other
    yield "read hit ratio, best", "77% (gaussian)", f"{percent(ratios[best])} ({best})", "-"
    yield "read hit ratio, worst", "13.3% (particlefilter_naive)", f"{percent(ratios[worst])} ({worst})", "-"
    gap = study.mean(PAPER, hit_ratio) - study.mean(WINDOWS, window_hit_ratio)
    flush = "the paper's windows are flushed by branches, and hold instructions; ours go on, and hold beats"
    yield "hit ratio minus that of windows of 3 (section 9.2)", "+28.1 points", f"{100 * gap:+.1f} points", flush
    reads = study.mean(PAPER, lambda run: run["bank_reads"]) / study.mean(BASELINE, lambda run: run["bank_reads"]) - 1
    yield "bank reads (abstract)", "-48.5%", signed(reads), other
    saved = energy_over(study, PAPER, BASELINE, PRICES) - 1
    alone = f"banks alone, one price per access; no published energy for {unpriced(study, PAPER, PRICES)}"
    yield "energy (abstract)", "-29.1%", signed(saved), alone
    waits = "banks with a read and a write port leave few conflicts to save"
    yield "IPC over the baseline (Fig. 6)", "+9.6%", signed(study.speedup(PAPER, BASELINE)), waits
    yield (
        "IPC over windows of 3",
        "+5.4%",
        signed(study.speedup(PAPER, WINDOWS)),
        "here every warp has a window, 8 in all; caching units are 2",
    )
    static = study.mean(changed(reuse_hints="static"), hit_ratio) - study.mean(PAPER, hit_ratio)
    bit = study.mean(PAPER, hit_ratio) - study.mean(FORESIGHT, hit_ratio)
    yield "hit ratio, one bit minus exact distances", "almost equal", f"{100 * bit:+.1f} points", "-"
    yield "hit ratio with static hints", "-", f"{100 * static:+.1f} points", "the paper takes distances from the trace"


def _figures(study: Study, point: Point) -> tuple[str, str, str]:
    cached = study.mean(point, lambda run: run["cached_results"] / max(1, run["bank_writes"]))
    return percent(study.mean(point, hit_ratio)), signed(study.speedup(point, BASELINE.small)), percent(cached)


def _kernel(study: Study, kernel: str) -> tuple[object, ...]:
    plain, ours, windows = (study.of(point, kernel) for point in (BASELINE, PAPER, WINDOWS))
    shares = (hit_ratio(ours), hit_ratio(study.of(changed(reuse_hints="static"), kernel)), window_hit_ratio(windows))
    return (kernel, *map(percent, shares), *(f"{run.ipc:.3f}" for run in (plain, ours, windows)))
