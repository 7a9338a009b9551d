"""What packed registers and coalesced reads do on the bundled kernels, next to chapter 2 of the dissertation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from warpfile.pages.evidence.claims import Claim, Guess, Without, claims_table
from warpfile.pages.evidence.energy import energy_over, unpriced
from warpfile.pages.evidence.study import FEW, Outcome, Point, Study
from warpfile.pages.evidence.widths import Values, values_of
from warpfile.results.markdown import percent, signed, table
from warpfile.results.spread import Spread
from warpfile.schemes import find

PRESET, PRICES = "fermi", "corf"
BASELINE, CORF, PLUS = (Point(name, PRESET) for name in ("baseline", "corf", "corf_plus"))
#: Small launches, of which most comparisons are.
PLAIN, PAIRS, SIDES = BASELINE.small, CORF.small, PLUS.small
PACKING, BOTH, FIRST, VIRTUAL = (
    Point(name, PRESET).small for name in ("packing", "packing_virtual", "first_fit", "virtualization")
)
#: The table alone: every value has four bytes, and a register that is dead keeps them.
RENAMED = VIRTUAL.but(virtualization=0)
MODES = {
    "virtualization": VIRTUAL,
    "packing": PACKING,
    "packing_virtual": BOTH,
    "first_fit": FIRST,
    "first_fit_virtual": Point("first_fit_virtual", PRESET).small,
    "corf": PAIRS,
    "corf_virtual": Point("corf_virtual", PRESET).small,
    "corf_single": Point("corf_single", PRESET).small,
    "corf_plus": SIDES,
    "corf_plus_virtual": Point("corf_plus_virtual", PRESET).small,
    "corf_plus_single": Point("corf_plus_single", PRESET).small,
}
LATENCIES = ("alu", "fma", "double", "tensor", "sfu", "shared", "texture", "hit", "miss")
#: What costs cycles, each removed alone: another class for the file, and whether results come a cycle earlier.
_STUDY = "warpfile.golden.rf.packed.study"
CAUSES = {
    "warps wait for no sweep": (f"{_STUDY}:InstantFile", False),
    "a port of the table for everybody": (f"{_STUDY}:ServedFile", False),
    "latencies a cycle less": ("", True),
    "all three": (f"{_STUDY}:FreeFile", True),
}
SWEEP, *_, ALL = CAUSES
NARROW = f"{_STUDY}:NarrowFile"
MUCH = 0.1  #: share of instructions with floats from which on a kernel is one of floats
LOSS = -0.04  #: kernels whose IPC falls by more have rows of their own
ONE_BYTE = "every value has one byte"
KERNELS = Guess("other kernels, SASS after ptxas")


def without(point: Point, cause: str) -> Point:
    """The same with a cause removed."""
    file, early = CAUSES[cause]
    return replace(earlier(point) if early else point, file=file)


def earlier(point: Point) -> Point:
    """The same with results a cycle earlier, so that they are in their rows when the baseline's are."""
    cfg = find("baseline").configuration(point.preset)
    names = [f"{name}_latency" for name in LATENCIES]
    return point.but(**{name: getattr(cfg, name) - 1 for name in names})


def accesses(run: Outcome, merges: bool = True) -> int:
    """Reads and writes of banks."""
    return run["bank_reads"] + run["bank_writes"] + (run["merges"] if merges else 0)


def narrow(run: Outcome, size: int = 3) -> float:
    """Share of the results that need so many bytes or fewer."""
    return sum(run[f"size_{one}"] for one in range(1, size + 1)) / max(1, _results(run))


def _results(run: Outcome) -> int:
    return sum(run[f"size_{size}"] for size in (1, 2, 3, 4))


