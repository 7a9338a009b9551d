"""A design mapped for speed, module by module, as a netlist that can be changed and written as Verilog."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from warpfile.synth.yosys import CELLS, GATES, run, scripted

#: For speed: ``drive.txt`` says what stands before inputs and behind outputs of each module. The passes are those of
#: the critical paths that are kept; with others every path differs by the noise of the mapper.
MAP = """\
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
dfflibmap -liberty cells.lib
abc -liberty cells.lib -D {target} -constr drive.txt
opt_clean -purge
delete t:$scopeinfo
write_json mapped.json
"""

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


def map_gates(verilog: str, top: str, boxes: Collection[str], liberty: str) -> dict[str, Any]:
    """The design as a JSON netlist, mapped as an area report maps it; ``boxes`` and ``liberty`` as above."""
    script = scripted(_MAP_GATES, verilog, top, boxes)
    return json.loads(run(script, {"design.v": verilog, "cells.lib": liberty}, ["mapped.json"])["mapped.json"])


def structural_verilog(design: Mapping[str, Any]) -> str:
    """A mapped JSON netlist as Verilog."""
    script = "read_json mapped.json\nwrite_verilog -noattr -noexpr mapped.v\n"
    return run(script, {"mapped.json": json.dumps(design)}, ["mapped.v"])["mapped.v"]
