"""What prefetched register intervals do on the bundled kernels, next to the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from warpfile.pages.evidence.claims import Claim, Guess, Without, claims_table
from warpfile.pages.evidence.study import FEW, Outcome, Point, Study
from warpfile.pages.lengths import COLUMNS, Measured, measured, rows
from warpfile.results.markdown import percent, signed, table
from warpfile.results.spread import Spread
from warpfile.schemes import find

PRESET = "maxwell"
BASELINE, RFC, LTRF, PLUS = (Point(name, PRESET) for name in ("baseline", "rfc", "ltrf", "ltrf_plus"))
STRANDS = LTRF.but(prefetch_unit="strands")
#: The scheduler of the scheme in front of the baseline's file.
TWO_LEVEL = Point("baseline+two_level", PRESET).but(long_from="miss", resume="all", active_choice="round_robin")
PIPED: dict[str, object] = {"main_pipelined": 1}
#: Whose IPC is drawn over the latency of the main banks.
DESIGNS = {
    "baseline": BASELINE,
    "rfc": RFC,
    "ltrf, strands": STRANDS,
    "ltrf": LTRF,
    "ltrf_plus": PLUS,
    "ltrf, accesses overlap": LTRF.but(**PIPED),
}
#: Cycles of an access to a main bank; the preset has the first.
CYCLES = (3, 5, 9, 19, 32)
SLOWEST = 19  #: 6.3 times the preset's, the paper's configuration #7
LOSSES = (0.01, 0.05, 0.10)
#: Other sizes of the cache, at the preset's latency and at the slowest.
SIZES: dict[str, dict[str, object]] = {
    "N = 8": {"interval_registers": 8},
    "N = 32": {"interval_registers": 32},
    "4 active warps": {"active_warps": 4},
    "16 active warps": {"active_warps": 16},
}
NARROW = "N = 8"  #: does not fit every kernel
#: What makes IPC fall at the preset's latency, each removed alone.
_FAST: dict[str, object] = {"bank_cycles": 1, "crossbar_beats": 1}
_ALL: dict[str, object] = {"active_warps": 64, "suspend": "never"}
CAUSES: dict[str, dict[str, object]] = {
    "main banks that overlap accesses": PIPED,
    "a crossbar of one beat": {"crossbar_beats": 1},
    "only what was written goes back": {"moved_back": "dirty"},
    "places kept until somebody needs them": {"suspend_load": "needed", "suspend_barrier": "needed"},
    "no warp gives its place up (64 places)": _ALL,
    "intervals of 32 registers": {"interval_registers": 32},
    "banks and crossbar of one cycle": _FAST,
    "the same, and 64 places": _FAST | _ALL,
}
WORST = "matmul_tiled"  #: the kernel beside the mean
#: Causes that are about main accesses.
_FEWER = (
    "only what was written goes back",
    "intervals of 32 registers",
    "places kept until somebody needs them",
    "no warp gives its place up (64 places)",
)
KERNELS = Guess("other kernels, SASS after ptxas")


def slowed(point: Point, cycles: int) -> Point:
    """The same with main banks that take so many cycles."""
    return point if cycles == CYCLES[0] else point.but(bank_cycles=cycles)


def eightfold(point: Point, cycles: int = SLOWEST) -> Point:
    """The same with eight times the main registers, in eight times as many banks."""
    return slowed(point.but(banks=128), cycles)


def without(point: Point, cause: str) -> Point:
    """The same with small launches and a cause removed."""
    return point.small.but(**CAUSES[cause])


def _sized(changes: dict[str, object], cycles: int) -> Point:
    return slowed(LTRF.small.but(**changes), cycles)


def main_accesses(run: Outcome) -> int:
    """Accesses to main banks."""
    return run["main_reads"] + run["main_writes"]


def moving(run: Outcome) -> float:
    """Places that wait for registers, mean over the cycles."""
    return run["moving_cycles"] / run.cycles


def tolerable(curve: Sequence[float], loss: float) -> float:
    """Latency, in multiples of the first one, up to which IPC falls by no more than ``loss``; at most the last one.

    ``curve``: IPC at ``CYCLES`` over the first; between two of them it is taken for a line.
    """
    times = [cycles / CYCLES[0] for cycles in CYCLES]
    for at in range(1, len(curve)):
        high, low = curve[at - 1], curve[at]
        if low < 1 - loss:
            return times[at - 1] + (times[at] - times[at - 1]) * (high - (1 - loss)) / (high - low)
    return times[-1]


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    yield (
        f"Preset `{PRESET}`: main banks of {CYCLES[0]} cycles, 8 active warps, intervals of 16 registers.\n"
        f"Of large launches, too, a mean is that of {len(FEW)} runs. With eight times the registers: of the kernels\n"
        f"that have more warps then, {', '.join(limited(study).kernels)}.\n"
    )
    yield "## Paper says, we measure\n"
    yield claims_table(claims(study))
    yield from _curves(study)
    yield from _sizes(study)
    yield from _causes(study)
    yield "## Lengths of intervals\n"
    yield "Executed instructions of large launches; `python -m warpfile.pages lengths` says how they are counted.\n"
    yield table(COLUMNS, rows(study.kernels, lambda kernel: study.reuse(kernel).trace))
    yield "## Kernel by kernel\n"
    yield "Main accesses over the baseline's; *moving*: places that wait for registers, mean over the cycles.\n"
    columns = ("kernel", "IPC baseline", "ltrf", "ltrf_plus", "accesses ltrf", "ltrf_plus", "registers per PREFETCH")
    yield table((*columns, "moving"), (kernel_row(study, kernel) for kernel in study.kernels))


def _curves(study: Study) -> Iterator[str]:
    yield "## IPC over the latency of the main banks\n"
    yield (
        "Over each design at the preset's latency; small launches. Banks take one access at a time, or overlap them.\n"
    )
    columns = ("design", "over the baseline", *(f"{cycles} cycles" for cycles in CYCLES[1:]))
    yield table(columns, (_curve_row(study, name, point) for name, point in DESIGNS.items()))


def _sizes(study: Study) -> Iterator[str]:
    wide = [kernel for kernel in study.kernels if not study.fits(_sized(SIZES[NARROW], CYCLES[0]), kernel)]
    yield "## Other caches\n"
    yield (
        f"IPC of `ltrf` over the preset's, at its latency and at {SLOWEST} cycles; small launches.\n"
        f"{NARROW}: without {', '.join(wide) or 'none'}, of which one instruction names more registers.\n"
    )
    yield table(("changed", f"{CYCLES[0]} cycles", f"{SLOWEST} cycles"), (_size_row(study, name) for name in SIZES))


def _causes(study: Study) -> Iterator[str]:
    yield "## IPC at the preset's latency, a cause removed\n"
    plain = study.of(BASELINE.small, _worst(study)).ipc
    yield (
        f"IPC over the baseline, and of one run of `{WORST}` (baseline {plain:.2f}); small launches, a cause removed.\n"
    )
    yield table(("removed", "ltrf", f"{WORST}: ltrf", "ltrf_plus"), _cause_rows(study))


def limited(study: Study) -> Study:
    """The study of the kernels that have more warps with eight times the registers; of all if there is none."""
    few, many = (
        find(point.scheme).configuration(point.preset, **dict(point.changes))
        for point in (BASELINE, eightfold(BASELINE, CYCLES[0]))
    )
    names = {kernel: study.reuse(kernel).trace.registers for kernel in study.kernels}
    found = [one for one in names if few.resident_warps(names[one]) < many.resident_warps(names[one])]
    return replace(study, kernels=found or study.kernels)


def claims(study: Study) -> Iterator[Claim]:
    """The paper's claims about cycles, accesses and code."""
    yield from _run_claims(study)
    yield from _tolerated(study)
    yield from code_claims(study)


