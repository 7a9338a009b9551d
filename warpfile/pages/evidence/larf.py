"""What loads that find their words in the register file save on the bundled kernels, next to chapter 5 of the
dissertation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from warpfile.pages.evidence import corf
from warpfile.pages.evidence.claims import Claim, Guess, Without, claims_table
from warpfile.pages.evidence.study import FEW, Outcome, Point, Study
from warpfile.results.markdown import percent, signed, table
from warpfile.results.spread import Spread
from warpfile.spec.schemes.shared import OUTCOMES, REASONS

PRESET = "pascal_larf"
BASELINE, LARF, PERFECT = (Point(name, PRESET).small for name in ("baseline", "larf", "larf_perfect"))
#: The renaming table with release of dead registers, and nothing that is shared.
RENAMED = Point("virtualization", PRESET).small
#: The same machine, whose table finds nothing.
NOTHING = LARF.but(search="none")
#: The rate of the DRAM in the file of the paper's simulator (SM6_TITANX): 12 B per cycle and SM, a sector in 3 cycles.
DRAM = {"sector_interval": 3}
SIZES = {
    "98 entries": LARF.but(table_entries=98),
    "200 entries": LARF.but(table_entries=200),
    "400 entries": LARF,
    "400 entries, strides 0 and powers of two": LARF.but(strides="powers"),
    "400 entries, no merges": PERFECT,
}
#: What costs cycles without any sharing, each removed alone by another class for the register file.
COSTS = {what: file for what, (file, sooner) in corf.CAUSES.items() if not sooner}
SCHEDULERS = ("lrr", "gto", "oldest")
#: By a probe that finds the same vector, or any that lies near.
LAS = {"las": {}, "las, any match": {"flagged_by": "any"}}
#: Convolutions, stencils and matrix products: what the chapter is about.
NEIGHBOURS = (
    *("conv2d", "conv_layer", "depthwise_conv", "fdtd", "stencil"),
    *("matmul_2mm", "matmul_3mm", "matmul_registers", "matmul_tiled"),
)
HITS = OUTCOMES[:3]
_COLUMNS = ("absorbed", "neighbours", "IPC over the baseline", "neighbours")
KERNELS = Guess("other kernels, SASS after ptxas")


def searching(run: Outcome) -> int:
    """Loads that may be shared."""
    return sum(run[name] for name in (*OUTCOMES, *(f"untracked_{reason}" for reason in REASONS)))


def absorbed(run: Outcome) -> float:
    """Share of them that is absorbed."""
    return sum(run[name] for name in HITS) / max(1, searching(run))


def page(study: Study) -> str:
    """The generated part of the scheme's page."""
    return "\n".join(_sections(study))


def _sections(study: Study) -> Iterator[str]:
    fitting = tuple(kernel for kernel in study.kernels if study.fits(LARF, kernel))
    too_large = [kernel for kernel in study.kernels if kernel not in fitting]
    study = replace(study, kernels=fitting)
    yield f"Preset `{PRESET}`, small launches; a mean is that of {len(FEW)} runs. *Absorbed*: share of the loads that"
    yield "may be shared. *Rows*: used ones, over the registers of resident warps. *Renaming alone*: `virtualization`,"
    yield "with the same release; *nothing found*: `search` = `none`, the same machine whose table finds nothing."
    yield f"Kernels that do not fit: {', '.join(too_large) or 'none'}.\n"
    yield "## Paper says, we measure\n"
    yield claims_table(claims(study))
    yield "## Sizes of the address table\n"
    near = [kernel for kernel in NEIGHBOURS if kernel in fitting] or fitting  # some ask for a few kernels only
    yield f"*Neighbours* are convolutions, stencils and matrix products: {', '.join(near)}.\n"
    yield table(("table", *_COLUMNS), (_of(study, near, *one) for one in SIZES.items()))
    yield "## Schedulers\n"
    yield "The baseline is that with the same scheduler; that of `las` has lrr.\n"
    points = [(name, LARF.but(scheduler=name), BASELINE.but(scheduler=name)) for name in SCHEDULERS]
    points.append(("two_level", *(Point(f"{name}+two_level", PRESET).small for name in ("larf", "baseline"))))
    ahead = Point("larf+las", PRESET).small
    points += [(name, ahead.but(**changes), BASELINE.but(scheduler="lrr")) for name, changes in LAS.items()]
    yield table(("scheduler", *_COLUMNS), (_of(study, near, *one) for one in points))
    yield "## Kernel by kernel\n"
    yield "Loads that may be shared, by what became of them; *lost*: of the misses, those that were a hit when"
    yield "they were found; IPC; rows.\n"
    columns = ("kernel", "loads", "perfect", "single", "double", "misses", "lost", "untracked", "absorbed")
    more = ("IPC baseline", "larf", "nothing found", "rows", "nothing found")
    yield table((*columns, *more), (kernel_row(study, kernel) for kernel in study.kernels))


