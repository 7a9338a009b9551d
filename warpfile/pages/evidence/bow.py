"""What operand windows do on the bundled kernels, next to chapter 3 of the dissertation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from warpfile.pages.evidence.claims import Claim, Guess, Without, claims_table, losses
from warpfile.pages.evidence.energy import energy_over, unpriced
from warpfile.pages.evidence.reuse import Reuse
from warpfile.pages.evidence.study import FEW, Outcome, Point, Study
from warpfile.results.markdown import percent, signed, table
from warpfile.results.spread import Spread
from warpfile.schemes import SCHEMES

PRESET = "pascal"
WINDOWS = range(2, 8)
#: Banks, and rows that keep the size of the file.
BANKS = {2: 256, 4: 128, 8: 64, 16: 32}
BASELINE = Point("baseline", PRESET)
PRICES = "bow"
PTXPLUS = Guess("PTXPlus before allocation, other kernels")
FULL_WINDOWS = Guess("windows hold complete beats that wait for their port; units leave them in the buffers")


def window(size: int, writes: str, entries: int = 0) -> Point:
    """Windows of ``size`` beats; as many entries as four per beat, unless said otherwise."""
    scheme = "bow" if writes == "through" else "bow_wr"
    changes = (("window", size), ("window_entries", entries or 4 * size), ("window_writes", writes))
    return Point(scheme, PRESET, changes)


FULL, HALF = window(3, "hints"), window(3, "hints", 6)
THROUGH, BACK = window(3, "through"), window(3, "back")


def banked(point: Point, banks: int) -> Point:
    """The same with another number of banks."""
    return point.but(banks=banks, rows=BANKS[banks])


def quick(point: Point) -> Point:
    """The same with misses that take as long as hits."""
    hits = SCHEMES["baseline"].configuration(PRESET).hit_latency
    return point.but(miss_latency=hits, sector_interval=1)


def dual(point: Point) -> Point:
    """The same with two issues of one warp per cycle, as the paper's scheduler has."""
    return replace(point, issues="one warp")


#: What the gain in cycles could depend on, by what is changed on both sides.
MACHINES: dict[str, Callable[[Point], Point]] = {
    "four banks": lambda point: banked(point, 4),
    "two issues per cycle": dual,
    "two issues, four banks": lambda point: banked(dual(point), 4),
    "misses as short as hits": quick,
}


def headline() -> Iterable[Point]:
    """Everything that the page compares."""
    changed = (change(point) for change in MACHINES.values() for point in (BASELINE, THROUGH, FULL, HALF))
    return (BASELINE, FULL, HALF, THROUGH, window(2, "hints"), window(7, "hints"), *changed)


def sweep() -> Iterable[Point]:
    """What it goes through, large launches: small ones leave a domain two warps."""
    windows = (window(size, writes) for size in WINDOWS for writes in ("through", "back", "hints"))
    banks = (banked(point, count) for count in BANKS for point in (BASELINE, THROUGH, FULL, HALF))
    return (BASELINE, *windows, *banks)


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


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    yield "## Paper says, we measure\n"
    yield "Full-size windows have 12 entries, half-size ones, the dissertation's design point, 6.\n"
    yield claims_table(claims(study))
    yield f"No published energy: {unpriced(study, FULL, PRICES)}. Energies are means of the ratios of all kernels.\n"
    yield "## Windows of 2 to 7 beats\n"
    yield "Reads and writes that no bank sees (mean), IPC against the baseline (geometric mean).\n"
    columns = ("window", "reads bypassed", "writes: back", "writes: hints", "IPC through", "IPC back", "IPC hints")
    yield table(columns, (_sweep(study, size) for size in WINDOWS))
    yield "## Banks\n"
    yield "IPC against the baseline with as many banks, which hold as many registers together.\n"
    columns = ("banks", "IPC through", "IPC full", "IPC half")
    yield table(columns, (_banks(study, count) for count in BANKS))
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
    yield table(columns, (kernel_row(study, kernel) for kernel in study.kernels))


def claims(study: Study) -> Iterator[Claim]:
    """The dissertation's claims."""
    yield from _sharing(study)
    yield from _speed(study)
    yield from _energy(study)


def _sharing(study: Study) -> Iterator[Claim]:
    def mean(point: Point, share: Callable[[Outcome], float]) -> Spread:
        return study.spread(lambda one: one.mean(point, share))

    for size, paper in ((2, "45%"), (3, "59%"), (7, ">70%")):
        causes = (*_counted(study, size), PTXPLUS)
        metric = f"reads bypassed, window {size} (Fig. 3.3)"
        yield Claim(metric, paper, mean(window(size, "hints"), reads_bypassed), percent, causes)
    metric = "reads bypassed, window 3, half-size (Fig. 3.11)"
    yield Claim(metric, "-", mean(HALF, reads_bypassed), percent)
    for size, paper in ((2, "35%"), (3, "52%")):
        metric = f"writes bypassed, window {size} (Fig. 3.3)"
        yield Claim(metric, paper, mean(window(size, "hints"), writes_bypassed), percent, (PTXPLUS,))
    for number, name, paper in ((1, "file only", "21%"), (2, "window only", "52%"), (3, "both", "27%")):
        farther = Without("window of 7", mean(window(7, "hints"), _class(number)))
        yield Claim(f"results: {name} (Fig. 3.7)", paper, mean(FULL, _class(number)), percent, (farther, PTXPLUS))
    yield Claim("results: neither", "-", mean(FULL, _class(0)), percent)
    wide = Without("counted in instructions", _of_traces(study, lambda one: one.wide(3)))
    yield Claim("beats with three sources (Fig. 3.8)", "2%", mean(FULL, _three_sources), percent, (wide, PTXPLUS))
    crowded = "cycles of a resident warp with more than half the entries (Fig. 3.9)"
    yield Claim(crowded, "3%", mean(FULL, _crowded), percent)


