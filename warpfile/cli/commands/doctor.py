"""``warpfile doctor``: what is outside Python, where it is, and what is lost where it is missing."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from pathlib import Path

import click

from warpfile import tools
from warpfile.cli.options import json_file
from warpfile.compiled import form
from warpfile.output.difference import Difference
from warpfile.output.display import say, show_table
from warpfile.output.files import write_json


@click.command(short_help="List external tools, and what needs the missing ones.")
@json_file
def doctor(json_path: Path | None) -> None:
    """List the tools outside Python, and what does not work without the missing ones.

    The exit status is 1 if a required tool is missing: g++, make, perl or Verilator.

    \b
    Example: warpfile doctor
    """
    found = {name: tools.find(name) for name in tools.TOOLS}
    if json_path:
        write_json(json_path, {"tools": {name: _facts(name, path) for name, path in found.items()}})
    say(f"warpfile {version('warpfile')}, Python {platform.python_version()} ({sys.executable})")
    say(f"golden models: {form()}")
    there = [(name, tools.version(name), path, tools.TOOLS[name].does) for name, path in found.items() if path]
    show_table(("tool", "version", "path", "what it does"), there)
    absent = [name for name, path in found.items() if not path]
    if absent:
        rows = ((name, tools.TOOLS[name]) for name in absent)
        columns = ("missing", "what that costs", "how to install it")
        show_table(columns, [(name, tool.cost, tool.install) for name, tool in rows])
    if required := [name for name in absent if tools.TOOLS[name].required]:
        raise Difference("; ".join(map(tools.missing, required)))


def _facts(name: str, path: str | None) -> dict[str, object]:
    tool = tools.TOOLS[name]
    known = {"does": tool.does, "install": tool.install, "cost": tool.cost, "required": tool.required}
    return {"path": path, "version": tools.version(name), **known}
