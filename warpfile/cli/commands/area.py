"""``warpfile area``: what a scheme costs in cells, bits and levels of logic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpfile.cli.commands.netlists import show_netlists
from warpfile.cli.options import (
    MachineOptions,
    check_placer,
    configured,
    delay_files,
    json_file,
    scheme_arguments,
)
from warpfile.output.display import BESIDE, Report, progress, say, say_differences, show_table
from warpfile.output.files import json_text, write_files, write_json
from warpfile.results.claims import measured as of_claim
from warpfile.results.designs import BASELINE, Design
from warpfile.results.syntheses import areas, machine

if TYPE_CHECKING:
    from warpfile.synth.area import AreaReport, ModuleArea
    from warpfile.synth.timed import TimedNetlist
    from warpfile.synth.timing import CriticalPath


@dataclass(frozen=True)
class Cost:
    """What one scheme costs, and how much more that is than the baseline in the same configuration.

    ``beside`` is the baseline's report, without logic levels unless it was asked for, too. ``overhead`` is of these,
    with arrays of operands in flip-flops; its ``latches`` has the same with small arrays in latches, None where the
    library has no latch. ``paths`` are the scheme's critical paths by the name of the library, ``paths_beside`` the
    baseline's. ``netlists`` are those of the timed flow, and ``paths`` are then theirs.
    """

    design: Design
    report: AreaReport
    beside: AreaReport
    overhead: dict[str, Any]
    paths: Mapping[str, CriticalPath] = field(default_factory=dict)
    paths_beside: Mapping[str, CriticalPath] = field(default_factory=dict)
    netlists: Mapping[str, TimedNetlist] = field(default_factory=dict)
    netlists_beside: Mapping[str, TimedNetlist] = field(default_factory=dict)

    def longer(self, library: str) -> float | None:
        """The critical path over the baseline's, None where one of them was not timed."""
        own, other = (paths[library].nanoseconds for paths in (self.paths, self.paths_beside))
        return own / other if own and other else None

    def longer_with_access(self, library: str) -> float | None:
        """The same of the paths in which memories take their time."""
        own, other = (paths[library].with_access for paths in (self.paths, self.paths_beside))
        return own.nanoseconds / other.nanoseconds if own and other else None

    def to_json(self) -> dict[str, object]:
        """The scheme's facts of ``--json``; tool and library stand once for all schemes."""
        facts = self.report.to_json()
        kept = {key: value for key, value in facts.items() if key not in ("tool", "liberty")}
        paths = {name: self._timed(name, path) for name, path in self.paths.items()}
        shape = {"preset": self.design.preset, "lanes": self.design.config.lanes}
        netlists = {"netlists": {name: one.to_json() for name, one in self.netlists.items()}} if self.netlists else {}
        found = {"overhead": self.overhead, "claims": list(self._claims()), "critical_paths": paths}
        return shape | kept | found | netlists

    def _claims(self) -> Iterator[Mapping[str, object]]:
        """What the paper says of this design, beside what it has; nothing of a design that the paper does not cost."""
        scheme = self.design.scheme
        for claim in scheme.claims if self.design.changes == scheme.point else ():
            ours = round(of_claim(claim, self.report, self.beside), 6)
            said = {"what": claim.what, "published": claim.published, "source": claim.source, "why": claim.why}
            yield said | {"ours": ours}

    def _timed(self, library: str, path: CriticalPath) -> dict[str, object]:
        over = {"of_baseline": self.longer(library), "with_access_of_baseline": self.longer_with_access(library)}
        return path.to_json() | {name: ratio and round(ratio, 4) for name, ratio in over.items()}