def _run_claims(study: Study) -> Iterator[Claim]:
    for point in (LTRF, PLUS):
        yield Claim(f"IPC at the preset's latency, `{point.scheme}`", "-", _gain(study, point, BASELINE), signed)
    yield from _larger_file(limited(study))
    slow = slowed(LTRF.small, SLOWEST)
    for active, paper in ((4, "+36.9%"), (16, "none to speak of")):
        other = _sized(SIZES[f"{active} active warps"], SLOWEST)
        pair = (slow, other) if active < 8 else (other, slow)
        metric = f"IPC, {min(active, 8)} to {max(active, 8)} active warps, {SLOWEST} cycles, small launches (Fig. 13)"
        yield Claim(metric, paper, _gain(study, *pair), signed)
    for point, name in ((LTRF, "`ltrf`"), (PLUS, "`ltrf_plus`")):
        removed = _FEWER if point is LTRF else ()
        causes = (*(Without(cause, _all_fewer(study, without(point, cause))) for cause in removed), KERNELS)
        metric = f"main accesses over the baseline's, {name}, small launches (section 4.3)"
        yield Claim(metric, "17% to 25%", _all_fewer(study, point.small), percent, causes)


def _larger_file(study: Study) -> Iterator[Claim]:
    ideal = eightfold(BASELINE, CYCLES[0])
    gain = _gain(study, ideal, BASELINE)
    yield Claim("IPC, eight times the registers at no latency (Fig. 3)", "+37%", gain, signed, (KERNELS,))
    for name, paper, point in (
        ("the same at 6.3 times the latency, baseline (Fig. 3)", "a loss", BASELINE),
        ("`rfc` (section 1)", "-14%", RFC),
        ("`ltrf` (Fig. 9)", "+28%", LTRF),
        ("`ltrf_plus` (Fig. 9)", "+31%", PLUS),
    ):
        causes = (Without("over the same registers at no latency", _gain(study, eightfold(point), ideal)), KERNELS)
        yield Claim(f"IPC, {name}", paper, _gain(study, eightfold(point), BASELINE), signed, causes)


