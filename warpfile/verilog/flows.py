"""What tools want beside the Verilog: FuseSoC core, file list, rules of Verilator's lint, constraints."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from warpfile.synth.timing import ASSUMPTIONS, DELAYS, DRIVES, PERIOD

#: Rules of Verilator that generated Verilog breaks, for files of any name.
LINT = Path(__file__).resolve().parent / "lint.vlt"
_CORE = """\
CAPI=2:

name: "{vlnv}"
description: {description}

filesets:
  machine:
    files: [{machine}, {sram}]
    file_type: {file_type}
  package:
    files: [{package}]
    file_type: systemVerilogSource
  checks:
    files: [{checks}]
    file_type: verilogSource-2005
  lint:
    files: [{lint}]
    file_type: vlt
  constraints:
    files: [{constraints}]
    file_type: SDC

targets:
  # What a design gets that depends on this one{optional}.
  default:
    filesets: [{package_of_default}, machine, checks, lint]
    toplevel: {top}
  lint:
    filesets: [package, machine, checks, lint]
    toplevel: {top}
    flow: lint
    flow_options: {{tool: verilator, verilator_options: [-Wall]}}
  synth:
    filesets: [{package_of_machine}machine, constraints]
    toplevel: {top}
    flow: generic
    flow_options: {{tool: yosys, arch: xilinx, output_format: edif}}
"""
#: What a machine in Verilog and one in SystemVerilog want of the package.
_UNTYPED = {
    "file_type": "verilogSource-2005",
    "optional": "; with --flag=package also that, which not every simulator reads",
    "package_of_default": '"package? (package)"',
    "package_of_machine": "",
}
_TYPED = {
    "file_type": "systemVerilogSource",
    "optional": "",
    "package_of_default": "package",
    "package_of_machine": "package, ",
}
_CONSTRAINTS = """\
# Constraints of {top} for the assumptions under which warpfile takes critical paths.
{assumptions}
create_clock -name clk -period {period:g} [get_ports clk]
set inputs [get_ports {{
{inputs}
}}]
set outputs [get_ports {{
{outputs}
}}]
{delays}
# With driver, pin and load of the library at hand:
{drives}"""


def core(facts: Mapping[str, Any], description: str, files: Mapping[str, str], *, typed: bool = False) -> str:
    """FuseSoC core (CAPI2) ``warpfile:generated:TOP``; ``files`` has the names of the files by what they are.

    ``typed``: the machine is SystemVerilog and needs the package.
    """
    needs = _TYPED if typed else _UNTYPED
    vlnv = f"warpfile:generated:{facts['top']}:{facts['version']}"
    return _CORE.format(vlnv=vlnv, description=json.dumps(description), top=facts["top"], **needs, **files)


def file_list(files: Sequence[str]) -> str:
    """Verilog files that make the machine, for every tool."""
    return "".join(f"{name}\n" for name in files)


def lint_rules(verilog: Sequence[str], package: str) -> str:
    """``lint.vlt`` for these files alone, so that it does not quieten those of a design around them."""
    return re.sub(
        r'^(lint_off .*)-file "\*"(.*)$',
        lambda rule: "\n".join(f'{rule[1]}-file "*{name}"{rule[2]}' for name in verilog),
        LINT.read_text().replace("*_pkg.sv", f"*{package}"),
        flags=re.MULTILINE,
    )


def constraints(facts: Mapping[str, Any]) -> str:
    """SDC: clock, delays at the pins and, as comments, what depends on a library."""
    pins: dict[str, list[str]] = {"input": [], "output": []}
    for port in facts["ports"]:
        if port["name"] != "clk":
            pins[port["direction"]].append(port["name"] if port["width"] == 1 else f"{port['name']}[*]")
    return _CONSTRAINTS.format(
        top=facts["top"],
        assumptions="".join(f"# {line}\n" for line in ASSUMPTIONS),
        period=PERIOD,
        inputs=_lines(pins["input"]),
        outputs=_lines(pins["output"]),
        delays=DELAYS,
        drives="".join(f"# {line}\n" for line in DRIVES.splitlines()),
    )


def _lines(pins: list[str]) -> str:
    return fill(" ".join(pins), 120, initial_indent="  ", subsequent_indent="  ")