@click.command(short_help="Synthesise schemes: cells, area, storage, logic levels.")
@scheme_arguments
@configured
@click.option("--liberty", metavar="FILE", type=click.Path(path_type=Path), help="Cell library for areas in um2.")
@click.option(
    "--against", metavar="FILE", type=click.Path(path_type=Path), help="Compare with an earlier output of --json."
)
@click.option("--timing/--no-timing", default=True, help="Also compute critical paths with --liberty, with OpenSTA.")
@delay_files
@click.option(
    "--flow",
    type=click.Choice(("plain", "timed")),
    default="plain",
    help="timed: area and path of one netlist, mapped, buffered and sized for speed; takes minutes.",
)
@click.option("--gate-clocks", is_flag=True, help="In the timed flow: clock gates of the library instead of enables.")
@click.option("--wires", is_flag=True, help="In the timed flow: place the netlist and time it with its wires.")
@click.option(
    "--placement",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --wires, of one scheme and library: a picture of the placement, as PNG.",
)
@json_file
def area(
    schemes: tuple[str, ...],
    machine_options: MachineOptions,
    liberty: Path | None,
    against: Path | None,
    timing: bool,
    delays: tuple[Path, ...],
    flow: str,
    gate_clocks: bool,
    wires: bool,
    placement: Path | None,
    json_path: Path | None,
) -> None:
    """Synthesise schemes and report cells, area, storage bits, logic levels and the overhead over the baseline.

    Results cached in build/area take seconds. Without them a small scheme takes a quarter of a minute, and all schemes
    take five minutes on two processors. The progress line estimates the time left.

    \b
    Example: warpfile area baseline --preset turing --json area.json
    Example: warpfile area all --against synth/figures
    Example: warpfile area malekeh --delays osu018_stdcells.lib --json synth/figures/
    Example: warpfile area malekeh --liberty sky130hd_tt.lib.gz
    Example: warpfile area malekeh --flow timed --delays osu018_stdcells.lib
    Example: warpfile area malekeh --flow timed --delays sky130hd_tt.lib.gz --wires --placement malekeh.png
    """
    from warpfile.synth.figures import read_figures

    before = read_figures(against) if against else None
    timed = (liberty, *delays) if liberty and timing else delays
    _check_flow(flow, timed, gate_clocks, wires, placement)
    asked = machine_options.chosen(schemes)
    asked.each(lambda one: one.baseline)  # without one there is nothing to compare with
    asked.report_left_out()
    if placement and len(asked.designs) * len(timed) > 1:
        raise click.UsageError("--placement must have one scheme and one library")
    with progress("area") as report:
        found = measured(asked.designs, liberty, report, () if flow == "timed" else timed)
        if flow == "timed":
            found = [
                with_netlists(one, timed, {"gates": gate_clocks, "wires": wires}, placement, report) for one in found
            ]
    facts = area_facts(found)
    if json_path:
        write_figures(json_path, facts, asked.left_out)
    show_costs(found)
    if before is not None:
        show_changes(before, facts)


def _check_flow(flow: str, timed: Sequence[Path], gate_clocks: bool, wires: bool, placement: Path | None) -> None:
    """Raises ``ClickException`` where options of the timed flow do not go together, or what they need is missing."""
    if flow == "timed" and not timed:
        raise click.UsageError("--flow timed must have a library with delays: --delays FILE")
    if gate_clocks and flow != "timed":
        raise click.UsageError("--gate-clocks must have --flow timed")
    if wires and flow != "timed":
        raise click.UsageError("--wires must have --flow timed")
    if placement and not wires:
        raise click.UsageError("--placement must have --wires")
    if placement and placement.suffix != ".png":
        raise click.BadParameter(f"must end in .png, not {placement.name!r}", param_hint="--placement")
    if wires:
        check_placer()


def write_figures(path: Path, facts: dict[str, Any], left_out: Mapping[str, str]) -> None:
    """Write the facts and what was left out to a file, or the facts to one file per scheme of a folder that exists."""
    from warpfile.synth.figures import split_by_scheme

    if path.is_dir():
        write_files({path / f"{name}.json": json_text(one) for name, one in split_by_scheme(facts).items()})
    else:
        write_json(path, facts | {"left_out": left_out})


