"""What a register file cache and a two-level scheduler do on the bundled kernels, next to the paper's section 5."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from warpfile.evidence.energy import energy_over, energy_together, unpriced
from warpfile.evidence.markdown import percent, signed, table
from warpfile.evidence.rfc_causes import TABLE_5, causes, suspensions_taken, with_paper_counts, writebacks_over
from warpfile.evidence.rfc_points import (
    ACTIVE,
    ALWAYS,
    BASELINE,
    BOTH,
    CHOICES,
    DEAD_BITS,
    ENTRIES,
    LIVE,
    LRU,
    PLAIN,
    PRICES,
    RESIDENT,
    SUSPENDS,
    WARPS,
    accesses_over,
    accesses_together,
    alone,
    flushed_share,
    hinted,
    load_share,
    partial_share,
    reads_avoided,
    scheduler,
    sized,
    writes_avoided,
)
from warpfile.evidence.rfc_points import points as points
from warpfile.evidence.study import Point, Study

#: The paper's IPC over that of all warps active (section 5.2).
_FIGURE_9 = {4: "lower", 6: "-1% compute, -5% shaders", 8: "about equal", WARPS: "0"}
_PRICED = (4, 6, 8)  #: active warps, and entries, of the paper's Tab. 2


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    yield "## Paper says, we measure\n"
    yield "Means over the kernels; of energies and bank accesses, of each kernel's ratio to the baseline.\n"
    yield table(("metric", "paper", "bundled kernels", "why"), _claims(study))
    yield from causes(study)
    yield "## Entries per warp and active warps\n"
    yield "Small launches. *All* is the cache alone, without suspensions (Fig. 6); the others are both (Fig. 11).\n"
    for name, figure in _FIGURES:
        yield f"{name}, dead bits honoured and ignored:\n"
        columns = [f"{_active(count)}, {bits}" for bits in DEAD_BITS for count in ACTIVE]
        yield table(("entries", *columns), (_sweep(study, count, figure) for count in ENTRIES))
    yield "## Energy\n"
    yield "Fig. 12, small launches, over the baseline; the paper saves 20 to 40 %, 25 % with 8 warps and 6 entries:\n"
    columns = ("active warps", *(f"{count} entries" for count in _PRICED))
    yield table(columns, (_figure_12(study, active) for active in _PRICED))
    yield "Tab. 5, eight active warps, six entries, with wires; in units of the baseline:\n"
    yield table(("mm to banks", "mm to cache", "paper, compute", "paper, shaders", "bundled kernels"), _table_5(study))
    yield f"No published energy: {unpriced(study, BOTH, PRICES)}.\n"
    yield "## Scheduler alone\n"
    yield "Small launches, IPC over the baseline (Fig. 9).\n"
    yield table(("active warps", "paper, greedy", "greedy", "round robin"), (_scheduler(study, one) for one in ACTIVE))
    yield "The paper gives no numbers for round robin, which it finds worse for larger active sets.\n"
    yield "## Kernel by kernel, eight active warps, six entries\n"
    columns = ("kernel", "bank reads avoided", "bank writes avoided", "IPC baseline", "IPC", "flushed per activation")
    yield table(columns, (_kernel(study, kernel) for kernel in study.kernels))


def _claims(study: Study) -> Iterator[tuple[str, str, str, str]]:
    yield from _alone_claims(study)
    yield from _both_claims(study)
    yield from _speed_claims(study)
    saved = energy_over(study, BOTH, BASELINE, PRICES) - 1
    banks, both = (signed(ratio - 1) for ratio in with_paper_counts(study))
    more = (
        f"{banks} if the banks had the paper's share of accesses, {both} if the cache had, too (below);"
        f" {signed(energy_together(study, BOTH, BASELINE, PRICES) - 1)} of all kernels together"
    )
    yield "access energy, both (Fig. 12)", "-25%", signed(saved), more
    wires = energy_over(study, BOTH, BASELINE, PRICES, {"bank": 1.0, "cache": 0.2}) - 1
    yield "with wires of 1 and 0.2 mm (Tab. 5)", "-35%, -37%", signed(wires), "as before"


def _alone_claims(study: Study) -> Iterator[tuple[str, str, str, str]]:
    reads = study.mean(PLAIN, reads_avoided)
    yield "bank reads avoided, cache alone (Fig. 6)", "50%", percent(reads), "other kernels; SASS after ptxas"
    plain, live = (writes_avoided(study, point) for point in (PLAIN, LIVE))
    yield "bank writes avoided, cache alone (Fig. 6)", "43%", percent(plain), "as before"
    yield "bank writes avoided, with dead bits", "59%", percent(live), "as before"
    lru = accesses_over(study, LRU, alone().small)
    yield "bank accesses, LRU over FIFO (section 3.1)", "-1 to -2%", signed(lru), "small launches"


def _both_claims(study: Study) -> Iterator[tuple[str, str, str, str]]:
    yield "bank reads avoided, both", "-", percent(study.mean(BOTH, reads_avoided)), "-"
    yield "bank writes avoided, both", "-", percent(writes_avoided(study, BOTH)), "-"
    loads, flushes = accesses_over(study, RESIDENT, LIVE), accesses_over(study, BOTH, RESIDENT)
    why = (
        f"{signed(loads)} because loads pass the cache by, {signed(flushes)} because of suspensions:"
        f" {percent(study.mean(BOTH, flushed_share))} of the results are flushed, and those that write some lanes of a"
        f" register that no line has grow from {percent(study.mean(RESIDENT, partial_share))} to"
        f" {percent(study.mean(BOTH, partial_share))}; {signed(accesses_together(study, BOTH, LIVE))} of all kernels"
        " together"
    )
    yield "bank accesses, both over cache alone (Fig. 11)", "+10%", signed(accesses_over(study, BOTH, LIVE)), why
    yield "results that are loads", "-", percent(study.mean(BOTH, load_share)), "-"
    yield from _hint_claims(study)


def _hint_claims(study: Study) -> Iterator[tuple[str, str, str, str]]:
    alone = [
        signed(accesses_over(study, hinted(suspend, "no allocate").small, hinted(suspend, "none").small))
        for suspend in SUSPENDS
    ]
    kept_out = (
        f"the hints assume that every marked beat suspends; here {percent(suspensions_taken(study))} do, and the others"
        f" read what was kept out: {alone[0]} with no allocate alone, {alone[1]} where all suspend (small launches)"
    )
    for suspend, why in zip(SUSPENDS, (kept_out, "every marked beat suspends, as in the paper"), strict=True):
        pair = hinted(suspend, "both"), hinted(suspend, "none")
        yield f"bank accesses, hints, suspend = {suspend} (5.3)", "-1 to -2%", signed(accesses_over(study, *pair)), why
        yield f"lines written back, hints, suspend = {suspend}", "-30%", signed(writebacks_over(study, *pair)), "-"


def _speed_claims(study: Study) -> Iterator[tuple[str, str, str, str]]:
    yield "IPC, scheduler alone, 8 active (Fig. 9)", "about equal", signed(study.speedup(scheduler(8), BASELINE)), "-"
    check = f"{signed(study.speedup(RESIDENT, BASELINE))} without suspensions: a tag check before every dispatch"
    yield "IPC, both, 8 active", "about equal", signed(study.speedup(BOTH, BASELINE)), check
    always = study.speedup(ALWAYS, BOTH)
    yield "IPC, suspending always over when pending", "-", signed(always), "more suspensions (below)"


def _active(count: int) -> str:
    return "all" if count == WARPS else str(count)


def _ipc(study: Study, point: Point) -> str:
    return signed(study.speedup(point, BASELINE.small))


_FIGURES: tuple[tuple[str, Callable[[Study, Point], str]], ...] = (
    ("Bank reads avoided", lambda study, point: percent(study.mean(point, reads_avoided))),
    ("Bank writes avoided", lambda study, point: percent(writes_avoided(study, point))),
    ("IPC over the baseline", _ipc),
)


def _sweep(study: Study, entries: int, figure: Callable[[Study, Point], str]) -> tuple[object, ...]:
    return (entries, *(figure(study, sized(active, entries, bits)) for bits in DEAD_BITS for active in ACTIVE))


def _figure_12(study: Study, active: int) -> tuple[object, ...]:
    found = (energy_over(study, sized(active, count), BASELINE.small, PRICES) for count in _PRICED)
    return (active, *(signed(ratio - 1) for ratio in found))


def _table_5(study: Study) -> Iterator[tuple[object, ...]]:
    for (banks, near), paper in TABLE_5.items():
        ours = energy_over(study, BOTH, BASELINE, PRICES, {"bank": banks, "cache": near})
        yield (banks, near, *(f"{ratio:.2f}" for ratio in (*paper, ours)))


def _scheduler(study: Study, count: int) -> tuple[object, ...]:
    return (_active(count), _FIGURE_9[count], *(_ipc(study, scheduler(count, choice).small) for choice in CHOICES))


def _kernel(study: Study, kernel: str) -> tuple[object, ...]:
    plain, both = study.of(BASELINE, kernel), study.of(BOTH, kernel)
    writes = 1 - both["bank_writes"] / plain["bank_writes"]
    flushed = both["flushes"] / max(1, both["activations"])
    shares = (percent(reads_avoided(both)), percent(writes))
    return (kernel, *shares, f"{plain.ipc:.3f}", f"{both.ipc:.3f}", f"{flushed:.2f}")
