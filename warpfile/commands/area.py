"""``warpfile area``: what a scheme costs in cells, bits and levels of logic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warpfile.display import Report, progress, say, show_table
from warpfile.options import BASELINE, Design, configured, designs, json_file, scheme_arguments
from warpfile.outputs import write_json

if TYPE_CHECKING:
    from synth.area import AreaReport, ModuleArea


@dataclass(frozen=True)
class Cost:
    """What one scheme costs, and how much more that is than the baseline in the same configuration."""

    design: Design
    report: AreaReport
    overhead: dict[str, Any]

    def to_json(self) -> dict[str, object]:
        """The scheme's facts of ``--json``; tool and library stand once for all schemes."""
        facts = self.report.to_json()
        kept = {key: value for key, value in facts.items() if key not in ("tool", "liberty")}
        return {"preset": self.design.preset, "lanes": self.design.config.lanes} | kept | {"overhead": self.overhead}


@click.command()
@scheme_arguments
@configured
@click.option("--liberty", metavar="FILE", type=click.Path(path_type=Path), help="Cell library for areas in um2.")
@json_file
def area(
    schemes: tuple[str, ...], preset: str | None, changes: tuple[str, ...], liberty: Path | None, json_path: Path | None
) -> None:
    """Synthesise schemes and report cells, area, storage bits, logic levels and the overhead over the baseline.

    \b
    Example: warpfile area baseline --preset turing --json area.json
    """
    with progress("area") as report:
        found = [cost(design, liberty, report) for design in designs(schemes, preset, changes)]
    if json_path:
        write_json(json_path, area_facts(found))
    show_costs(found)


def cost(design: Design, liberty: Path | None, report: Report) -> Cost:
    """Measure a scheme and the baseline beside it. Raises ``ValueError`` for a library that cannot be used."""
    from synth.overhead import overhead

    found = _measured(design, liberty, report)
    baseline = found
    if design.scheme.name != BASELINE:
        baseline = _measured(design.baseline, liberty, report)
    return Cost(design, found, overhead(found, baseline))


def _measured(design: Design, liberty: Path | None, report: Report) -> AreaReport:
    from synth.area import measure
    from synth.yosys import YosysError

    try:
        return measure(design.scheme, design.config, liberty=liberty, progress=report)
    except YosysError as error:
        raise click.ClickException(f"{design.scheme.name}: {error}") from error


def area_facts(costs: Sequence[Cost]) -> dict[str, object]:
    """The facts of ``--json``; ``preset`` is null where the schemes have different ones."""
    presets = {one.design.preset for one in costs}
    return {
        "tool": costs[0].report.tool,
        "liberty": costs[0].report.liberty,
        "preset": presets.pop() if len(presets) == 1 else None,
        "schemes": {one.design.scheme.name: one.to_json() for one in costs},
    }


def show_costs(costs: Sequence[Cost]) -> None:
    """Tables of the schemes' costs, of their growth over the baseline, and of each scheme's modules."""
    columns = ("scheme", "preset", "lanes", "cells", "flip-flops", "area um2", "NAND2 eq.", "memory bits", "levels")
    show_table(columns, [_row(one) for one in costs])
    say(f"{costs[0].report.tool}, library {costs[0].report.liberty}; memories are counted as bits only.")
    grown = [one for one in costs if one.design.scheme.name != BASELINE]
    if grown:
        densities = [f"total at {density}" for density in grown[0].overhead["total"]]
        show_table(("over the baseline", "logic", "storage", *densities), [_growth_row(one) for one in grown])
    for one in costs:
        columns = (f"module of {one.design.scheme.name}", "instances", "cells", "flip-flops", "NAND2 eq.")
        show_table(columns, [_module_row(module) for module in one.report.modules])


def _row(one: Cost) -> tuple[object, ...]:
    report, design = one.report, one.design
    sizes = (report.cells, report.flip_flops, report.area_um2, report.nand2_equivalents, report.memory_bits)
    return (design.scheme.name, design.preset, design.config.lanes, *sizes, report.logic_levels)


def _growth_row(one: Cost) -> tuple[str, ...]:
    growth = (one.overhead["logic"], one.overhead["storage"], *one.overhead["total"].values())
    return (one.design.scheme.name, *map(_percent, growth))


def _module_row(module: ModuleArea) -> tuple[object, ...]:
    return (module.name, module.instances, module.cells, module.flip_flops, module.nand2_equivalents)


def _percent(growth: float | None) -> str:
    return "-" if growth is None else f"{growth:+.1%}"
