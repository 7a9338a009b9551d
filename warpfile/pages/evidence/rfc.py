"""What a register file cache and a two-level scheduler do on the bundled kernels, next to the paper's section 5."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from warpfile.pages.evidence.claims import Claim, Guess, Without, claims_table, losses
from warpfile.pages.evidence.energy import energy_over, energy_together, unpriced
from warpfile.pages.evidence.rfc_causes import TABLE_5, causes, with_paper_counts, writebacks_over
from warpfile.pages.evidence.rfc_points import (
    ACTIVE,
    ALWAYS,
    BASELINE,
    BOTH,
    CHOICES,
    CHOSEN,
    DEAD_BITS,
    ENTRIES,
    LATENCIES,
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
    hinted,
    load_share,
    reads_avoided,
    scheduler,
    sized,
    timed,
    writes_avoided,
)
from warpfile.pages.evidence.rfc_points import headline as headline
from warpfile.pages.evidence.rfc_points import sweep as sweep
from warpfile.pages.evidence.study import FEW, SEEDS, Outcome, Point, Study
from warpfile.results.markdown import percent, signed, table
from warpfile.results.spread import Spread

#: The paper's IPC over that of all warps active (section 5.2).
_FIGURE_9 = {4: "lower", 6: "-1% compute, -5% shaders", 8: "about equal", WARPS: "0"}
_PRICED = (4, 6, 8)  #: active warps, and entries, of the paper's Tab. 2
_KERNELS = Guess("other kernels, SASS after ptxas")


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    yield "## Paper says, we measure\n"
    yield "Means over the kernels; of energies and bank accesses, of each kernel's ratio to the baseline.\n"
    yield claims_table(claims(study))
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
    yield table(columns, (kernel_row(study, kernel) for kernel in study.kernels))


def claims(study: Study) -> Iterator[Claim]:
    """The paper's claims."""
    yield from _alone(study)
    yield from _both(study)
    yield from _hinted(study)
    yield from _speed(study)
    yield from _energy(study)


def _alone(study: Study) -> Iterator[Claim]:
    reads = _mean(study, PLAIN, reads_avoided)
    yield Claim("bank reads avoided, cache alone (Fig. 6)", "50%", reads, percent, (_KERNELS,))
    plain, live = (study.spread(lambda one, point=point: writes_avoided(one, point)) for point in (PLAIN, LIVE))
    yield Claim("bank writes avoided, cache alone (Fig. 6)", "43%", plain, percent, (_KERNELS,))
    yield Claim("bank writes avoided, with dead bits", "59%", live, percent, (_KERNELS,))
    lru = _accesses(study, LRU, alone().small, FEW)
    yield Claim("bank accesses, LRU over FIFO, small launches (section 3.1)", "-1 to -2%", lru, signed)


def _both(study: Study) -> Iterator[Claim]:
    yield Claim("bank reads avoided, both", "-", _mean(study, BOTH, reads_avoided), percent)
    yield Claim("bank writes avoided, both", "-", study.spread(lambda one: writes_avoided(one, BOTH)), percent)
    found = (
        Without("without suspensions", _accesses(study, RESIDENT, LIVE)),
        *(Without(what, _accesses(study, point, LIVE)) for what, point in CHOSEN.items()),
    )
    yield Claim("bank accesses, both over cache alone (Fig. 11)", "+10%", _accesses(study, BOTH, LIVE), signed, found)
    together = study.spread(lambda one: accesses_together(one, BOTH, LIVE))
    yield Claim("the same, accesses of all kernels added up", "+10%", together, signed)
    yield Claim("results that are loads", "-", _mean(study, BOTH, load_share), percent)


def _hinted(study: Study) -> Iterator[Claim]:
    """Hints, and what they do if every marked beat suspends or if nothing is kept out."""

    def over(suspend: str, hints: str) -> Spread:
        return _accesses(study, hinted(suspend, hints), hinted(suspend, "none"))

    for suspend in SUSPENDS:
        found = [Without("evict first alone", over(suspend, "evict first"))]
        if suspend != "always":
            found.append(Without("every marked beat suspends", over("always", "both")))
        metric = f"bank accesses, hints, suspend = {suspend} (5.3)"
        yield Claim(metric, "-1 to -2%", over(suspend, "both"), signed, tuple(found))
        pair = hinted(suspend, "both"), hinted(suspend, "none")
        back = study.spread(lambda one, pair=pair: writebacks_over(one, *pair))
        yield Claim(f"lines written back, hints, suspend = {suspend}", "-30%", back, signed)


