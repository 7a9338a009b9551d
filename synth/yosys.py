"""The pinned yosys: scripts run in a folder of their own, the hierarchy of a design mapped and levelled."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from warpfile.synth.levels import longest_paths
from warpfile.yosys import YosysError, run, version

__all__ = ["Synthesis", "YosysError", "kept_modules", "module_names", "run", "scripted", "synthesise", "version"]

_MODULE_NAME = re.compile(r"^module (\\\S+|\w+)", re.MULTILINE)

#: From a Verilog text to two-input gates, module by module: each module that is kept on its own stays one. ``synth``
#: itself takes twice as long for as much area: most of its time goes into cleaning up wide wires again and again.
GATES = """\
read_verilog design.v
{boxes}hierarchy -check -top {top}
{keep}proc
flatten
opt_clean -purge
opt_merge
opt_dff
opt_merge
wreduce
peepopt
alumacc
memory_collect
memory_map
techmap
opt_merge
clean -purge
"""

#: From gates to cells of a library. Choices by equivalence classes (``&dch -x``) are what makes it faster than the
#: script that yosys gives abc by itself; more rounds of area recovery (``&nf -R``) make up for them.
CELLS = """\
dfflibmap -liberty cells.lib
abc -liberty cells.lib -script +strash;dc2;strash;&get,-n;&dch,-f,-x;&nf,-R,10;&put
opt_clean -purge
"""

#: Cells of each module that is kept.
MAP = f"""\
{GATES}design -save gates
{CELLS}tee -q -o stat.json stat -json
"""

#: Two-input gates and multiplexers of each module, mapped for depth. Enables and resets become gates first: the mapper
#: cuts the logic wherever the enable of the register behind it changes.
LEVELS = """\
design -load gates
dfflegalize -cell $_DFF_P_ 01
abc -g AND,OR,XOR,MUX -script +strash;if,-g;strash;map
write_blif -icells -conn gates.blif
"""


@dataclass(frozen=True)
class Synthesis:
    """Cells by type of every module that is counted on its own, instances of modules among them; logic levels.

    ``levels`` has the gates on the longest path of every such module by name, of the whole design under ``""``; it is
    empty where they were not asked for. Paths lie between registers, memories and ports; inside a module also the pins
    of its submodules end them.
    """

    cells: dict[str, dict[str, int]]
    levels: dict[str, int]


def module_names(verilog: str) -> list[str]:
    """Names of all modules of a Verilog text, in order, without the backslash of an escaped name."""
    return [name.lstrip("\\") for name in _MODULE_NAME.findall(verilog)]


def kept_modules(verilog: str, top: str, boxes: Collection[str]) -> list[str]:
    """Modules that are counted on their own below ``top``.

    These are the stamped parts, which have plain names, and the named parts of the top, ``top.part``. What lies
    below a stamped part (``part.inner``) is dissolved in it.
    """
    names = [name for name in module_names(verilog) if name != top and name not in boxes]
    return [name for name in names if "." not in name or name.startswith(f"{top}.")]


def synthesise(verilog: str, top: str, boxes: Collection[str], liberty: str, *, levels: bool = True) -> Synthesis:
    """Cells and logic levels of every module that is counted on its own.

    ``boxes`` are modules of the text that are left out as black boxes. ``liberty`` is the text of a cell library.
    """
    script = scripted(MAP + LEVELS if levels else MAP, verilog, top, boxes)
    results = ["stat.json", "gates.blif"] if levels else ["stat.json"]
    found = run(script, {"design.v": verilog, "cells.lib": liberty}, results)
    modules = json.loads(found["stat.json"])["modules"]
    cells = {name.lstrip("\\"): _cells(module) for name, module in modules.items()}
    return Synthesis(cells, longest_paths(found["gates.blif"], top) if levels else {})


def scripted(script: str, verilog: str, top: str, boxes: Collection[str], **values: object) -> str:
    """A script that begins as :data:`GATES` does, for this text; ``values`` are further ones that it names."""
    keep = "".join(f"setattr -mod -set keep_hierarchy 1 \\{name}\n" for name in kept_modules(verilog, top, boxes))
    left_out = "".join(f"blackbox {name}\n" for name in module_names(verilog) if name in boxes)
    return script.format(top=top, keep=keep, boxes=left_out, **values)


def _cells(module: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {kind.lstrip("\\"): count for kind, count in module["num_cells_by_type"].items() if kind != "$scopeinfo"}
