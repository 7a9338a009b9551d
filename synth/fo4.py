"""FO4 of a library: the delay of its smallest inverter that a designer uses, which drives four like it, by OpenSTA."""

from __future__ import annotations

import functools
import re

from warpfile.synth.dont_use import dont_use
from warpfile.synth.liberty import Cell, Liberty
from warpfile.synth.opensta import Session, TimingError

#: Inverters one behind the other, and which two outputs are compared: slopes have settled, and the last has no load.
_STAGES, _FIRST, _LAST = 12, 4, 8
_SCRIPT = """\
read_liberty cells.lib
read_verilog chain.v
link_design chain
set_cmd_units -time ns
create_clock -name clk -period 100
set_input_delay 0 -clock clk [get_ports n0]
set_output_delay 0 -clock clk [get_ports n{stages}]
"""
_ARRIVAL = re.compile(r"^ +-?[\d.]+ +(-?[\d.]+) [v^] stage(\d+)/", re.MULTILINE)


@functools.cache
def _measured(text: str, inverter: str, source: str, output: str) -> float:
    lines = [f"module chain(n0, n{_STAGES}); input n0; output n{_STAGES};"]
    for stage in range(1, _STAGES + 1):
        lines.append(f"{inverter} stage{stage} (.{source}(n{stage - 1}), .{output}(n{stage}));")
        lines += [f"{inverter} load{stage}_{one} (.{source}(n{stage}));" for one in range(3)]
    files = {"cells.lib": text, "chain.v": "\n".join([*lines, "endmodule\n"])}
    with Session(files, _SCRIPT.format(stages=_STAGES)) as timer:
        report = timer.ask("report_checks -path_delay max -digits 6")
    at = {int(stage): float(time) for time, stage in _ARRIVAL.findall(report)}
    if not {_FIRST, _LAST} <= at.keys():
        raise TimingError("OpenSTA times no chain of inverters")
    return (at[_LAST] - at[_FIRST]) / (_LAST - _FIRST)


def nanoseconds(library: Liberty) -> float:
    """FO4 in ns, the mean of rising and falling outputs. Raises ``ValueError`` for a library without an inverter."""
    inverter = smallest_inverter(library)
    (source,), (output,) = inverter.inputs, inverter.functions
    return round(_measured(library.text, inverter.name, source, output), 5)


def smallest_inverter(library: Liberty) -> Cell:
    """The inverter with the least area, by name where several have it."""
    usable = (library.cells[name] for name in library.cells.keys() - dont_use(library.cells))
    found = [cell for cell in usable if cell.is_inverter and cell.area > 0]
    if not found:
        raise ValueError(f"{library.name} has no inverter")
    return min(found, key=lambda cell: (cell.area, cell.name))
