"""What a partitioned register file does on the bundled kernels, next to the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from warpfile.pages.evidence.claims import Claim, Guess, Without, claims_table, losses
from warpfile.pages.evidence.energy import energy_over, unpriced
from warpfile.pages.evidence.study import FEW, SEEDS, Outcome, Point, Study
from warpfile.results.markdown import percent, signed, table
from warpfile.results.spread import Spread

PRICES = "pilot"
NAMES = (("register_names", 256),)  #: a kernel has more than 63 registers
BASELINE = Point("baseline", "kepler", NAMES)
PAPER = Point("pilot", "kepler", NAMES)
COMPILER, NONE, PILOT, ORACLE = (PAPER.but(profile=name) for name in ("compiler", "none", "pilot", "oracle"))
FEWER = PAPER.but(warps=4)  #: of 16 slots, so that more warps come after the pilot
INSTANT, MIGRATE = (PAPER.but(remap=name) for name in ("instant", "migrate"))
#: Under windows that keep results from the banks, and those windows over banks of one part.
UNDER, WINDOWS = Point("bow_wr+pilot", "kepler", NAMES), Point("bow_wr", "kepler", NAMES)
#: Small launches.
PLAIN, SMALL = BASELINE.small, PAPER.small
SLOW = PLAIN.but(bank_cycles=3)
ALWAYS_HIGH, LATE = SMALL.but(epoch_threshold=0), SMALL.but(rename_latency=1)
#: What the loss in cycles could depend on, by what is changed on both sides; small launches.
MACHINES: dict[str, Callable[[Point], Point]] = {
    "two ports per bank": lambda point: point.but(bank_ports="1R1W"),
    "twice as many banks": lambda point: point.but(banks=8, rows=64),
    "twice as many units": lambda point: point.but(collectors=12),
    "pipelined banks": lambda point: point.but(bank_occupancy="one"),
    "16 banks of two ports, 24 units": lambda point: point.but(banks=16, rows=32, bank_ports="1R1W", collectors=24),
}
PIPELINED = MACHINES["pipelined banks"]
FAST = SMALL.but(slow_cycles=1, low_cycles=1)
LATENCIES = (4, 5)
HOT = (3, 4, 5)
KERNELS = Guess("other kernels, SASS after ptxas")
#: Who says which registers are hot, and what resident warps do.
CHOICES = {
    "nobody": NONE,
    "compiler": COMPILER,
    "pilot alone": PILOT,
    "compiler, then pilot": PAPER,
    "the same, resident warps move": MIGRATE,
    "the same, in an instant": INSTANT,
    "oracle": ORACLE,
}


def latency(cycles: int) -> Point:
    """Small launches with another latency of the slow part."""
    return SMALL.but(slow_cycles=cycles)


def headline() -> Iterable[Point]:
    """What the paper's claims compare."""
    return (BASELINE, PAPER, COMPILER)


def sweep() -> Iterable[Point]:
    """What needs fewer seeds, and small launches."""
    changed = (change(point) for change in MACHINES.values() for point in (PLAIN, SMALL, SLOW))
    lone = (NONE, PILOT, ORACLE, INSTANT, MIGRATE, FEWER, PLAIN, SMALL, SLOW, FAST, ALWAYS_HIGH, LATE, UNDER, WINDOWS)
    return (*lone, *map(latency, LATENCIES), *map(PIPELINED, map(latency, LATENCIES)), *changed)


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


def late_share(run: Outcome) -> float:
    """Share of the warps that come after the pilot's map."""
    return run["warps_new_map"] / max(1, _sum(run, "warps_old_map", "warps_new_map"))


def stall_share(run: Outcome) -> float:
    """Share of the run in which registers move."""
    return run["migrate_stall"] / run.cycles


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    yield "Preset `kepler` with 8-bit register names. Small launches leave a domain few warps.\n"
    yield "## Paper says, we measure\n"
    yield claims_table(claims(study))
    yield f"Not in the energies under `bow_wr`, for want of a price: {unpriced(study, UNDER, PRICES)}.\n"
    yield "## Who says which registers are hot\n"
    yield f"Large launches, {len(FEW)} seeds. IPC and energy over the baseline.\n"
    choices = ("list", "fast part", "IPC", "energy of the banks", "warps with the pilot's map", "run spent in moving")
    yield table(choices, (_choice(study, name, point) for name, point in CHOICES.items()))
    yield "## Kernel by kernel\n"
    columns = ("kernel", "top 4", "compiler", "and pilot", "in an instant", "pilot's time", "IPC baseline", "IPC")
    yield table(columns, (kernel_row(study, kernel) for kernel in study.kernels))


def _choice(study: Study, name: str, point: Point) -> tuple[str, ...]:
    shares = (_mean(study, point, share, FEW) for share in (late_share, stall_share))
    fast, gain = _mean(study, point, fast_share, FEW), _gain(study, point, BASELINE, FEW)
    return (name, percent(fast), signed(gain), signed(_energy(study, point, FEW)), *map(percent, shares))


