"""Which inputs of a design its outputs depend on in the same cycle, from its netlist of gates."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from warpfile.synth.yosys import module_names, run

#: Bit by bit, so that a wide word does not tie together what only travels side by side. ``opt`` drops what is constant.
_SCRIPT = """\
read_verilog design.v
{boxes}hierarchy -check -top {top}
proc
flatten
opt_clean
memory_map
techmap
opt_clean
delete t:$scopeinfo
write_json gates.json
"""


def cones(verilog: str, top: str, boxes: Collection[str]) -> dict[str, frozenset[str]]:
    """Of every output of ``top`` the inputs from which a path without a register leads to it.

    ``boxes`` are modules of the text whose outputs come from registers. A path is counted also where no value goes
    along it.
    """
    script = _SCRIPT.format(
        top=top, boxes="".join(f"blackbox {name}\n" for name in module_names(verilog) if name in boxes)
    )
    module = json.loads(run(script, {"design.v": verilog}, ["gates.json"])["gates.json"])["modules"][top]
    drivers = dict(_drivers(module, boxes))
    ports = module["ports"].items()
    inputs = {bit: name for name, port in ports if port["direction"] == "input" for bit in port["bits"]}
    return {
        name: frozenset(_reached(port["bits"], drivers, inputs))
        for name, port in ports
        if port["direction"] == "output"
    }


def _drivers(module: Mapping[str, Any], boxes: Collection[str]) -> Iterator[tuple[object, list[object]]]:
    """Every bit that a gate drives, with the bits that go into the gate."""
    for cell in module["cells"].values():
        if "DFF" in cell["type"].upper() or cell["type"] in boxes:
            continue
        assert cell["type"].startswith("$_"), f"gates must be single bits, not {cell['type']}"
        sides = {"input": [], "output": []}
        for pin, bits in cell["connections"].items():
            sides[cell["port_directions"][pin]] += bits
        for bit in sides["output"]:
            yield bit, sides["input"]


def _reached(bits: list[object], drivers: Mapping[object, list[object]], inputs: Mapping[object, str]) -> Iterator[str]:
    seen, left = set(), list(bits)
    while left:
        bit = left.pop()
        if bit not in seen:
            seen.add(bit)
            left += drivers.get(bit, [])
            if bit in inputs:
                yield inputs[bit]
