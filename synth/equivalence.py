"""Formal equivalence of a mapped netlist and the Verilog that it was made of, module by module."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from warpfile.synth.netlist import instance_counts, read_modules
from warpfile.synth.yosys import YosysError, run, scripted

_MODULE = re.compile(r"^module \\?([^\s(]+).*?^endmodule\n", re.MULTILINE | re.DOTALL)

#: The Verilog module and the mapped one with the same inputs, the same state and the same outputs of the modules below:
#: must they give the same outputs, the same next state and the same inputs to the modules below? Registers are paired
#: bit by bit, by their names.
_MITER = """\
read_verilog design.v
{boxes}hierarchy -check -top {module}
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
{merged}simplemap gold/t:$dff
opt_dff {constants}-nodffe -nosdff gold
opt_dff -nodffe -nosdff gate
splitnets -ports -format <> gold gate
clean gold gate
expose -shared -evert-dff gold gate
expose -evert gold/c:* gate/c:*
miter -equiv -flatten -make_assert gold gate miter
hierarchy -top miter
opt_merge
opt_clean
{swept}tee -q -o answer.txt sat -timeout {seconds} -prove-asserts -set-def-inputs miter
"""
_PROVEN = "no model found: SUCCESS!"
#: Registers that always take the same values become one, as in a mapped module. It is tried where the proof fails
#: without: in either form the Verilog stays what it is.
_MERGED = "opt_merge gold\nopt_dff gold\n{sums}techmap gold\nopt_merge gold\ndffunmap gold\n"
#: Sums of sums are built as before a mapping: SAT and abc do not find in time that two trees of adders count the same.
_SUMS = "opt_merge gold\nwreduce gold\npeepopt gold\nalumacc gold\n"
#: abc merges gates of both sides that it proves equal, those near the inputs first, so that little is left to prove.
_SWEPT = """\
techmap
opt_merge
abc -g AND -script +strash;ifraig;fraig;dc2;ifraig;fraig,-C,1000
opt_clean
"""
#: Registers of the Verilog that SAT finds constant from their reset on, of which a netlist may keep some, are numbers.
_CONSTANTS = "-sat "
_SUMMED = _MERGED.format(sums=_SUMS)
#: What is done to the Verilog, its constants and the miter, tried in this order. The last ones are for what SAT alone
#: does not answer.
_FORMS = (
    ("", _CONSTANTS, ""),
    (_MERGED.format(sums=""), _CONSTANTS, ""),
    (_SUMMED, _CONSTANTS, _SWEPT),
    (_SUMMED, "", _SWEPT),
)
#: Cells from which on only these are tried.
_MANY = 8000


def unproven(
    verilog: str, netlist: Mapping[str, Any], module: str, top: str, boxes: Collection[str], liberty: str, seconds: int
) -> str:
    """Why a module of a netlist is not proven to be that of the Verilog; empty if it is."""
    verilog, netlist = _with_what_is_below(verilog, netlist, module)
    files = {"design.v": verilog, "mapped.json": json.dumps(netlist), "cells.lib": liberty}
    said = ""
    large = len(netlist["modules"][module]["cells"]) > _MANY
    for merged, constants, swept in _FORMS[2:] if large else _FORMS:
        values = {"module": module, "seconds": seconds, "merged": merged, "constants": constants, "swept": swept}
        script = scripted(_MITER, verilog, top, boxes, **values)
        if not (reason := _refused(script, files)):
            return ""
        said = said or reason
    return said


def _refused(script: str, files: Mapping[str, str]) -> str:
    try:
        answer = run(script, files, ["answer.txt"])["answer.txt"]
    except YosysError as error:
        return str(error).strip().splitlines()[-1]
    return "" if _PROVEN in answer else "differs" if "FAIL" in answer else "no answer in time"


def _with_what_is_below(verilog: str, netlist: Mapping[str, Any], module: str) -> tuple[str, Mapping[str, Any]]:
    """A module and all modules below it, of both: most of the time goes into reading."""
    modules = read_modules(verilog)
    below = instance_counts(modules, module).keys()
    texts = (found[0] for found in _MODULE.finditer(verilog) if found[1] in below)
    return "\n".join(texts), {
        **netlist,
        "modules": {one: facts for one, facts in netlist["modules"].items() if one in below},
    }