def paired(run: Outcome) -> float:
    """Share of the results with a mapped partner that go to its row."""
    return run["pair_packed"] / max(1, run["pair_packed"] + run["pair_failed"])


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    yield f"Preset `{PRESET}`; of large launches, too, a mean is that of {len(FEW)} runs. *Wide*: an instruction"
    yield "that reads two registers or more. A kernel is one of floats if a tenth of its instructions compute with"
    yield "floats. *Rows*: used ones, over the registers of resident warps. *Brought*: reads that come with the read"
    yield "of another source.\n"
    yield "## Paper says, we measure\n"
    yield claims_table(claims(study))
    yield f"Not in the energies, for want of a price: {unpriced(study, PLUS, PRICES)}.\n"
    yield "## All names\n"
    yield "Over the baseline; small launches.\n"
    columns = ("scheme", "IPC", "accesses", "energy of the banks", "brought", "rows")
    yield table(columns, (_mode(study, name, point) for name, point in MODES.items()))
    yield "## What costs cycles\n"
    yield from _losing(study)
    yield "## Kernel by kernel\n"
    yield "Results of one byte, and of up to three; wide instructions that are coalescable, and that `corf` and"
    yield "`corf_plus` coalesce; their accesses; executed instructions of a warp; IPC.\n"
    columns = ("kernel", "floats", "one byte", "up to three", "coalescable", "corf", "plus", "accesses", "plus")
    more = ("per warp", "IPC baseline", "corf", "plus", "plus, no sweep")
    yield table((*columns, *more), (kernel_row(study, kernel) for kernel in study.kernels))


def _values(study: Study) -> Mapping[str, Values]:
    return {kernel: values_of(study.reuse(kernel).trace) for kernel in study.kernels}


def claims(study: Study) -> Iterator[Claim]:
    """The dissertation's claims."""
    found = _values(study)
    yield from _of_values(study, found)
    yield from _coalesced(study, found)
    yield from _accesses(study, found)
    yield from _cycles(study)
    yield from _rows(study)
    yield from _energies(study)
    grown = _mean(study, lambda one, kernel: _metadata(one, kernel, PLUS))
    yield Claim("growth of the code (Fig. 2.19), corf_plus", "+1.3%", grown, signed, (KERNELS,))


def _of_values(study: Study, found: Mapping[str, Values]) -> Iterator[Claim]:
    for metric, paper, size in (("up to three bytes", "65%", 3), ("one byte", "more than 33%", 1)):
        share = _mean(study, lambda one, kernel, size=size: narrow(one.of(CORF, kernel), size))
        yield Claim(f"results of {metric} (Fig. 2.2)", paper, share, percent, (KERNELS,))
    for metric, paper, share in (
        ("wide instructions (section 2.3)", "about 40%", lambda one: one.wide / max(1, one.executed)),
        ("their share of the reads (section 2.3)", "more than 70%", lambda one: one.wide_reads / max(1, one.reads)),
        ("wide instructions with two sources that fit into a row (Fig. 2.4)", "69%", _potential),
    ):
        figure = _mean(study, lambda _, kernel, share=share: share(found[kernel]))
        yield Claim(metric, paper, figure, percent, (KERNELS,))


def _potential(values: Values) -> float:
    return values.coalescable / max(1, values.wide)


def _coalesced(study: Study, found: Mapping[str, Values]) -> Iterator[Claim]:
    for name, paper, point in (("corf", "23%", CORF), ("corf_plus", "48%", PLUS)):
        joined = _mean(study, lambda one, kernel, point=point: joins(one.of(point, kernel), found[kernel]))
        yield Claim(f"wide instructions coalesced (Fig. 2.13), {name}", paper, joined, percent, (KERNELS,))
    for name, point in (("first_fit", FIRST), ("corf", PAIRS), ("corf_plus", SIDES)):
        causes: tuple[Without, ...] = ()
        if point != FIRST:
            narrow_values = _brought(study, replace(point, file=NARROW))
            causes = Without("first fit instead", _brought(study, FIRST)), Without(ONE_BYTE, narrow_values)
        yield Claim(f"brought reads, {name}, small launches", "-", _brought(study, point), percent, causes)
    together = _mean(study, lambda one, kernel: paired(one.of(CORF, kernel)))
    yield Claim("results beside their partner (Fig. 2.6)", "just under 80%", together, percent, (KERNELS,))
    together, one_byte = (
        _mean(study, lambda one, kernel, point=point: paired(one.of(point, kernel)))
        for point in (PAIRS, replace(PAIRS, file=NARROW))
    )
    causes = (Without(ONE_BYTE, one_byte),)
    yield Claim("the same, small launches", "just under 80%", together, percent, causes)


