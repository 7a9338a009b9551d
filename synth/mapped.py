"""A design mapped for speed, module by module, as a netlist that can be changed and written as Verilog."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from warpfile.synth.dont_use import dont_use
from warpfile.synth.liberty import Liberty
from warpfile.synth.yosys import CELLS, GATES, run, scripted

#: For speed: ``drive.txt`` gives the driver of inputs and the load of outputs of each module. The passes are those of
#: the critical paths that are kept; with others every path differs by the noise of the mapper.
_FRONT = """\
read_verilog design.v
{boxes}hierarchy -check -top {top}
{keep}proc
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
_BACK = """\
opt_clean -purge
delete t:$scopeinfo
write_json mapped.json
"""
MAP = f"""\
{_FRONT}dfflibmap -liberty cells.lib
abc -liberty cells.lib -D {{target}} -constr drive.txt
{_BACK}"""

#: What abc does in the timed flow, each alone: what yosys gives it with a delay, and what has less levels and buffers
#: that know their loads. Which is faster depends on the library.
SCRIPTS = {
    "yosys": "",
    "levels": "+strash;&get,-n;&fraig,-x;&put;scorr;dc2;dch,-f;map,-B,0.9,{D};topo;buffer,-c,-N,16;topo;"
    "upsize,{D};dnsize,{D}",
}

#: Fewest flip-flops with one enable that get a clock gate in the timed flow.
GATED = 8

_MAP_GATES = f"{GATES}{CELLS}delete t:$scopeinfo\nwrite_json mapped.json\n"


def map_for_speed(
    verilog: str, top: str, boxes: Collection[str], liberty: str, drive: str, target_ns: float
) -> dict[str, Any]:
    """The design as a JSON netlist, every module that is counted on its own mapped for a delay of ``target_ns``.

    ``boxes`` are modules of the text that are left out as black boxes. ``liberty`` is the text of a cell library,
    ``drive`` a constraint file of abc: the driving cell of inputs and the load of outputs in fF.
    """
    script = scripted(MAP, verilog, top, boxes, target=round(target_ns * 1000))
    files = {"design.v": verilog, "cells.lib": liberty, "drive.txt": drive}
    return json.loads(run(script, files, ["mapped.json"])["mapped.json"])


def map_timed(
    verilog: str,
    top: str,
    boxes: Collection[str],
    library: Liberty,
    drive: str,
    target_ns: float,
    script: str,
    gates: bool,
) -> dict[str, Any]:
    """As :func:`map_for_speed`, with one of :data:`SCRIPTS` and without the cells that a designer leaves out.

    With ``gates`` flip-flops with a common enable share a clock gate of the library where at least ``GATED`` do.
    """
    banned = "".join(f" -dont_use {name}" for name in sorted(dont_use(library.cells)))
    chosen = f" -script {SCRIPTS[script]}" if SCRIPTS[script] else ""
    steps = [
        *([f"clockgate -liberty cells.lib -min_net_size {GATED}{banned}", "opt_clean"] if gates else []),
        f"dfflibmap -liberty cells.lib{banned}",
        f"abc -liberty cells.lib{banned} -D {round(target_ns * 1000)} -constr drive.txt{chosen}",
    ]
    text = scripted(_FRONT, verilog, top, boxes) + "\n".join(steps) + f"\n{_BACK}"
    files = {"design.v": verilog, "cells.lib": library.text, "drive.txt": drive}
    return json.loads(run(text, files, ["mapped.json"])["mapped.json"])


def map_gates(verilog: str, top: str, boxes: Collection[str], liberty: str) -> dict[str, Any]:
    """The design as a JSON netlist, mapped as an area report maps it; ``boxes`` and ``liberty`` as above."""
    script = scripted(_MAP_GATES, verilog, top, boxes)
    return json.loads(run(script, {"design.v": verilog, "cells.lib": liberty}, ["mapped.json"])["mapped.json"])


def structural_verilog(design: Mapping[str, Any]) -> str:
    """A mapped JSON netlist as Verilog."""
    script = "read_json mapped.json\nwrite_verilog -noattr -noexpr mapped.v\n"
    return run(script, {"mapped.json": json.dumps(design)}, ["mapped.v"])["mapped.v"]
