"""``warpfile energy``: what a run's accesses to the register file cost at published energies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from warpfile.cli.commands.memory_energy import MemoryBill, show_memory_bills
from warpfile.cli.options import (
    LaunchOptions,
    MachineOptions,
    configured,
    json_file,
    kernel_argument,
    scheme_arguments,
    two_cycles,
)
from warpfile.output.display import BESIDE, Report, progress, say, say_differences, say_notes, show_table
from warpfile.output.files import write_json
from warpfile.results.designs import BASELINE, Choice, Design
from warpfile.results.run import GoldenRun, golden_run
from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config
from warpfile.spec.trace import Trace
from warpfile.synth.arrays import GIGAHERTZ, read_array_prices
from warpfile.synth.arrays import NAME as CACTI
from warpfile.synth.energy import Access, Energy, PriceSet, all_prices, default_prices, energy, one_for_all
from warpfile.synth.liberty import read_liberty

if TYPE_CHECKING:
    from warpfile.results.logic import LogicEnergy

_PJ_PER_NJ = 1000.0


@dataclass(frozen=True)
class Bill:
    """The energy of one scheme's run, and of the baseline's in the same configuration at the same prices.

    ``why`` gives the source of the prices, unless it is the scheme.
    """

    design: Design
    run: GoldenRun
    energy: Energy
    baseline: Energy
    why: str = ""

    @property
    def origin(self) -> str:
        """Where the prices come from, and why these."""
        prices, scheme = self.energy.prices, self.design.scheme
        why = self.why or f"nearest to {scheme.node_nm} nm, as {scheme.name} has no prices of its own"
        if prices.name == scheme.prices:
            why = f"those of {scheme.name}"
        return f"{prices.source}: {prices.node_nm} nm, {prices.volts:g} V ({why}); {prices.remark}"

    def to_json(self) -> dict[str, object]:
        """The scheme's facts of ``--json``; energies are in picojoules."""
        found, prices = self.energy, self.energy.prices
        return {
            "kernel": self.run.kernel,
            "preset": self.design.preset,
            "domain": self.design.config.domain,
            "lanes": self.design.config.lanes,
            "prices": {name: getattr(prices, name) for name in ("name", "source", "node_nm", "volts", "remark")},
            "accesses": {one.kind: _facts(found, one) for one in found.priced},
            "unpriced": found.unpriced,
            "covered": found.covered,
            "picojoules": found.picojoules,
            "baseline_picojoules": self.baseline.picojoules,
            "baseline_unpriced": self.baseline.unpriced,
            "over_baseline": found.over(self.baseline),
        }


def _facts(found: Energy, one: Access) -> dict[str, object]:
    facts = {"count": one.count, "picojoules_each": one.picojoules, "picojoules": one.total}
    return facts | {"share": found.share(one), "place": one.place}


@click.command(name="energy", short_help="Price the register-file accesses of a kernel.")
@scheme_arguments
@kernel_argument
@configured
@click.option(
    "--prices",
    metavar="NAME",
    help=f"Prices (docs/energy.md): a paper's, or {CACTI} for all memories. Default: those of the scheme's own paper.",
)
@click.option(
    "--gigahertz",
    metavar="GHZ",
    type=click.FloatRange(min=0, min_open=True),
    help=f"With --prices {CACTI}: clock frequency for leakage. Default: {GIGAHERTZ:g}.",
)
@click.option(
    "--switching",
    metavar="FIRST:LAST",
    help=f"With --prices {CACTI}: also count the toggles of all mapped gates in these cycles since the start.",
)
@click.option(
    "--liberty",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="With --switching: cell library. Default: osu018 if it is installed, else cells without power data.",
)
@json_file
def energy_command(
    schemes: tuple[str, ...],
    kernel: str,
    machine_options: MachineOptions,
    launch_options: LaunchOptions,
    prices: str | None,
    gigahertz: float | None,
    switching: str | None,
    liberty: Path | None,
    json_path: Path | None,
) -> None:
    """Run golden models over a kernel and price their register file accesses, next to the baseline.

    --prices cacti prices the memories of every scheme at one node, with their leakage, so that all rows can be
    compared. Each other set is that of one paper.

    A scheme whose paper has no prices gets those of the nearest node. Several schemes are priced with one set, so that
    their rows can be compared: their common set if they have one, else the baseline's. Accesses without a price are
    listed, not counted.

    \b
    Example: warpfile energy bow bow_wr matmul_tiled
    """
    asked, sets, arrays = machine_options.chosen(schemes), all_prices(), read_array_prices()
    _check_prices(prices, sets, {"--gigahertz": gigahertz, "--switching": switching})
    window = two_cycles("--switching", switching) if switching is not None else None
    if prices == CACTI:
        asked.each(lambda one: [arrays.check(part.config) for part in (one, one.baseline)])
    with progress("energy") as report:
        trace = launch_options.trace(kernel, report)
        runs = run_all(asked, trace, report)
        logic = _logic(asked.designs, trace, liberty, window, report) if window else {}
    asked.report_left_out()
    if prices == CACTI:
        memories = [MemoryBill.of(*one, arrays, gigahertz or GIGAHERTZ).with_logic(logic) for one in runs]
        _write(json_path, memories, asked)
        show_memory_bills(memories)
    else:
        bills = price_runs(runs, *_prices(asked.designs, prices, sets))
        _write(json_path, bills, asked)
        show_bills(bills)
    say_differences(((one.scheme.name, str(one.matching)) for one in asked.designs), BESIDE)