def measured(wanted: Sequence[Design], liberty: Path | None, report: Report, timed: Sequence[Path] = ()) -> list[Cost]:
    """Costs of designs, each with the baseline beside it, and critical paths in the libraries ``timed``.

    Raises ``ValueError`` for a library that cannot be used.
    """
    from warpfile.synth.liberty import read_liberty
    from warpfile.synth.overhead import has_latches, latched_overhead, overhead

    for path in timed:
        read_liberty(path)  # one that cannot be used is refused before anything is synthesised
    library = read_liberty(liberty)
    latches = has_latches(library)
    forms = {machine(one): latched(one) for one in wanted}
    reports = areas(wanted, liberty, report, list(forms.values()) if latches else ())
    costs = []
    for design in wanted:
        found, beside = (reports[machine(one)] for one in (design, design.baseline))
        grown = overhead(found, beside) | {"latches": None}
        if latches:
            form = forms[machine(design)]
            small = (reports[machine(form)], form.config), (beside, design.baseline.config)
            grown["latches"] = latched_overhead(*small, library)
        costs.append(Cost(design, found, beside, grown))
    return [
        replace(one, paths=_paths(one.design, timed, report), paths_beside=_paths(one.design.baseline, timed, report))
        for one in costs
    ]


def latched(design: Design) -> Design:
    """The design with its arrays of operands in latches; itself, where it has none or another form was asked for."""
    if not design.config.operand_arrays or design.config.storage != "flip_flops":
        return design
    return design.with_changes({"storage": "latches"})


def with_netlists(
    cost: Cost, libraries: Sequence[Path], options: Mapping[str, bool], placement: Path | None, report: Report
) -> Cost:
    """The same with the netlists of the timed flow, and their paths. Raises ``ClickException`` where there is none.

    ``options`` are those of :func:`warpfile.synth.area.timed`; ``placement`` is for the scheme's own picture.
    """
    picture = {"picture": lambda png: write_files({placement: png})} if placement else {}
    own = _netlists(cost.design, libraries, {**options, **picture}, report)
    other = _netlists(cost.design.baseline, libraries, options, report)
    paths, beside = ({name: one.path for name, one in found.items()} for found in (own, other))
    return replace(cost, paths=paths, paths_beside=beside, netlists=own, netlists_beside=other)


def _netlists(
    design: Design, libraries: Sequence[Path], options: Mapping[str, Any], report: Report
) -> dict[str, TimedNetlist]:
    from warpfile.synth.area import timed
    from warpfile.synth.timing import TimingError

    def found(library: Path) -> TimedNetlist:
        def step(name: str) -> None:
            report(f"{design.scheme.name}, {library.name}: {name}")

        try:
            return timed(design.scheme, design.config, library, progress=step, **options)
        except (ValueError, TimingError) as error:
            raise click.ClickException(f"{design.scheme.name}: {error}") from error

    return {path.name: found(path) for path in libraries}


def _paths(design: Design, libraries: Sequence[Path], report: Report) -> dict[str, CriticalPath]:
    return {path.name: _timed(design, path, report) for path in libraries}


def _timed(design: Design, liberty: Path, report: Report) -> CriticalPath:
    from warpfile.synth.area import critical_path
    from warpfile.synth.timing import CriticalPath, TimingError

    report(f"{design.scheme.name}: critical path, {liberty.name}")
    try:
        return critical_path(design.scheme, design.config, liberty)
    except (ValueError, TimingError) as error:
        return CriticalPath(None, str(error))


def area_facts(costs: Sequence[Cost]) -> dict[str, Any]:
    """The facts of ``--json``; ``preset`` is null where the schemes have different ones."""
    presets = {one.design.preset for one in costs}
    return {
        "tool": costs[0].report.tool,
        "liberty": costs[0].report.liberty,
        "preset": presets.pop() if len(presets) == 1 else None,
        "schemes": {one.design.scheme.name: one.to_json() for one in costs},
    }


def show_costs(costs: Sequence[Cost]) -> None:
    """Tables of the schemes' costs, of their growth over the baseline, of their modules and what they store."""
    columns = ("scheme", "preset", "lanes", "cells", "flip-flops", "area um2", "NAND2 eq.", "memory bits", "levels")
    show_table((*columns, "critical path"), [_row(one) for one in costs])
    for path in (path for one in costs for path in one.paths.values() if path.nanoseconds is not None):
        say(f"{path.nanoseconds} ns: {path.start} to {path.end}, {len(path.cells)} cells")
    rows = [_access_row(one, name) for one in costs for name, path in one.paths.items() if path.with_access]
    if rows:
        show_table(("with access times", "library", "FO4 of memories", "ns", "FO4", "of baseline", "from", "to"), rows)
    say(f"{costs[0].report.tool}, library {costs[0].report.liberty}; memories are counted as bits only.")
    each = ((one, library) for one in costs for library in one.netlists)
    show_netlists([(one.design.scheme.name, name, one.netlists[name], one.netlists_beside[name]) for one, name in each])
    if not any(one.paths for one in costs):
        say("Critical paths need --liberty or --delays with a library that has delays.")
    grown = [one for one in costs if one.design.scheme.name != BASELINE]
    if grown:
        show_growth(grown)
        say_differences(((one.design.scheme.name, str(one.design.matching)) for one in grown), BESIDE)
    for one in costs:
        name = one.design.scheme.name
        columns = (f"module of {name}", "instances", "cells", "flip-flops", "NAND2 eq.", "levels", "over baseline")
        show_table(columns, [_module_row(one, module) for module in one.report.modules])
        rows = [(bits.name, bits.kind, bits.bits, bits.published) for bits in one.report.structures]
        show_table((f"stored by {name}", "kind", "bits", "published"), rows)