def code_claims(study: Study) -> Iterator[Claim]:
    """Claims about the code, the same at every seed; of kernels that have a listing."""
    traces = {kernel: study.reuse(kernel).trace for kernel in study.kernels}
    found = [measured(trace) for trace in traces.values() if trace.listing]
    if not found:
        return

    def mean(figure: Callable[[Measured], float]) -> Spread:
        return study.spread(lambda _: sum(map(figure, found)) / len(found))

    yield Claim(
        "length of intervals over the optimum (Table 4)", "89%", mean(lambda one: one.share), percent, (KERNELS,)
    )
    for opcode, paper, what in ((True, "+9%", "instructions and sets"), (False, "+7%", "sets alone")):
        grown = mean(lambda one, opcode=opcode: one.growth.by(opcode=opcode))  # type: ignore[misc]
        yield Claim(f"growth of the code, {what} (section 4.3)", paper, grown, signed, (KERNELS,))
    for what, paper, length in (
        ("an interval", "31.2", mean(lambda one: one.real.average)),
        ("the optimum", "34.7", mean(lambda one: one.optimal.average)),
    ):
        yield Claim(f"executed instructions of {what} (Table 4)", paper, length, _number, (KERNELS,))


def _number(length: Spread) -> str:
    return f"{length.mean:.1f}"


def _all_fewer(study: Study, point: Point) -> Spread:
    return study.spread(lambda one: one.over_kernels(lambda kernel: _fewer(one, kernel, point)), FEW)


def _tolerated(study: Study) -> Iterator[Claim]:
    papers = {
        "rfc": ("1.4x", "2.1x", "2.9x"),
        "ltrf": ("2.8x", "5.3x", "6.5x"),
        "ltrf_plus": ("3.5x", "6.2x", "7.9x"),
        "ltrf, accesses overlap": ("2.8x", "5.3x", "6.5x"),
        "ltrf, strands": ("-", "3x", "-"),
        "baseline": ("-", "-", "-"),
    }
    for name, figures in papers.items():
        for loss, paper in zip(LOSSES, figures, strict=True):

            def figure(one: Study, name: str = name, loss: float = loss) -> float:
                return tolerable(_curve(one, DESIGNS[name]), loss)

            metric = f"latency at {loss:.0%} less IPC, {name}, small launches (Fig. 11, 14, section 6.3)"
            yield Claim(metric, paper, study.spread(figure, FEW), _times)


def _times(multiple: Spread) -> str:
    last = CYCLES[-1] / CYCLES[0]
    return f"above {last:.1f}x" if min(multiple.values) >= last else f"{multiple.mean:.1f} ± {multiple.half:.1f}x"


def _curve(study: Study, point: Point) -> list[float]:
    """IPC at every latency over that at the first, geometric mean of the kernels."""
    first = point.small
    return [1 + study.speedup(slowed(first, cycles), first) for cycles in CYCLES]


def _curve_row(study: Study, name: str, point: Point) -> tuple[str, ...]:
    over = _gain(study, point.small, BASELINE.small)
    rest = (_gain(study, slowed(point.small, cycles), point.small) for cycles in CYCLES[1:])
    return (name, *map(signed, (over, *rest)))


def _size_row(study: Study, name: str) -> tuple[str, ...]:
    fitting = replace(study, kernels=[one for one in study.kernels if study.fits(_sized(SIZES[name], CYCLES[0]), one)])
    pairs = ((_sized(SIZES[name], cycles), slowed(LTRF.small, cycles)) for cycles in (CYCLES[0], SLOWEST))
    return (name, *(signed(_gain(fitting, *pair)) for pair in pairs))


def _cause_rows(study: Study) -> Iterator[tuple[str, ...]]:
    yield _cause_row(study, "nothing", LTRF.small, PLUS.small)
    for cause in CAUSES:
        yield _cause_row(study, cause, *(without(point, cause) for point in (LTRF, PLUS)))
    yield _cause_row(study, "the whole file: the baseline's under this scheduler", TWO_LEVEL.small)


def _cause_row(study: Study, cause: str, first: Point, *others: Point) -> tuple[str, ...]:
    rates = [f"{study.of(point, _worst(study)).ipc:.2f}" for point in (first, *others)]
    return (cause, signed(_gain(study, first, BASELINE.small)), *(*rates, "-")[:2])


def _worst(study: Study) -> str:
    return WORST if WORST in study.kernels else study.kernels[0]


def _fewer(study: Study, kernel: str, point: Point) -> float:
    plain = study.of(replace(BASELINE, setting=point.setting), kernel)
    return main_accesses(study.of(point, kernel)) / (plain["bank_reads"] + plain["bank_writes"])


def _gain(study: Study, point: Point, over: Point) -> Spread:
    return study.spread(lambda one: one.speedup(point, over), FEW)


def kernel_row(study: Study, kernel: str) -> tuple[object, ...]:
    """The row of a kernel in the last table, of runs at seed 0."""
    plain, ours, plus = (study.of(point, kernel) for point in (BASELINE, LTRF, PLUS))
    fewer = (percent(_fewer(study, kernel, point)) for point in (LTRF, PLUS))
    taken = (ours["prefetch_fills"] + ours["kept_registers"]) / max(1, ours["prefetches"])
    rates = (f"{run.ipc:.3f}" for run in (plain, ours, plus))
    return (kernel, *rates, *fewer, f"{taken:.1f}", f"{moving(ours):.2f}")
