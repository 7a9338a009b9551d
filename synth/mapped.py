"""A design mapped for speed, module by module, as a netlist that can be changed and written as Verilog."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from warpfile.synth.yosys import GATES, kept_modules, module_names, run

#: As synth.yosys.MAP, but for speed: ``drive.txt`` says what stands before inputs and behind outputs of each module.
MAP = f"""\
read_verilog design.v
{{boxes}}hierarchy -check -top {{top}}
{{keep}}{GATES}dfflibmap -liberty cells.lib
abc -liberty cells.lib -D {{target}} -constr drive.txt
opt_clean -purge
delete t:$scopeinfo
write_json mapped.json
"""

_MAP_GATES = MAP.replace(" -D {target} -constr drive.txt", "")


def map_for_speed(
    verilog: str, top: str, boxes: Collection[str], liberty: str, drive: str, target_ns: float
) -> dict[str, Any]:
    """The design as a JSON netlist, every module that is counted on its own mapped for a delay of ``target_ns``.

    ``boxes`` are modules of the text that are left out as black boxes. ``liberty`` is the text of a cell library,
    ``drive`` a constraint file of abc: the driving cell of inputs and the load of outputs in fF.
    """
    script = MAP.format(
        top=top,
        boxes="".join(f"blackbox {name}\n" for name in module_names(verilog) if name in boxes),
        keep="".join(f"setattr -mod -set keep_hierarchy 1 \\{name}\n" for name in kept_modules(verilog, top, boxes)),
        target=round(target_ns * 1000),
    )
    files = {"design.v": verilog, "cells.lib": liberty, "drive.txt": drive}
    return json.loads(run(script, files, ["mapped.json"])["mapped.json"])


def map_gates(verilog: str, top: str, boxes: Collection[str], liberty: str) -> dict[str, Any]:
    """The design as a JSON netlist, mapped as an area report maps it; ``boxes`` and ``liberty`` as above."""
    script = _MAP_GATES.format(
        top=top,
        boxes="".join(f"blackbox {name}\n" for name in module_names(verilog) if name in boxes),
        keep="".join(f"setattr -mod -set keep_hierarchy 1 \\{name}\n" for name in kept_modules(verilog, top, boxes)),
    )
    return json.loads(run(script, {"design.v": verilog, "cells.lib": liberty}, ["mapped.json"])["mapped.json"])


def structural_verilog(design: Mapping[str, Any]) -> str:
    """A mapped JSON netlist as Verilog."""
    script = "read_json mapped.json\nwrite_verilog -noattr -noexpr mapped.v\n"
    return run(script, {"mapped.json": json.dumps(design)}, ["mapped.v"])["mapped.v"]
