"""``warpfile generate``: Verilog and manifest."""

from __future__ import annotations

from pathlib import Path

import click

from warpfile.display import progress, say, show_table
from warpfile.generate import Generated
from warpfile.generate import generate as write_design
from warpfile.options import configured, designs, json_file
from warpfile.outputs import write_json


@click.command()
@click.argument("scheme", metavar="SCHEME")
@configured
@click.option("--probes", is_flag=True, help="Add the observation port that the lockstep compares.")
@click.option(
    "-o",
    "--output",
    "directory",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Folder for SCHEME.v and SCHEME.json; made if it does not exist. Default: the current one.",
)
@json_file
def generate(
    scheme: str,
    preset: str | None,
    changes: tuple[str, ...],
    parts: tuple[str, ...],
    probes: bool,
    directory: Path,
    json_path: Path | None,
) -> None:
    """Write the Verilog of a scheme and a manifest of its ports, memories and storage.

    \b
    Example: warpfile generate baseline --preset turing --set lanes=8 -o build/rtl
    """
    results: list[Generated] = []
    with progress("generate") as report:
        for design in designs([scheme], preset, changes, parts):
            result = write_design(
                design.scheme, design.config, design.preset, directory, probes=probes, progress=report
            )
            results.append(result)
    if json_path:
        write_json(json_path, {"schemes": {str(result.facts["scheme"]): result.facts for result in results}})
    for result in results:
        say(f"{result.verilog}\n{result.manifest}")
        _show_storage(result)


def _show_storage(result: Generated) -> None:
    storage: dict[str, dict[str, dict[str, int]]] = result.facts["storage_bits"]  # type: ignore[assignment]
    rows = [(kind, name, bits) for kind, part in storage.items() for name, bits in part["by_structure"].items()]
    show_table(("storage", "module", "bits"), [(kind.replace("_", "-"), name, bits) for kind, name, bits in rows])