def claims(study: Study) -> Iterator[Claim]:
    """The paper's claims."""
    yield from _shares(study)
    yield from _speed(study)
    yield from losses(study, PAPER, BASELINE, "less than 2% (section 5.2)", {"compiler alone": (COMPILER, BASELINE)})
    yield from _small(study)
    alone = Without("compiler alone", _energy(study, COMPILER))
    yield Claim("energy of the banks (Fig. 11)", "-54%", _energy(study, PAPER), signed, (alone,))
    others = {"banks of one part": WINDOWS, "units instead of windows": PAPER}
    causes = tuple(Without(what, _energy(study, point, FEW)) for what, point in others.items())
    yield Claim("energy of the banks, under `bow_wr`", "-", _energy(study, UNDER, FEW), signed, causes)


def _energy(study: Study, point: Point, seeds: Sequence[int] = SEEDS) -> Spread:
    return study.spread(lambda one: energy_over(one, point, BASELINE, PRICES) - 1, seeds)


def _shares(study: Study) -> Iterator[Claim]:
    for count, paper in zip(HOT, ("62%", "72%", "77%"), strict=True):
        top = _top(study, count)
        yield Claim(f"accesses to the top {count} registers (Fig. 2)", paper, top, percent, (KERNELS,))
    ours = _mean(study, PAPER, fast_share)
    causes = (
        Without("top 4 registers of the whole run", _top(study, 4)),
        Without("compiler alone", _mean(study, COMPILER, fast_share)),
    )
    yield Claim("accesses in the fast part (Fig. 10)", "62%", ours, percent, (*causes, KERNELS))
    for metric, paper, share in (
        ("pilot's time of the run, mean", "3% (geometric mean, Tab. I)", pilot_share),
        ("warps that get the pilot's map", "all", late_share),
    ):
        fewer = Without("4 warp slots instead of 16", _mean(study, FEWER, share, FEW))
        yield Claim(metric, paper, _mean(study, PAPER, share, FEW), percent, (fewer, KERNELS))
    yield Claim("fast accesses in low mode (section 5.2)", "22%", _mean(study, PAPER, low_share), percent, (KERNELS,))


def _top(study: Study, count: int) -> Spread:
    return study.spread(lambda one: one.over_kernels(lambda kernel: one.reuse(kernel).top(count)))


def _speed(study: Study) -> Iterator[Claim]:
    over = _gain(study, COMPILER, BASELINE)
    ours = _gain(study, PAPER, BASELINE)
    yield Claim("IPC over the baseline (Fig. 12)", "-2%", ours, signed, (Without("compiler alone", over), KERNELS))
    yield Claim("IPC, compiler and pilot over compiler", "+2%", _gain(study, PAPER, COMPILER), signed, (KERNELS,))


def _small(study: Study) -> Iterator[Claim]:
    def gain(point: Point, over: Point) -> Spread:
        return _gain(study, point, over, FEW)

    for metric, paper, point in (("all banks slow", "-7.1%", SLOW), ("fast and slow part", "-2%", SMALL)):
        causes = [Without(what, gain(change(point), change(PLAIN))) for what, change in MACHINES.items()]
        if point == SMALL:
            causes.append(Without("a slow part as fast as the fast one", gain(FAST, PLAIN)))
        metric = f"IPC over the baseline, {metric}, small launches (Fig. 12)"
        yield Claim(metric, paper, gain(point, PLAIN), signed, (*causes, KERNELS))
    for cycles, paper in zip(LATENCIES, ("-0.5%", "-2.4%"), strict=True):
        metric = f"IPC, slow part of {cycles} cycles over 3, small launches"
        pipelined = gain(PIPELINED(latency(cycles)), PIPELINED(SMALL))
        yield Claim(metric, paper, gain(latency(cycles), SMALL), signed, (Without("pipelined banks", pipelined),))
    yield Claim("IPC, low mode over none, small launches", "-0.5%", gain(SMALL, ALWAYS_HIGH), signed)
    yield Claim("IPC, renaming in a cycle of its own, small launches", "-1%", gain(LATE, SMALL), signed)


def _mean(study: Study, point: Point, share: Callable[[Outcome], float], seeds: Sequence[int] = SEEDS) -> Spread:
    return study.spread(lambda one: one.mean(point, share), seeds)


def _gain(study: Study, point: Point, over: Point, seeds: Sequence[int] = SEEDS) -> Spread:
    return study.spread(lambda one: one.speedup(point, over), seeds)


def kernel_row(study: Study, kernel: str) -> tuple[object, ...]:
    """The row of a kernel in the last table, of runs at seed 0."""
    plain, ours = study.of(BASELINE, kernel), study.of(PAPER, kernel)
    shares = (fast_share(study.of(point, kernel)) for point in (COMPILER, PAPER, INSTANT))
    found = map(percent, (study.reuse(kernel).top(4), *shares, pilot_share(ours)))
    return (kernel, *found, f"{plain.ipc:.3f}", f"{ours.ipc:.3f}")
