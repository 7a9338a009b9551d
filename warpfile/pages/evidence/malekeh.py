"""What caching collector units do on the bundled kernels, next to the paper's sections 8 and 9."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from warpfile.pages.evidence.claims import Claim, Guess, Without, claims_table, losses
from warpfile.pages.evidence.energy import energy_over, unpriced
from warpfile.pages.evidence.study import FEW, Outcome, Point, Study
from warpfile.results.markdown import percent, points, signed, table
from warpfile.results.spread import Spread

PRESET = "turing"
PRICES = "pilot"
BASELINE = Point("baseline", PRESET)
PAPER = Point("malekeh", PRESET)
ORACLE = Point("malekeh", PRESET, oracle=True)
WINDOWS = Point("bow", PRESET, (("window", 3),))
STATIC = PAPER.but(reuse_hints="static")
THRESHOLDS = (2, 3, 4, 6, 8, 12, 16, 32)
WAITS = (0, 1, 2, 4, 8, 16, 32, 63)
ENTRIES = (8, 16)
INTERVALS = (1000,)
KERNELS = Guess("other kernels")
#: What the gain in cycles could depend on, by what is changed on both sides.
MACHINES: dict[str, Callable[[Point], Point]] = {
    "one port per bank": lambda point: point.but(bank_ports="1RW"),
    "one bank": lambda point: point.but(banks=1, rows=512),
    "four units": lambda point: point.but(collectors=4),
}
#: Another threshold machine than the default is one line here, with the fields that choose it.
ADAPTIVE: dict[str, Point] = {
    "adaptive, 10,000 cycles": PAPER,
    **{f"adaptive, {cycles:,} cycles": PAPER.but(interval=cycles) for cycles in INTERVALS},
    "bounded table, step 1, 10,000 cycles": PAPER.but(wait_table="bounded", wait_step=1),
}


def waiting(limit: int) -> Point:
    """With a fixed wait threshold."""
    return PAPER.but(wait_control="fixed", wait_threshold=limit)


NEVER = waiting(0)
EIGHT = PAPER.but(collectors=8)  #: as many units as there are windows


def headline() -> Iterable[Point]:
    """Everything that the page compares."""
    changed = (change(point) for change in MACHINES.values() for point in (BASELINE, PAPER))
    return (BASELINE, PAPER, WINDOWS, ORACLE, STATIC, NEVER, EIGHT, *changed)


def sweep() -> Iterable[Point]:
    """What it goes through, large launches: intervals are long, and small launches leave a domain two warps."""
    return (
        *map(waiting, WAITS),
        *ADAPTIVE.values(),
        *(PAPER.but(reuse_threshold=limit) for limit in THRESHOLDS),
        *(PAPER.but(unit_entries=count) for count in ENTRIES),
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
    yield claims_table(claims(study))
    yield f"Energy of the banks alone, one price per access. No published energy: {unpriced(study, PAPER, PRICES)}.\n"
    yield "## Reuse threshold\n"
    columns = ("largest near distance", "read hit ratio", "IPC", "results cached")
    rows = ((limit, *_figures(study, PAPER.but(reuse_threshold=limit))) for limit in THRESHOLDS)
    yield table(columns, rows)
    yield from _waits(study)
    yield "## Entries per unit\n"
    rows = ((count, *_figures(study, PAPER.but(unit_entries=count))) for count in ENTRIES)
    yield table(("entries", "read hit ratio", "IPC", "results cached"), rows)
    yield "## Kernel by kernel\n"
    columns = ("kernel", "read hit ratio", "static hints", "windows of 3", "IPC baseline", "IPC", "IPC windows of 3")
    yield table(columns, (kernel_row(study, kernel) for kernel in study.kernels))


def _waits(study: Study) -> Iterator[str]:
    yield "## Wait threshold\n"
    yield "Large launches. *Adaptive over*: IPC of the adaptive threshold, 10,000 cycles, over that of the row.\n"
    rows = [(str(limit), waiting(limit)) for limit in WAITS] + list(ADAPTIVE.items())
    columns = ("wait threshold", "read hit ratio", "IPC", "results cached", "adaptive over")
    yield table(columns, ((name, *_figures(study, point), _gain(study, PAPER, point)) for name, point in rows))
    yield "Wait threshold after each interval of 10,000 cycles:\n"
    decided = ((kernel, study.of(PAPER, kernel).trail) for kernel in study.kernels)
    yield table(("kernel", "threshold"), ((kernel, _thresholds(trail)) for kernel, trail in decided))


def _thresholds(trail: Iterable[Iterable[int]]) -> str:
    return " ".join(str(threshold) for _, _, threshold, *_ in trail) or "ends before"


def claims(study: Study) -> Iterator[Claim]:
    """The paper's claims."""
    yield from _hits(study)
    yield from _accesses(study)
    yield from _speed(study)
    without = {"never waiting": (NEVER, BASELINE), "eight units": (EIGHT, BASELINE)}
    yield from losses(study, PAPER, BASELINE, "b+tree alone, less than 4% (section 9.1)", without)
    yield from _hints(study)