def _of(study: Study, near: Sequence[str], name: str, point: Point, base: Point = BASELINE) -> Sequence[str]:
    both = study, replace(study, kernels=tuple(near))
    shares, gains = ([_absorbed(one, point) for one in both], [_gain(one, point, base) for one in both])
    return name, *map(percent, shares), *map(signed, gains)


def claims(study: Study) -> Iterator[Claim]:
    """The dissertation's claims."""
    shares = {
        kernel: study.spread(lambda one, kernel=kernel: absorbed(one.of(LARF, kernel)), FEW) for kernel in study.kernels
    }
    most = max(shares, key=lambda kernel: shares[kernel].mean)
    yield Claim("loads absorbed, the best kernel (section 5.1)", "up to 80%", shares[most], percent, (KERNELS,), most)
    causes = (
        Without("no merges", _absorbed(study, PERFECT)),
        Without("98 entries", _absorbed(study, SIZES["98 entries"])),
        Without("the merge slot is waited for 63 cycles", _absorbed(study, LARF.but(merge_wait=63))),
    )
    yield Claim("loads absorbed, mean of the kernels", "-", _absorbed(study, LARF), percent, causes)
    gains = {
        kernel: study.spread(lambda one, kernel=kernel: one.gain(kernel, LARF, BASELINE), FEW)
        for kernel in study.kernels
    }
    fastest = max(gains, key=lambda kernel: gains[kernel].mean)
    nothing = study.spread(lambda one: one.gain(fastest, NOTHING, BASELINE), FEW)
    alone = Without("nothing is found", nothing)
    yield Claim("IPC, the best kernel (Fig. 5.7)", "up to +250%", gains[fastest], signed, (alone, KERNELS), fastest)
    removed = (
        Without("nothing is found", _gain(study, NOTHING)),
        Without("latencies a cycle less", _gain(study, corf.earlier(LARF))),
        Without("16 absorbed loads at once", _gain(study, LARF.but(absorbed_loads=16))),
        Without("DRAM as in the simulator's file", _gain(study, LARF.but(**DRAM), BASELINE.but(**DRAM))),
    )
    yield Claim("IPC, mean of the kernels (Fig. 5.9)", "+6% to +70%", _gain(study, LARF), signed, (*removed, KERNELS))
    large = _gain(study, replace(LARF, setting="large"), replace(BASELINE, setting="large"))
    yield Claim("IPC, mean of the kernels, large launches", "+6% to +70%", large, signed, (KERNELS,))
    costs = (Without(what, _gain(study, replace(RENAMED, file=file))) for what, file in COSTS.items())
    yield Claim("IPC, renaming alone, mean of the kernels", "-", _gain(study, RENAMED), signed, tuple(costs))
    yield Claim("registers in use, renaming alone (Fig. 5.10)", "50%", _rows(study, RENAMED), percent, (KERNELS,))
    fewer = study.spread(
        lambda one: one.over_kernels(lambda name: rows(one, name, LARF) / rows(one, name, NOTHING)) - 1, FEW
    )
    yield Claim("rows, over those of a table that finds nothing (Fig. 5.10)", "almost -50%", fewer, signed, (KERNELS,))


def rows(study: Study, kernel: str, point: Point) -> float:
    """Rows in use over the registers of resident warps."""
    run = study.of(point, kernel)
    return run["used_row_cycles"] / max(1, run["resident_cycles"] * study.reuse(kernel).trace.registers)


def _rows(study: Study, point: Point) -> Spread:
    return _mean(study, lambda one, kernel: rows(one, kernel, point))


def _absorbed(study: Study, point: Point) -> Spread:
    return _mean(study, lambda one, kernel: absorbed(one.of(point, kernel)))


def _mean(study: Study, figure: Callable[[Study, str], float]) -> Spread:
    return study.spread(lambda one: one.over_kernels(lambda kernel: figure(one, kernel)), FEW)


def _gain(study: Study, point: Point, base: Point = BASELINE) -> Spread:
    return study.spread(lambda one: one.speedup(point, base), FEW)


def kernel_row(study: Study, kernel: str) -> tuple[object, ...]:
    """The row of a kernel in the last table, of runs at seed 0."""
    base, run, nothing = (study.of(point, kernel) for point in (BASELINE, LARF, NOTHING))
    untracked = sum(run[f"untracked_{reason}"] for reason in REASONS)
    found = (run[name] for name in OUTCOMES)
    rates = (f"{one.ipc:.3f}" for one in (base, run, nothing))
    used = (percent(rows(study, kernel, point)) for point in (LARF, NOTHING))
    counts = (searching(run), *found, run["lost_hits"], untracked)
    return (kernel, *(f"{count:,}" for count in counts), percent(absorbed(run)), *rates, *used)