def _check_prices(prices: str | None, sets: Mapping[str, PriceSet], for_memories: Mapping[str, object]) -> None:
    """Refuse prices that are unknown, and options that go with those of all memories where these are not asked for."""
    if prices is not None and prices not in (*sets, CACTI):
        raise click.UsageError(f"--prices must be one of {', '.join((*sets, CACTI))}, not {prices!r}")
    for option, value in for_memories.items():
        if value is not None and prices != CACTI:
            raise click.UsageError(f"{option} needs --prices {CACTI}")


def _logic(
    chosen: Sequence[Design], trace: Trace, liberty: Path | None, window: tuple[int, int], report: Report
) -> dict[tuple[str, Config], LogicEnergy]:
    """Imports the simulation where it is asked for only, as ``warpfile cosim`` does."""
    from warpfile.results.logic import default_library, logic_of
    from warpfile.sim.simulators import SimulatorError

    try:
        return logic_of(chosen, trace, read_liberty(liberty or default_library()), window, report)
    except SimulatorError as error:
        raise click.ClickException(str(error)) from None


def _write(path: Path | None, bills: Sequence[Bill] | Sequence[MemoryBill], asked: Choice) -> None:
    if path:
        facts = {one.design.scheme.name: one.to_json() for one in bills}
        write_json(path, {"schemes": facts, "left_out": asked.left_out})


def _prices(chosen: Sequence[Design], asked: str | None, sets: Mapping[str, PriceSet]) -> tuple[PriceSet, str]:
    """One set for all, and why it was taken if not for the sake of a single scheme."""
    if asked:
        return sets[asked], "as asked for"
    schemes = [one.scheme for one in chosen]
    found = one_for_all(schemes, SCHEMES[BASELINE], sets)
    alone = all(default_prices(scheme, sets) == found for scheme in schemes)
    return found, "" if alone else "one set for all rows, that of the baseline"


def run_all(asked: Choice, trace: Trace, report: Report) -> list[tuple[Design, GoldenRun, GoldenRun]]:
    """Run every scheme and the baseline beside it, each configuration once.

    Raises as :func:`warpfile.results.run.golden_run`, but see :meth:`warpfile.results.designs.Choice.each`.
    """
    runs: dict[tuple[str, Config], GoldenRun] = {}

    def run(design: Design) -> GoldenRun:
        key = (design.scheme.name, design.config)
        if key not in runs:
            runs[key] = golden_run(design.scheme, design.config, design.preset, trace, report)
        return runs[key]

    return asked.each(lambda one: (one, run(one), run(one.baseline)))


def price_runs(runs: Iterable[tuple[Design, GoldenRun, GoldenRun]], prices: PriceSet, why: str) -> list[Bill]:
    """Every scheme's run and that of the baseline beside it, at one set of prices."""
    bills = []
    for one, ours, base in runs:
        first = energy(one.scheme, one.config, ours.counters, prices)
        second = energy(one.baseline.scheme, one.baseline.config, base.counters, prices)
        bills.append(Bill(one, ours, first, second, why))
    return bills


def show_bills(bills: Sequence[Bill]) -> None:
    """A table of the totals, one of each scheme's accesses, and what has no price."""
    columns = ("scheme", "kernel", "preset", "lanes", "prices", "priced", "nJ", "nJ baseline", "over the baseline")
    show_table(columns, map(_row, bills))
    kinds = ", ".join(dict.fromkeys(access.kind.replace("_", " ") for one in bills for access in one.energy.priced))
    say(f"Priced: share of the accesses that {bills[0].energy.prices.name} has a price for: {kinds}.")
    for one in bills:
        _show_accesses(one)
    say_notes((one.design.scheme.name, one.run.notes) for one in bills)


def _show_accesses(one: Bill) -> None:
    name = one.design.scheme.name
    columns = (f"accesses of {name}", "count", "pJ each", "share", "from")
    show_table(columns, [_access_row(one.energy, access) for access in one.energy.priced])
    say(f"{one.energy.prices.name}: {one.origin}.")
    say(f"Not in the total of {name}, because they have no published energy: {_counts(one.energy)}.")
    if name != BASELINE:
        say(f"Not in that of the baseline: {_counts(one.baseline)}.")


def _row(one: Bill) -> tuple[object, ...]:
    ratio = one.energy.over(one.baseline)
    totals = (one.energy.picojoules / _PJ_PER_NJ, one.baseline.picojoules / _PJ_PER_NJ)
    growth = "-" if ratio is None else f"{ratio - 1:+.1%}"
    facts = (one.run.kernel, one.design.preset, one.design.config.lanes, one.energy.prices.name)
    covered = f"{one.energy.covered:.0%}"
    return (one.design.scheme.name, *facts, covered, *totals, growth)


def _access_row(found: Energy, one: Access) -> tuple[object, ...]:
    return (one.kind.replace("_", " "), one.count, one.picojoules, f"{found.share(one):.1%}", one.place)


def _counts(found: Energy) -> str:
    counts = (f"{kind.replace('_', ' ')} {count:,}" for kind, count in found.unpriced.items())
    return ", ".join(counts) or "nothing"
