"""Generated Verilog without what is not read, with operations where they are used, and fields by their names.

yosys gives every operation a wire, every field of a record a name that nothing reads, and every register a block of its
next value. Here

* a register's block says directly what it becomes, other blocks are choices;
* a numbered wire that is a named one takes its name; one that is read once, or is short, is written where it is read,
  if the rules of the language for widths give the same value there;
* one that stays is bits of the net that the part puts together from it, if there is such a net;
* bits of a net are read by the name of the field that they are, elements of an array by their place;
* nets without a reader, and resets that a module does not use, are left out.

What a module does stays the same; ``tests/hdl/test_tidy.py`` proves it of every module. A module that yosys would not
have written, such as that of an SRAM, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from warpfile.hdl.expressions import UnknownTextError
from warpfile.hdl.netlist import Netlist, read
from warpfile.hdl.tidy.elements import find_elements
from warpfile.hdl.tidy.names import find_names, resolve
from warpfile.hdl.tidy.needed import needed
from warpfile.hdl.tidy.places import place_elsewhere, place_in_nets
from warpfile.hdl.tidy.registers import blocks_as_choices, join_registers
from warpfile.hdl.tidy.text import OPTIONAL, leave_out_ports, lines
from warpfile.hdl.tidy.words import called
from warpfile.hdl.tidy.work import Work

_MODULE = re.compile(r"^module (\\\S+|\w+)", re.MULTILINE)
_DIRECTION = re.compile(r"^ +(input|output) (?:reg )? *(?:\[.*?\])? *(\\\S+|\w+)", re.MULTILINE)


def tidied(text: str, top: str) -> str:
    """The same modules for people; ``top`` keeps all its ports."""
    bodies = [one for one in re.split(r"(?<=^endmodule\n)", text, flags=re.MULTILINE) if one.strip()]
    modules: dict[str, Netlist | str] = {}
    for body in bodies:
        found = _MODULE.search(body)
        try:
            modules[found[1] if found else ""] = read(body)
        except UnknownTextError:
            modules[found[1] if found else ""] = body
    outputs = {name: _outputs(module) for name, module in modules.items()}
    used: dict[str, list[str]] = {}
    texts: dict[str, str] = {}
    for name in _below_first(modules):
        module = modules[name]
        if isinstance(module, str):
            texts[name] = module
            continue
        for instance in module.instances:
            kept = used.get(instance.module, instance.pins)
            instance.pins = {pin: one for pin, one in instance.pins.items() if pin in kept or pin not in OPTIONAL}
        texts[name] = _text(Work(module, outputs), all_ports=name == top)
        used[name] = module.ports
    return "\n".join(texts[name] for name in modules)


def _text(work: Work, *, all_ports: bool) -> str:
    """A module's text."""
    join_registers(work)
    blocks_as_choices(work)
    find_names(work)
    find_elements(work)
    resolve(work)
    place_in_nets(work, needed(work))
    place_elsewhere(work)
    kept = called(work, needed(work))
    if not all_ports:
        leave_out_ports(work, kept)
    return lines(work, kept)


def _outputs(module: Netlist | str) -> set[str]:
    found = (
        ((two, one) for one, two in _DIRECTION.findall(module))
        if isinstance(module, str)
        else module.directions.items()
    )
    return {name for name, direction in found if direction == "output"}


def _below_first(modules: Mapping[str, Netlist | str]) -> list[str]:
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        module = modules.get(name)
        if module is None or name in order:
            return
        for instance in module.instances if isinstance(module, Netlist) else ():
            visit(instance.module)
        order[name] = None

    for name in modules:
        visit(name)
    return list(order)
