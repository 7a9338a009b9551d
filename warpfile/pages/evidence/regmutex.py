"""What a pool of extended registers does on the bundled kernels, next to chapter 4 of the dissertation.

Most of it is about the kernels that registers limit, so that the points are run on those kernels alone that they are
read of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from warpfile.compiler.passes.regmutex.annotate import limits_of
from warpfile.compiler.passes.regmutex.choice import registers_limit
from warpfile.pages.evidence.claims import Claim, Guess, Without, claims_table
from warpfile.pages.evidence.study import FEW, SEEDS, Outcome, Point, Study
from warpfile.results.markdown import percent, signed, table
from warpfile.results.spread import Spread
from warpfile.schemes import find
from warpfile.spec.schemes.regmutex import RegMutexConfig

PRESET = "fermi_linear"
BASELINE, POOL, PAIRS = (Point(name, PRESET) for name in ("baseline", "regmutex", "regmutex_paired"))
#: A file in which every kernel finds as many warps as other limits allow.
WIDE = BASELINE.but(rows=1024)
LARGE, FAIR = POOL.but(es_rule="max_pass"), POOL.but(fair=1)
MERGED = POOL.but(merge_gap=8)
SIZES = (2, 4, 6, 8, 10, 12)  #: registers of the extended set, Fig. 4.10
KERNELS = Guess("other kernels, SASS after ptxas")


def half(point: Point) -> Point:
    """The same with half of the file."""
    return point.but(rows=32)


def crowded(point: Point) -> Point:
    """The same with twice the CTA slots, which limit the small CTAs of some kernels."""
    return point.but(ctas=16)


def sized(size: int) -> Point:
    """An extended set of so many registers, whatever the rule says; there are kernels that it does not fit."""
    return POOL.but(es_override=size)


def limited(study: Study, point: Point) -> Study:
    """The study of the kernels that registers limit at a point; of all if there is none."""
    cfg = find("regmutex").configuration(PRESET, **dict(point.changes))
    assert isinstance(cfg, RegMutexConfig)
    traces = {kernel: study.reuse(kernel).trace for kernel in study.kernels}
    found = [name for name, trace in traces.items() if registers_limit(trace.registers, limits_of(cfg, trace))]
    return replace(study, kernels=tuple(found) or study.kernels)


def resident(run: Outcome) -> float:
    """Warps that are resident, mean of the cycles."""
    return run["resident_cycles"] / run.cycles


def success(study: Study, point: Point) -> float:
    """Share of the ACQ that find a section, of all kernels together."""
    taken, refused = (sum(study.of(point, one)[name] for one in study.kernels) for name in ("acq_ok", "acq_fail"))
    return taken / max(1, taken + refused)


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    yield "Preset `fermi_linear`: 1,024 warp registers, 512 in half of the file. Cycles are means of ratios.\n"
    for name, point in (("full", BASELINE), ("half", half(BASELINE))):
        yield f"Kernels that registers limit at the {name} file: {', '.join(limited(study, point).kernels)}.\n"
    yield "## Paper says, we measure\n"
    yield claims_table(claims(study))
    yield "## Sizes of the extended set (Fig. 4.10, 4.11)\n"
    yield from _sizes(limited(study, BASELINE))
    yield "## Kernel by kernel\n"
    yield "Resident warps are means over the cycles; *found*: ACQ that found a section.\n"
    columns = ("kernel", "file", "warps baseline", "warps pool", "warps pairs", "cycles pool", "cycles pairs", "found")
    yield table(
        (*columns, "inserted"), (kernel_row(study, one, of) for one in study.kernels for of in ("full", "half"))
    )


def _sizes(study: Study) -> Iterator[str]:
    """Figures by size, over the kernels that all sizes fit, and each kernel's."""
    fitting = [kernel for kernel in study.kernels if all(study.fits(sized(size), kernel) for size in SIZES)]
    yield f"Full file, over the baseline; {len(FEW)} seeds. In the means are the kernels that all sizes fit:"
    yield f"{', '.join(fitting) or 'none'}."
    yield "The paper has more resident warps with a larger set, and fewer ACQ that find a section.\n"
    points = (POOL, *map(sized, SIZES))
    columns = ("by the rule", *map(str, SIZES))
    if fitting:
        yield table(("means", *columns), _by_size(replace(study, kernels=fitting), points))
    yield "Kernel by kernel, one run: cycles, resident warps, ACQ that found a section. Where a size does not fit, no"
    yield "section is left behind the base sets, or the code cannot do with its base set where it has no section.\n"
    rows = ((kernel, *(_size(study, kernel, point) for point in points)) for kernel in study.kernels)
    yield table(("kernel", *columns), rows)


def _by_size(study: Study, points: Sequence[Point]) -> Iterator[Sequence[str]]:
    yield "cycles", *(signed(_cycles(study, point, BASELINE, FEW)) for point in points)
    yield "resident warps", *(signed(_warps(study, point, BASELINE, FEW)) for point in points)
    yield "ACQ that find a section", *(_found(study, point) for point in points)


