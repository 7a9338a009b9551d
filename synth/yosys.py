"""The pinned yosys: scripts run in a folder of their own, the hierarchy of a design mapped or levelled."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping

from warpfile.yosys import YosysError, run, version

__all__ = ["YosysError", "kept_modules", "logic_levels", "map_cells", "module_names", "run", "version"]

_MODULE_NAME = re.compile(r"^module (\\\S+|\w+)", re.MULTILINE)
_LEVELS = re.compile(r"^Longest topological path in (\S+) \(length=(-?\d+)\)", re.MULTILINE)

#: From processes to two-input gates, module by module. ``synth`` itself takes twice as long for 0.1 % less area: most
#: of its time goes into cleaning up wide wires again and again.
GATES = """\
proc
flatten
opt_expr
opt_clean
opt_merge
opt_muxtree
opt_reduce
opt_dff
wreduce
peepopt
opt_clean
alumacc
memory
opt_merge
techmap
opt -fast
"""

#: Maps each module that is kept on its own. ``{keep}`` and ``{boxes}`` are commands; the rest is the same for all.
MAP = f"""\
read_verilog design.v
{{boxes}}hierarchy -check -top {{top}}
{{keep}}{GATES}dfflibmap -liberty cells.lib
abc -liberty cells.lib
opt_clean -purge
tee -q -o stat.json stat -json
"""

#: Two-input gates and multiplexers of each kept module, mapped for depth, then of the whole design put together from
#: them, memories replaced by its ports. Enables and resets become gates first: the mapper cuts the logic wherever the
#: enable of the register behind it changes. In a module its submodules are no logic.
LEVELS = f"""\
read_verilog design.v
{{boxes}}hierarchy -check -top {{top}}
{{keep}}{GATES}dfflegalize -cell $_DFF_P_ 01
abc -g AND,OR,XOR,MUX -script +strash;if,-g;strash;map
opt_clean
tee -q -o modules.txt ltp -noff t:$_AND_ t:$_OR_ t:$_XOR_ t:$_MUX_ t:$_NOT_ w:*
{{dissolve}}flatten
{{evert}}tee -q -o whole.txt ltp -noff
"""


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


def map_cells(verilog: str, top: str, boxes: Collection[str], liberty: str) -> dict[str, dict[str, int]]:
    """Cells by type of every module that is counted on its own, instances of modules among them.

    ``boxes`` are modules of the text that are left out as black boxes. ``liberty`` is the text of a cell library.
    """
    keep = _kept(verilog, top, boxes, "-set keep_hierarchy 1")
    script = MAP.format(top=top, keep=keep, boxes=_boxes(verilog, boxes))
    text = run(script, {"design.v": verilog, "cells.lib": liberty}, ["stat.json"])["stat.json"]
    modules = json.loads(text)["modules"]
    return {name.lstrip("\\"): _cells(module) for name, module in modules.items()}


def _cells(module: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    return {kind.lstrip("\\"): count for kind, count in module["num_cells_by_type"].items() if kind != "$scopeinfo"}


def logic_levels(verilog: str, top: str, boxes: Collection[str]) -> dict[str, int]:
    """Gates on the longest path of every module that is counted on its own, by name; of the whole design under ``""``.

    Paths lie between registers, memories and ports; inside a module also the pins of its submodules end them.
    """
    script = LEVELS.format(
        top=top,
        boxes=_boxes(verilog, boxes),
        keep=_kept(verilog, top, boxes, "-set keep_hierarchy 1"),
        dissolve=_kept(verilog, top, boxes, "-unset keep_hierarchy"),
        evert="".join(f"expose -evert t:{name}\n" for name in module_names(verilog) if name in boxes),
    )
    found = run(script, {"design.v": verilog}, ["modules.txt", "whole.txt"])
    modules = {name.lstrip("\\"): int(levels) for name, levels in _LEVELS.findall(found["modules.txt"])}
    ((_, whole),) = _LEVELS.findall(found["whole.txt"])
    return {name: max(0, levels) for name, levels in modules.items()} | {"": max(0, int(whole))}


def _kept(verilog: str, top: str, boxes: Collection[str], how: str) -> str:
    return "".join(f"setattr -mod {how} \\{name}\n" for name in kept_modules(verilog, top, boxes))


def _boxes(verilog: str, boxes: Collection[str]) -> str:
    return "".join(f"blackbox {name}\n" for name in module_names(verilog) if name in boxes)