def joins(run: Outcome, values: Values) -> float:
    """Reads that bring two sources, per wide instruction."""
    return run["coalesced"] / max(1, values.wide)


def _brought(study: Study, point: Point) -> Spread:
    def share(one: Study, kernel: str) -> float:
        run = one.of(point, kernel)
        return run["coalesced"] / max(1, run["bank_reads"] + run["coalesced"])

    return _mean(study, share)


def _accesses(study: Study, found: Mapping[str, Values]) -> Iterator[Claim]:
    floats = tuple(kernel for kernel in study.kernels if found[kernel].floats >= MUCH)
    others = tuple(kernel for kernel in study.kernels if kernel not in floats)
    groups = {"": study.kernels, ", kernels of integers": others, ", kernels of floats": floats}
    for name, point, papers in (
        ("corf", CORF, ("-10%", "-12%", "-4.5%")),
        ("corf_plus", PLUS, ("-23%", "-27%", "-9.9%")),
    ):
        for (group, kernels), paper in zip(groups.items(), papers, strict=True):
            part = replace(study, kernels=kernels or study.kernels)
            yield Claim(f"accesses (Fig. 2.14), {name}{group}", paper, _fewer(part, point), signed, (KERNELS,))
        one_byte = Without(ONE_BYTE, _fewer(study, replace(point, file=NARROW).small))
        metric = f"accesses, {name}, small launches"
        yield Claim(metric, papers[0], _fewer(study, point.small), signed, (one_byte,))
    unread = _mean(study, lambda one, kernel: -_share(one, kernel, PLUS, "unmapped_reads"))
    yield Claim("of these, reads of registers that nobody has written, corf_plus", "-", unread, signed)


def _share(study: Study, kernel: str, point: Point, counter: str) -> float:
    return study.of(point, kernel)[counter] / max(1, accesses(study.of(BASELINE, kernel), merges=False))


def _fewer(study: Study, point: Point) -> Spread:
    base = replace(BASELINE, setting=point.setting)

    def growth(one: Study, kernel: str) -> float:
        return accesses(one.of(point, kernel)) / max(1, accesses(one.of(base, kernel), merges=False)) - 1

    return _mean(study, growth)


def _cycles(study: Study) -> Iterator[Claim]:
    for name, paper, point in (("corf", "+4%", CORF), ("corf_plus", "+9%", PLUS)):
        yield Claim(f"IPC (Fig. 2.15), {name}", paper, _gain(study, point), signed, (KERNELS,))
        removed = CAUSES if point == PLUS else (ALL,)
        causes = [Without(cause, _gain(study, without(point.small, cause))) for cause in removed]
        causes.append(Without(ONE_BYTE, _gain(study, replace(point, file=NARROW).small)))
        yield Claim(f"IPC, {name}, small launches", paper, _gain(study, point.small), signed, tuple(causes))


def _rows(study: Study) -> Iterator[Claim]:
    unwritten = Without("four bytes for every value, dead registers kept", _used(study, RENAMED))
    modes = {"packing": (PACKING, "-34%"), "virtualization": (VIRTUAL, "-35%"), "both": (BOTH, "-54%")}
    for name, (point, paper) in modes.items():
        causes = (unwritten, KERNELS)
        yield Claim(f"rows (Fig. 2.16), {name}, small launches", paper, _used(study, point), signed, causes)
    resized = _mean(study, lambda one, kernel: one.of(CORF, kernel)["resizes"] / max(1, _results(one.of(CORF, kernel))))
    yield Claim("results that change their place for their size (section 2.6)", "less than 0.3%", resized, percent)


