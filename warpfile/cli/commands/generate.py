"""``warpfile generate``: Verilog and manifest."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from warpfile.cli.options import MachineOptions, configured, json_file, scheme_arguments
from warpfile.integrations.vortex import adapter
from warpfile.output.display import progress, say, show_table
from warpfile.output.files import write_json
from warpfile.results.designs import ALL, Design
from warpfile.spec.probe import Probe
from warpfile.spec.suggestions import suggestion
from warpfile.verilog.generate import HOSTS, LANGUAGES, Generated
from warpfile.verilog.generate import generate as write_design
from warpfile.verilog.names import Names


@click.command(short_help="Write Verilog, manifest and flow files of schemes.")
@scheme_arguments
@configured
@click.option("--probes", "all_probes", is_flag=True, help="Add the observation port that the lockstep compares.")
@click.option(
    "--probe",
    "probes",
    metavar="NAME",
    multiple=True,
    help="Make only this probe a port, for a counter of your own. May be repeated.",
)
@click.option(
    "--prefix",
    metavar="TEXT",
    help="Prefix of every module name. Default: 'warpfile_'; for several schemes followed by the scheme's name.",
)
@click.option("--top", metavar="NAME", help="Name of the top module. Default: the prefix without its last underscore.")
@click.option(
    "--host",
    type=click.Choice(HOSTS),
    help="Also write an adapter to this GPU; sizes are its defaults unless --set gives others.",
)
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    default=LANGUAGES[0],
    show_default=True,
    help="verilog: Verilog-2005. sv: SystemVerilog with records as packed structs of the package.",
)
@click.option(
    "-o",
    "--output",
    "directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Output folder for every SCHEME; created if it does not exist. Default: the current one.",
)
@json_file
def generate(
    schemes: tuple[str, ...],
    machine_options: MachineOptions,
    all_probes: bool,
    probes: tuple[str, ...],
    prefix: str | None,
    top: str | None,
    host: str | None,
    language: str,
    directory: Path,
    json_path: Path | None,
) -> None:
    """Write the Verilog of schemes and manifests of their ports, memories and storage.

    \b
    Example: warpfile generate baseline --preset turing --set lanes=8 -o build/rtl
             warpfile generate bow --probe room --probe write_wait -o build/rtl
             warpfile generate baseline --language sv -o build/rtl
             warpfile generate malekeh --host vortex -o build/vortex
    """
    if all_probes and probes:
        raise click.UsageError("--probes has every probe; --probe must go without it")
    if host and (len(schemes) > 1 or ALL in schemes):
        raise click.UsageError("--host must go with one SCHEME: a host takes one adapter")
    if host:
        machine_options = replace(machine_options, changes=(*adapter.SETTINGS, *machine_options.changes))
    results: list[Generated] = []
    with progress("generate") as report:
        asked = machine_options.chosen(schemes)
        wanted = asked.designs
        names = [Names.of(design.scheme.name, len(wanted) == 1, prefix, top) for design in wanted]
        for design, called in zip(wanted, names, strict=True):
            watched = _watched(design, all_probes, probes)
            what = design.scheme, design.config, design.preset, directory
            options = {"probes": watched, "names": called, "host": host, "language": language}
            results.append(write_design(*what, **options, progress=report))
    asked.report_left_out()
    if json_path:
        facts = {str(result.facts["scheme"]): result.facts for result in results}
        write_json(json_path, {"schemes": facts, "left_out": asked.left_out})
    for result in results:
        say("\n".join(map(str, result.paths.values())))
        _show_storage(result)


def _watched(design: Design, everything: bool, names: tuple[str, ...]) -> tuple[Probe, ...]:
    """The probes that were asked for, in the order in which the scheme has them."""
    probes = design.scheme.probes(design.config)
    for name in names:
        known = [probe.name for probe in probes]
        if name not in known:
            raise click.BadParameter(
                f"must be one of {', '.join(known)} with {design.scheme.name}, not {name!r}{suggestion(name, known)}",
                param_hint="--probe",
            )
    return tuple(probe for probe in probes if everything or probe.name in names)


def _show_storage(result: Generated) -> None:
    storage: dict[str, dict[str, dict[str, int]]] = result.facts["storage_bits"]  # type: ignore[assignment]
    rows = [(kind, name, bits) for kind, part in storage.items() for name, bits in part["by_structure"].items()]
    show_table(("storage", "module", "bits"), [(kind.replace("_", "-"), name, bits) for kind, name, bits in rows])
