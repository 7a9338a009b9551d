"""Formal equivalence of a mapped netlist and the Verilog that it was made of, module by module."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from warpfile.synth.yosys import YosysError, run, scripted

#: The Verilog module and the mapped one with the same inputs, the same state and the same outputs of the modules below:
#: must they give the same outputs, the same next state and the same inputs to the modules below? Registers are paired
#: bit by bit, by their names.
_MITER = """\
read_verilog design.v
{boxes}hierarchy -check -top {top}
{keep}proc
flatten
memory_collect
memory_map
opt_clean
design -stash rtl
read_json mapped.json
read_liberty -ignore_miss_func cells.lib
hierarchy -top {module}
flatten {module}
rename {module} gate
design -copy-from rtl -as gold {module}
setattr -mod -unset keep_hierarchy gold gate
simplemap gold/t:$dff
opt_dff -sat -nodffe -nosdff gold
splitnets -ports -format <> gold gate
clean gold gate
expose -shared -evert-dff gold gate
expose -evert gold/c:* gate/c:*
miter -equiv -flatten -make_assert gold gate miter
hierarchy -top miter
opt_merge
opt_clean
tee -q -o answer.txt sat -timeout {seconds} -prove-asserts -set-def-inputs miter
"""
_PROVEN = "no model found: SUCCESS!"


def unproven(
    verilog: str, netlist: Mapping[str, Any], module: str, top: str, boxes: Collection[str], liberty: str, seconds: int
) -> str:
    """Why a module of a netlist is not proven to be that of the Verilog; empty if it is."""
    script = scripted(_MITER, verilog, top, boxes, module=module, seconds=seconds)
    files = {"design.v": verilog, "mapped.json": json.dumps(netlist), "cells.lib": liberty}
    try:
        answer = run(script, files, ["answer.txt"])["answer.txt"]
    except YosysError as error:
        return str(error).strip().splitlines()[-1]
    return "" if _PROVEN in answer else "differs" if "FAIL" in answer else "no answer in time"