def show_growth(grown: Sequence[Cost]) -> None:
    """Tables of the growth over the baseline: with small arrays in latches, and with them in flip-flops."""
    densities = [f"total at {density}" for density in grown[0].overhead["total"]]
    columns = ("logic", "storage", *densities)
    if grown[0].overhead["latches"]:
        show_table(("over the baseline", *columns), [_growth_row(one, one.overhead["latches"]) for one in grown])
        say("Small arrays are latches: those of operands, and memories of up to 64 rows that are no register banks.")
    show_table(("as flip-flops", *columns), [_growth_row(one, one.overhead) for one in grown])
    say("As flip-flops: arrays of operands are cells of the report, all memories have the density.")
    say("~: so little that names and order of ports explain it as well.")


def show_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Table of what differs from earlier figures; a line where nothing does."""
    from warpfile.synth.figures import changes

    found = changes(before, now)
    for fact in ("tool", "liberty"):
        if before[fact] != now[fact]:
            say(f"{fact} was {before[fact]}, is {now[fact]}")
    rows = [(one.scheme, one.what, one.before, one.now, _percent(one.growth)) for one in found]
    if rows:
        show_table(("scheme", "what", "before", "now", "growth"), rows)
    else:
        say("Nothing differs from the earlier figures.")


def _row(one: Cost) -> tuple[object, ...]:
    report, design = one.report, one.design
    sizes = (report.cells, report.flip_flops, report.area_um2, report.nand2_equivalents, report.memory_bits)
    return (design.scheme.name, design.preset, design.config.lanes, *sizes, report.logic_levels, _path(one))


def _path(one: Cost) -> str:
    return ", ".join(_nanoseconds(path, one.longer(name)) for name, path in one.paths.items()) or "-"


def _nanoseconds(path: CriticalPath, longer: float | None) -> str:
    if path.nanoseconds is None:
        return path.reason
    return f"{path.nanoseconds:.2f} ns" + (f", {longer:.2f} of baseline" if longer and longer != 1 else "")


def _access_row(one: Cost, library: str) -> tuple[object, ...]:
    path, longer = one.paths[library].with_access, one.longer_with_access(library)
    assert path is not None, "rows are of paths that have one"
    times = ", ".join(f"{memory} {access:.1f}" for memory, access in path.access_fo4.items())
    sizes = (path.nanoseconds, round(path.nanoseconds / path.fo4_ns, 1), longer and round(longer, 2))
    return (one.design.scheme.name, library, times, *sizes, path.start, path.end)


def _growth_row(one: Cost, grown: Mapping[str, Any]) -> tuple[str, ...]:
    logic = _percent(grown["logic"], noise=grown["noise"])
    growth = (one.overhead["storage"], *grown["total"].values())
    return (one.design.scheme.name, logic, *map(_percent, growth))


def _module_row(one: Cost, module: ModuleArea) -> tuple[object, ...]:
    sizes = (module.name, module.instances, module.cells, module.flip_flops, module.nand2_equivalents)
    growth = one.overhead["modules"].get(module.name)
    over = _percent(growth["logic"], noise=growth["noise"]) if growth else "new"
    return (*sizes, module.logic_levels, over)


def _percent(growth: float | None, *, noise: bool = False) -> str:
    return "-" if growth is None else f"{'~' if noise else ''}{growth:+.1%}"