def _speed(study: Study) -> Iterator[Claim]:
    eight = scheduler(8)
    yield Claim("IPC, scheduler alone, 8 active (Fig. 9)", "about equal", _gain(study, eight, BASELINE), signed)
    without = {
        "without suspensions": (RESIDENT, BASELINE),
        **{what: (point, BASELINE) for what, point in CHOSEN.items()},
        **{f"ALU latency of {one}": (timed(BOTH, one), timed(BASELINE, one)) for one in LATENCIES},
    }
    found = tuple(Without(what, _gain(study, *pair)) for what, pair in without.items())
    yield Claim("IPC, both, 8 active", "about equal", _gain(study, BOTH, BASELINE), signed, found)
    yield from losses(study, BOTH, BASELINE, "about equal", without)
    yield Claim("IPC, suspending always over when pending", "-", _gain(study, ALWAYS, BOTH), signed)


def _energy(study: Study) -> Iterator[Claim]:
    saved = study.spread(lambda one: energy_over(one, BOTH, BASELINE, PRICES) - 1)
    banks, both = with_paper_counts(study)
    found = (Without("bank accesses of the paper", banks), Without("and its cache accesses", both))
    yield Claim("access energy, both (Fig. 12)", "-25%", saved, signed, found)
    together = study.spread(lambda one: energy_together(one, BOTH, BASELINE, PRICES) - 1)
    yield Claim("the same, energies of all kernels added up", "-25%", together, signed)
    wires = study.spread(lambda one: energy_over(one, BOTH, BASELINE, PRICES, {"bank": 1.0, "cache": 0.2}) - 1)
    yield Claim("with wires of 1 and 0.2 mm (Tab. 5)", "-35%, -37%", wires, signed)


def _mean(study: Study, point: Point, share: Callable[[Outcome], float]) -> Spread:
    return study.spread(lambda one: one.mean(point, share))


def _accesses(study: Study, point: Point, over: Point, seeds: Sequence[int] = SEEDS) -> Spread:
    return study.spread(lambda one: accesses_over(one, point, over), seeds)


def _gain(study: Study, point: Point, over: Point) -> Spread:
    return study.spread(lambda one: one.speedup(point, over))


def _active(count: int) -> str:
    return "all" if count == WARPS else str(count)


def _ipc(study: Study, point: Point) -> str:
    return signed(study.spread(lambda one: one.speedup(point, BASELINE.small), FEW))


_FIGURES: tuple[tuple[str, Callable[[Study, Point], str]], ...] = (
    ("Bank reads avoided", lambda study, point: percent(study.spread(lambda one: one.mean(point, reads_avoided), FEW))),
    ("Bank writes avoided", lambda study, point: percent(study.spread(lambda one: writes_avoided(one, point), FEW))),
    ("IPC over the baseline", _ipc),
)


def _sweep(study: Study, entries: int, figure: Callable[[Study, Point], str]) -> tuple[object, ...]:
    return (entries, *(figure(study, sized(active, entries, bits)) for bits in DEAD_BITS for active in ACTIVE))


def _figure_12(study: Study, active: int) -> tuple[object, ...]:
    def saved(point: Point) -> Spread:
        return study.spread(lambda one: energy_over(one, point, BASELINE.small, PRICES) - 1, FEW)

    return (active, *(signed(saved(sized(active, count))) for count in _PRICED))


def _table_5(study: Study) -> Iterator[tuple[object, ...]]:
    for (banks, near), paper in TABLE_5.items():
        wires = {"bank": banks, "cache": near}
        ours = study.spread(lambda one, wires=wires: energy_over(one, BOTH, BASELINE, PRICES, wires))
        yield (banks, near, *(f"{ratio:.2f}" for ratio in paper), f"{ours.mean:.2f} ± {ours.half:.2f}")


def _scheduler(study: Study, count: int) -> tuple[object, ...]:
    return (_active(count), _FIGURE_9[count], *(_ipc(study, scheduler(count, choice).small) for choice in CHOICES))


def kernel_row(study: Study, kernel: str) -> tuple[object, ...]:
    """The row of a kernel in the last table, of runs at seed 0."""
    plain, both = study.of(BASELINE, kernel), study.of(BOTH, kernel)
    writes = 1 - both["bank_writes"] / plain["bank_writes"]
    flushed = both["flushes"] / max(1, both["activations"])
    shares = (percent(reads_avoided(both)), percent(writes))
    return (kernel, *shares, f"{plain.ipc:.3f}", f"{both.ipc:.3f}", f"{flushed:.2f}")
