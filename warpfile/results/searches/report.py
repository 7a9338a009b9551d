"""What a search found, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from warpfile.results.claims import DENSE
from warpfile.results.markdown import percent, signed, table
from warpfile.results.revision import machine_line
from warpfile.results.sample import bracketed
from warpfile.results.searches.areas import Errors
from warpfile.results.searches.figures import BETTER, LONGEST_PATH, Figures, Record, Verdict, best, verdict
from warpfile.results.searches.search import Findings
from warpfile.results.searches.space import COMBINATION, PUBLISHED
from warpfile.results.studies.plan import Kernel
from warpfile.results.studies.pricing import DEFAULT, one_set, without
from warpfile.results.studies.tasks import OK, Done

_MOST, _WORST = 6, 8  #: names in a sentence, rows of errors
_INTRODUCTION = """\
# What the search `{name}` found

Written by `warpfile search`; [search.md](search.md) says how. Machine: preset `{preset}`{common}. {count} different
machines of {combinations} combinations of parts, on {kernels} launches: {launches}.
Growth is over the baseline of that machine. IPC: geometric mean over kernels. Energy: arithmetic mean, of memories
only, at CACTI's prices. ± is half of the 95 % t-interval over the seeds {seeds}; brackets hold the
[95 % interval over kernels](study.md#intervals). Area: logic in NAND2 equivalents, and memory bits at {dense}.
{runs:,} golden runs; from nothing they take {seconds:,.0f} s of processor time.
{machine}
"""


def report(found: Findings) -> str:
    """The whole page."""
    return "\n".join((_introduction(found), *_verdict(found), *_published(found), *_front(found), *_areas(found)))


def _introduction(found: Findings) -> str:
    search = found.search
    pairs = {tuple(part.name for part in one.parts) for one in search.candidates}
    common = " with " + ", ".join(f"`{name}={value}`" for name, value in search.common.items()) if search.common else ""
    return _INTRODUCTION.format(
        machine=machine_line(),
        name=search.name,
        preset=search.preset,
        common=common,
        count=f"{len(search.candidates):,}",
        combinations=len(pairs),
        kernels=len(search.kernels),
        launches=_launches(search.kernels),
        runs=found.runs,
        seconds=found.seconds,
        seeds=", ".join(map(str, search.seeds)),
        dense=DENSE,
    )


def _launches(kernels: Iterable[Kernel]) -> str:
    """Settings, and the kernels that run in them."""
    by_setting: dict[str, list[str]] = {}
    for kernel in kernels:
        by_setting.setdefault(kernel.setting, []).append(f"`{kernel.name}`")
    return "; ".join(f"{setting}, of {', '.join(names)}" for setting, names in by_setting.items())


def _verdict(found: Findings) -> Iterator[str]:
    judged = verdict(found.finalists.values(), found.search.baseline.name)
    yield "## Verdict\n"
    yield (
        "Schemes are the published ones, the baseline in other sizes and, where they are at the front, the published"
        " ones in other sizes."
        " *Better* holds for other kernels and seeds too: the growth over the other machine, kernel by kernel and seed"
        f" by seed, has intervals without zero.{_limit(found)}\n"
    )
    yield _everywhere(judged)
    for what, one in judged.combinations.items():
        yield _record("combination", what, "scheme", one)
    for what, one in judged.resized.items():
        yield _record("scheme in another size", what, "published scheme", one)


def _limit(found: Findings) -> str:
    timed = f" No machine is named whose critical path is longer than {LONGEST_PATH} of the baseline's."
    return timed if found.search.delays else " Critical paths were not timed."


def _everywhere(judged: Verdict) -> str:
    if not judged.everywhere:
        return "* No combination beats every scheme in energy or IPC at no more area than that scheme.\n"
    names = _names(judged.everywhere)
    return f"* Better than every scheme, each in energy or IPC, at no more area than that scheme: {names}.\n"


def _record(some: str, what: str, others: str, one: Record) -> str:
    where = f"better in {what} than every {others}, at no more area than the best of them in it, `{one.holder}`"
    if one.names:
        return f"* A {some} that is {where}: {_names(one.names)}.\n"
    return f"* No {some} is {where}.\n"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return ", ".join(f"`{name}`" for name in names[:_MOST]) + more


def _published(found: Findings) -> Iterator[str]:
    every = list(found.finalists.values())
    combinations = [one for one in every if one.kind == COMBINATION and one.measured]
    yield "## Published schemes, and the best combination that is no larger\n"
    columns = ("scheme", "area", "IPC", "energy", "best in IPC", "its IPC", "best in energy", "its energy")
    yield table(columns, (_beside(one, combinations) for one in every if one.kind == PUBLISHED))
    yield "A combination in brackets is no better than the scheme, or not for sure.\n"


def _beside(one: Figures, combinations: Sequence[Figures]) -> tuple[object, ...]:
    cells: list[object] = [f"`{one.name}`", signed(one.area), *(_growth(one, what) for what in BETTER)]
    for what in BETTER:
        other = best(combinations, one.area, what)
        if other is None:
            cells += ["-", "-"]
        else:
            name = f"`{other.name}`"
            cells += [name if other.better(one, what) else f"({name})", _growth(other, what)]
    return tuple(cells)


def _growth(one: Figures, what: str) -> str:
    growth = one.growth(what)
    if growth is None:
        return "-"
    return bracketed(growth.seeds, growth.kernels and (1 + growth.kernels[0], 1 + growth.kernels[1]))


def _front(found: Findings) -> Iterator[str]:
    yield "## The front\n"
    yield (
        "No machine of the search has less area and more IPC than one of these, or none less area and less energy. All"
        " are synthesised. Path: over the baseline's critical path. Lockstep: RTL and golden model, every cycle"
        f" of {', '.join(f'`{name}`' for name in found.search.watched) or 'no kernel'}, {_lanes(found)} lanes.\n"
    )
    columns = ("machine", "kind", "area", "IPC", "energy", "path", "lockstep")
    yield table(columns, (_row(found, name) for name in found.front))


def _lanes(found: Findings) -> int:
    return found.search.baseline.config.lanes


def _row(found: Findings, name: str) -> tuple[object, ...]:
    one = found.finalists[name]
    growths = (_growth(one, what) for what in BETTER)
    path = f"{one.path:.2f}" if one.path else "-"
    return (f"`{name}`", one.kind, signed(one.area), *growths, path, _lockstep(found.lockstep[name]))


def _lockstep(runs: Iterable[Done]) -> str:
    every = list(runs)
    if wrong := next((one for one in every if one.status != OK), None):
        return f"{wrong.status}: {wrong.error}"
    cycles = sum(one.facts["cycles"] for one in every)
    return f"equal in {cycles:,} cycles" if every else "-"


def _areas(found: Findings) -> Iterator[str]:
    errors, count = found.errors, found.synthesised
    yield "## How areas were estimated\n"
    yield (
        f"{count} of the machines were synthesised; the logic of the others is a sum over parts and over the bits that"
        f" their pages say they keep in registers, fitted to these. {_off(errors)} A machine that the model has too"
        " large by more than the median error may be missing at the front.\n"
    )
    worst = sorted(errors.by_name.items(), key=lambda one: -abs(one[1]))[:_WORST]
    yield table(("machine", "estimated over synthesised"), ((f"`{name}`", signed(error)) for name, error in worst))
    yield from _missing(found)


def _missing(found: Findings) -> Iterator[str]:
    """What has no figures, and why."""
    machines = {one.name: (one.scheme, one.config) for one in found.search.candidates}
    yield from (f"{line}.\n" for line in without(machines, one_set(DEFAULT)))
    if found.left:
        reasons = Counter(found.left.values())
        yield f"Left out: {'; '.join(f'{count} machines: {reason}' for reason, count in reasons.items())}.\n"


def _off(errors: Errors) -> str:
    name, worst = errors.worst
    return (
        f"Each of them left out in turn, the model of the others is off by {percent(errors.median)} in the median,"
        f" {percent(errors.rms)} root mean square, and {signed(worst)} at worst, for `{name}`: the worst are below."
    )