def _hits(study: Study) -> Iterator[Claim]:
    ratios = {kernel: hit_ratio(study.of(PAPER, kernel)) for kernel in study.kernels}
    best, worst = max(ratios, key=ratios.__getitem__), min(ratios, key=ratios.__getitem__)
    yield Claim("read hit ratio, mean (Fig. 7)", "48.5%", _mean(study, PAPER, hit_ratio), percent, (KERNELS,))
    for name, paper, kernel in (("best", "77% (gaussian)", best), ("worst", "13.3% (particlefilter_naive)", worst)):
        ratio = study.spread(lambda one, kernel=kernel: hit_ratio(one.of(PAPER, kernel)))
        yield Claim(f"read hit ratio, {name}", paper, ratio, percent, (KERNELS,), which=kernel)
    ours, windows = _mean(study, PAPER, hit_ratio), _mean(study, WINDOWS, window_hit_ratio)
    flushed = study.spread(lambda one: one.over_kernels(lambda kernel: one.reuse(kernel).near(3, flushed=True)))
    whole = study.spread(lambda one: one.over_kernels(lambda kernel: one.reuse(kernel).near(3)))
    metric = "hit ratio minus that of windows of 3 (section 9.2)"
    causes = (
        Without("windows that hold instructions", ours - whole),
        Without("and forget them at taken branches", ours - flushed),
        KERNELS,
    )
    yield Claim(metric, "+28.1 points", ours - windows, points, causes)


def _accesses(study: Study) -> Iterator[Claim]:
    reads = study.spread(lambda one: _bank_reads(one, PAPER) / _bank_reads(one, BASELINE) - 1)
    yield Claim("bank reads (abstract)", "-48.5%", reads, signed, (KERNELS,))
    saved = study.spread(lambda one: energy_over(one, PAPER, BASELINE, PRICES) - 1)
    yield Claim("energy (abstract)", "-29.1%", saved, signed, (KERNELS,))


def _bank_reads(study: Study, point: Point) -> float:
    return study.mean(point, lambda run: run["bank_reads"])


def _speed(study: Study) -> Iterator[Claim]:
    def gain(point: Point, over: Point) -> Spread:
        return study.spread(lambda one: one.speedup(point, over))

    causes = [Without(what, gain(change(PAPER), change(BASELINE))) for what, change in MACHINES.items()]
    never = Without("never waiting", gain(NEVER, BASELINE))
    yield Claim("IPC over the baseline (Fig. 6)", "+9.6%", gain(PAPER, BASELINE), signed, (*causes, never, KERNELS))
    eight = Without("eight units, as many as windows", gain(EIGHT, WINDOWS))
    yield Claim("IPC over windows of 3", "+5.4%", gain(PAPER, WINDOWS), signed, (eight, KERNELS))


def _hints(study: Study) -> Iterator[Claim]:
    ours = _mean(study, PAPER, hit_ratio)
    bit = ours - _mean(study, ORACLE, hit_ratio)
    yield Claim("hit ratio, one bit minus exact distances", "almost equal", bit, points)
    static = _mean(study, STATIC, hit_ratio) - ours
    yield Claim("hit ratio, static hints minus those from the trace", "-", static, points)


def _mean(study: Study, point: Point, share: Callable[[Outcome], float]) -> Spread:
    return study.spread(lambda one: one.mean(point, share))


def _gain(study: Study, point: Point, over: Point) -> str:
    return signed(study.spread(lambda one: one.speedup(point, over), FEW))


def _cached(run: Outcome) -> float:
    return run["cached_results"] / max(1, run["bank_writes"])


def _figures(study: Study, point: Point) -> tuple[str, str, str]:
    hits, cached = (study.spread(lambda one, f=share: one.mean(point, f), FEW) for share in (hit_ratio, _cached))
    return percent(hits), _gain(study, point, BASELINE), percent(cached)


def kernel_row(study: Study, kernel: str) -> tuple[object, ...]:
    """The row of a kernel in the last table, of runs at seed 0."""
    plain, ours, windows = (study.of(point, kernel) for point in (BASELINE, PAPER, WINDOWS))
    shares = (hit_ratio(ours), hit_ratio(study.of(STATIC, kernel)), window_hit_ratio(windows))
    return (kernel, *map(percent, shares), *(f"{run.ipc:.3f}" for run in (plain, ours, windows)))