def _counted(study: Study, size: int) -> Iterator[Without]:
    """Windows as the trace has them: of instructions, and of those that name a register."""
    yield Without("window of instructions", _of_traces(study, lambda one: one.near(size)))
    named = _of_traces(study, lambda one: one.near(size, with_registers=True))
    yield Without("of those with a register", named)


def _of_traces(study: Study, share: Callable[[Reuse], float]) -> Spread:
    return study.spread(lambda one: one.over_kernels(lambda kernel: share(one.reuse(kernel))))


def _speed(study: Study) -> Iterator[Claim]:
    for name, point, paper in (
        ("write-through (Fig. 3.10)", THROUGH, "+11%"),
        ("hints, full-size (Fig. 3.10)", FULL, "+13%"),
        ("hints, half-size (Fig. 3.11)", HALF, "+11%"),
    ):
        causes = [Without(what, _gain(study, change(point), change(BASELINE))) for what, change in MACHINES.items()]
        yield Claim(f"IPC, {name}", paper, _gain(study, point, BASELINE), signed, tuple(causes))
    yield from losses(
        study, FULL, BASELINE, "-", {what: (change(FULL), change(BASELINE)) for what, change in MACHINES.items()}
    )
    half = _gain(study, HALF, FULL)
    yield Claim("IPC, half-size over full-size (Fig. 3.11)", "-2%", half, signed)
    for name, point in (("full-size", FULL), ("half-size", HALF)):
        cycles, missing = (_over(study, point, figure) for figure in (residency, waiting))
        yield Claim(f"cycles from issue to dispatch, {name} (Fig. 3.12)", "-60%", cycles, signed, (FULL_WINDOWS,))
        yield Claim(f"of these, cycles with an operand missing, {name}", "-60%", missing, signed, (PTXPLUS,))


def _over(study: Study, point: Point, figure: Callable[[Outcome], float]) -> Spread:
    """Growth of a mean over the baseline's."""
    return study.spread(lambda one: one.mean(point, figure) / one.mean(BASELINE, figure) - 1)


def _gain(study: Study, point: Point, over: Point) -> Spread:
    return study.spread(lambda one: one.speedup(point, over))


def _energy(study: Study) -> Iterator[Claim]:
    for name, point, paper in (("write-through", THROUGH, "-36%"), ("hints", FULL, "-55%"), ("half-size", HALF, "-")):
        saved = study.spread(lambda one, point=point: energy_over(one, point, BASELINE, PRICES) - 1)
        yield Claim(f"dynamic energy, {name} (Fig. 3.13)", paper, saved, signed)


def _class(number: int) -> Callable[[Outcome], float]:
    return lambda run: run[f"class_{number}"] / max(1, run["results"])


def _three_sources(run: Outcome) -> float:
    return run["sources_3"] / max(1, run["beats"])


def _crowded(run: Outcome) -> float:
    levels = [run.counters.get(f"occupancy_{count}", 0) for count in range(13)]
    return sum(levels[7:]) / max(1, sum(levels))


def _sweep(study: Study, size: int) -> tuple[object, ...]:
    through, back, hints = (window(size, writes) for writes in ("through", "back", "hints"))
    return (
        size,
        percent(study.spread(lambda one: one.mean(hints, reads_bypassed), FEW)),
        percent(study.spread(lambda one: one.mean(back, writes_bypassed), FEW)),
        percent(study.spread(lambda one: one.mean(hints, writes_bypassed), FEW)),
        *(_ipc(study, point, BASELINE) for point in (through, back, hints)),
    )


def _banks(study: Study, count: int) -> tuple[object, ...]:
    base = banked(BASELINE, count)
    return (count, *(_ipc(study, banked(point, count), base) for point in (THROUGH, FULL, HALF)))


def _ipc(study: Study, point: Point, base: Point) -> str:
    return signed(study.spread(lambda one: one.speedup(point, base), FEW))


def kernel_row(study: Study, kernel: str) -> tuple[object, ...]:
    """The row of a kernel in the last table, of runs at seed 0."""
    plain, full, half = (study.of(point, kernel) for point in (BASELINE, FULL, HALF))
    shares = (reads_bypassed(full), writes_bypassed(full), *(_class(number)(full) for number in (1, 2, 3, 0)))
    figures = (plain.ipc, full.ipc, half.ipc, residency(full), residency(plain))
    return (kernel, *map(percent, shares), *(f"{value:.3f}" for value in figures))