def _found(study: Study, point: Point) -> str:
    asked = sum(study.of(point, kernel)["acq_try"] for kernel in study.kernels)
    return percent(study.spread(lambda one: success(one, point), FEW)) if asked else "-"


def _size(study: Study, kernel: str, point: Point) -> str:
    if not study.fits(point, kernel):
        return "does not fit"
    run, base = study.of(point, kernel), study.of(BASELINE, kernel)
    share = percent(success(replace(study, kernels=(kernel,)), point)) if run["acq_try"] else "-"
    return f"{signed(run.cycles / base.cycles - 1)}, {resident(run):.1f}, {share}"


def claims(study: Study) -> Iterator[Claim]:
    """The dissertation's claims."""
    full, halved = limited(study, BASELINE), limited(study, half(BASELINE))
    yield from _full(full)
    yield from _half(replace(halved, kernels=_others(halved, full)))
    for name, part, point in (("full", full, POOL), ("half", halved, half(POOL))):
        found = part.spread(lambda one, point=point: success(one, point))
        fair = part.spread(lambda one: success(one, FAIR))
        causes = (Without("only the longest waiter takes a section", fair),) if point == POOL else ()
        yield Claim(f"ACQ that find a section, {name} file (Fig. 4.13)", "-", found, percent, causes)
    paired = full.spread(lambda one: success(one, PAIRS))
    yield Claim("the same in paired mode, full file", "-", paired, percent)
    yield Claim("cycles, all kernels, full file", "-", _cycles(study, POOL, BASELINE), signed)


def _full(study: Study) -> Iterator[Claim]:
    few = (
        Without("the baseline with a file for all warps", _cycles(study, WIDE, BASELINE)),
        Without("twice the CTA slots", _cycles(study, crowded(POOL), crowded(BASELINE))),
        Without("largest extended set that passes", _cycles(study, LARGE, BASELINE)),
        Without("only the longest waiter takes a section", _cycles(study, FAIR, BASELINE)),
        Without("stretches merged that less than 8 instructions part", _cycles(study, MERGED, BASELINE)),
    )
    yield Claim("cycles, full file (Fig. 4.7)", "-12.8%", _cycles(study, POOL, BASELINE), signed, (*few, KERNELS))
    yield Claim("resident warps, full file", "-", _warps(study, POOL, BASELINE), signed)
    yield Claim("cycles, paired, full file (Fig. 4.12)", "-8%", _cycles(study, PAIRS, BASELINE), signed, (KERNELS,))
    yield Claim("resident warps, paired, full file", "-", _warps(study, PAIRS, BASELINE), signed)


def _half(study: Study) -> Iterator[Claim]:
    """Of kernels that the full file does not limit, over the baseline with the full file."""
    for name, point, paper in (
        ("baseline (Fig. 4.8)", BASELINE, "+22.9%"),
        ("pool (Fig. 4.8)", POOL, "+10.8%"),
        ("paired (Fig. 4.12)", PAIRS, "+17%"),
    ):
        yield Claim(f"cycles, half file, {name}", paper, _cycles(study, half(point), BASELINE), signed, (KERNELS,))
    over = _cycles(study, half(POOL), half(BASELINE))
    yield Claim("cycles, half file, pool over baseline", "-9.8%", over, signed, (KERNELS,))


def _others(study: Study, without: Study) -> Sequence[str]:
    return tuple(kernel for kernel in study.kernels if kernel not in without.kernels) or study.kernels


def _cycles(study: Study, point: Point, over: Point, seeds: Sequence[int] = SEEDS) -> Spread:
    """Growth of the cycles, mean over the kernels."""

    def growth(one: Study) -> float:
        return one.over_kernels(lambda kernel: one.of(point, kernel).cycles / one.of(over, kernel).cycles) - 1

    return study.spread(growth, seeds)


def _warps(study: Study, point: Point, over: Point, seeds: Sequence[int] = SEEDS) -> Spread:
    def growth(one: Study) -> float:
        return one.over_kernels(lambda name: resident(one.of(point, name)) / resident(one.of(over, name))) - 1

    return study.spread(growth, seeds)


def kernel_row(study: Study, kernel: str, file: str = "full") -> tuple[object, ...]:
    """The row of a kernel in the last table, of runs at seed 0."""
    points = (BASELINE, POOL, PAIRS) if file == "full" else tuple(map(half, (BASELINE, POOL, PAIRS)))
    base, pool, pairs = (study.of(point, kernel) for point in points)
    warps = (f"{resident(run):.1f}" for run in (base, pool, pairs))
    cycles = (signed(run.cycles / base.cycles - 1) for run in (pool, pairs))
    found = success(replace(study, kernels=(kernel,)), points[1]) if pool["acq_try"] else None
    share = "-" if found is None else percent(found)
    inserted = pool["beats"] / max(1, base["beats"]) - 1
    return (kernel, file, *warps, *cycles, share, signed(inserted))
