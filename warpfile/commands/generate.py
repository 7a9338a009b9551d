"""``warpfile generate``: Verilog and manifest."""

from __future__ import annotations

from pathlib import Path

import click

from warpfile.display import progress, say, show_table
from warpfile.generate import Generated
from warpfile.generate import generate as write_design
from warpfile.names import Names
from warpfile.options import chosen, configured, json_file, scheme_arguments
from warpfile.outputs import write_json


@click.command()
@scheme_arguments
@configured
@click.option("--probes", is_flag=True, help="Add the observation port that the lockstep compares.")
@click.option(
    "--prefix",
    metavar="TEXT",
    help="Before the name of every module. Default: warpfile_, with several schemes warpfile_SCHEME_.",
)
@click.option("--top", metavar="NAME", help="Name of the top module. Default: the prefix without its last underscore.")
@click.option(
    "-o",
    "--output",
    "directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Folder for the files of every SCHEME; made if it does not exist. Default: the current one.",
)
@json_file
def generate(
    schemes: tuple[str, ...],
    preset: str | None,
    changes: tuple[str, ...],
    parts: tuple[str, ...],
    probes: bool,
    prefix: str | None,
    top: str | None,
    directory: Path,
    json_path: Path | None,
) -> None:
    """Write the Verilog of schemes and manifests of their ports, memories and storage.

    \b
    Example: warpfile generate baseline --preset turing --set lanes=8 -o build/rtl
    """
    results: list[Generated] = []
    with progress("generate") as report:
        asked = chosen(schemes, preset, changes, parts)
        wanted = asked.designs
        names = [Names.of(design.scheme.name, len(wanted) == 1, prefix, top) for design in wanted]
        for design, called in zip(wanted, names, strict=True):
            machine = design.scheme, design.config, design.preset, directory
            results.append(write_design(*machine, probes=probes, names=called, progress=report))
    asked.tell()
    if json_path:
        facts = {str(result.facts["scheme"]): result.facts for result in results}
        write_json(json_path, {"schemes": facts, "left_out": asked.left_out})
    for result in results:
        say("\n".join(map(str, result.paths.values())))
        _show_storage(result)


def _show_storage(result: Generated) -> None:
    storage: dict[str, dict[str, dict[str, int]]] = result.facts["storage_bits"]  # type: ignore[assignment]
    rows = [(kind, name, bits) for kind, part in storage.items() for name, bits in part["by_structure"].items()]
    show_table(("storage", "module", "bits"), [(kind.replace("_", "-"), name, bits) for kind, name, bits in rows])