def _used(study: Study, point: Point) -> Spread:
    """Rows over the registers of resident warps."""

    def growth(one: Study, kernel: str) -> float:
        run, registers = one.of(point, kernel), one.reuse(kernel).trace.registers
        return run["used_row_cycles"] / max(1, run["resident_cycles"] * registers) - 1

    return _mean(study, growth)


def _energies(study: Study) -> Iterator[Claim]:
    for name, paper, point in (("corf", "-8.5%", CORF), ("corf_plus", "-17%", PLUS)):
        causes = (Without("a table that costs nothing", _fewer(study, point)), KERNELS)
        yield Claim(f"energy of banks and table (Fig. 2.17), {name}", paper, _energy(study, point), signed, causes)


def _energy(study: Study, point: Point) -> Spread:
    base = replace(BASELINE, setting=point.setting)
    return study.spread(lambda one: energy_over(one, point, base, PRICES) - 1, FEW)


def _metadata(study: Study, kernel: str, point: Point) -> float:
    """Instructions that tell sides, over those of the program."""
    trace = study.reuse(kernel).trace
    return study.of(point, kernel)["metadata"] / trace.warps / len(trace.program)


def _mode(study: Study, name: str, point: Point) -> tuple[str, ...]:
    brought = "-" if point in (VIRTUAL, PACKING, BOTH) else percent(_brought(study, point))
    rows = (_gain(study, point), _fewer(study, point), _energy(study, point))
    return (f"`{name}`", *map(signed, rows), brought, signed(_used(study, point)))


def _losing(study: Study) -> Iterator[str]:
    """Kernels that lose, with causes removed, the worst first."""
    gains = {kernel: _gain_of(study, kernel, SIDES) for kernel in study.kernels}
    worst = sorted((kernel for kernel in gains if gains[kernel].mean < LOSS), key=lambda kernel: gains[kernel].mean)
    yield f"IPC of `corf_plus` over the baseline; small launches; kernels that lose more than {-LOSS:.0%}.\n"
    columns = ("kernel", "nothing removed", *CAUSES)
    points = (SIDES, *(without(SIDES, cause) for cause in CAUSES))
    yield table(columns, ((one, *(signed(_gain_of(study, one, point)) for point in points)) for one in worst))


def _gain_of(study: Study, kernel: str, point: Point) -> Spread:
    return study.spread(lambda one: one.gain(kernel, point, PLAIN), FEW)


def _gain(study: Study, point: Point) -> Spread:
    base = replace(BASELINE, setting=point.setting)
    return study.spread(lambda one: one.speedup(point, base), FEW)


def _mean(study: Study, figure: Callable[[Study, str], float]) -> Spread:
    return study.spread(lambda one: one.over_kernels(lambda kernel: figure(one, kernel)), FEW)


def kernel_row(study: Study, kernel: str) -> tuple[object, ...]:
    """The row of a kernel in the last table, of runs at seed 0."""
    trace = study.reuse(kernel).trace
    values = values_of(trace)
    base, ours, plus = (study.of(point, kernel) for point in (BASELINE, CORF, PLUS))
    joined = (joins(run, values) for run in (ours, plus))
    fewer = (accesses(run) / max(1, accesses(base, merges=False)) - 1 for run in (ours, plus))
    shares = (values.floats, narrow(ours, 1), narrow(ours), _potential(values), *joined)
    points = (BASELINE, CORF, PLUS, without(PLUS, SWEEP))
    rates = (f"{study.of(point, kernel).ipc:.3f}" for point in points)
    length = f"{trace.instructions / max(1, trace.warps):.0f}"
    return (kernel, *map(percent, shares), *map(signed, fewer), length, *rates)
