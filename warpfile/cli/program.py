"""The command line: all subcommands in one group."""

from __future__ import annotations

from importlib.metadata import version

import click

from warpfile.cli.application import Application
from warpfile.cli.commands.analyze import analyze
from warpfile.cli.commands.area import area
from warpfile.cli.commands.catalog import kernels, presets, schemes
from warpfile.cli.commands.cosim import cosim
from warpfile.cli.commands.demo import demo
from warpfile.cli.commands.doctor import doctor
from warpfile.cli.commands.draw import draw
from warpfile.cli.commands.energy import energy_command
from warpfile.cli.commands.exporting import export_command
from warpfile.cli.commands.generate import generate
from warpfile.cli.commands.importing import import_command
from warpfile.cli.commands.power import power
from warpfile.cli.commands.profile import profile
from warpfile.cli.commands.report import report
from warpfile.cli.commands.run import run
from warpfile.cli.commands.search import search
from warpfile.cli.commands.study import study
from warpfile.cli.commands.trace import trace
from warpfile.compiled import form


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Show the version, and whether the golden models run compiled, and exit."""
    if wanted:
        click.echo(f"warpfile {version('warpfile')}\ngolden models: {form()}")
        context.exit()


@click.group(
    cls=Application,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help=_show_version.__doc__
)
def main() -> None:
    """Generate GPU register files as RTL, compare them with golden models in lockstep, and report their cost.

    \b
    Exit status: 0: success; 1: a difference or a failed expectation was found; 2: the request or an input is wrong.

    \b
    Example: warpfile cosim baseline matmul_tiled --preset turing
    """


_COMMANDS = (
    schemes,
    kernels,
    presets,
    generate,
    import_command,
    trace,
    export_command,
    analyze,
    run,
    profile,
    cosim,
    area,
    draw,
    energy_command,
    power,
    study,
    search,
    report,
    demo,
    doctor,
)
for command in _COMMANDS:
    main.add_command(command)
