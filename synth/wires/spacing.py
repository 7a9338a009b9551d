"""How far apart repeaters are: where a chain of them, timed with its wires, is about as fast as it can be."""

from __future__ import annotations

import re

from warpfile.synth.drive import mid_size_buffer
from warpfile.synth.liberty import Liberty
from warpfile.synth.opensta import Session, TimingError
from warpfile.synth.wires.parasitics import HEAD, star
from warpfile.synth.wires.technology import technology

#: Lengths that are tried, in ``far_um`` of the library.
LENGTHS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 16.0, 20.0)
#: How much slower than the fastest chain one may be.
CLOSE = 1.1
#: Buffers of a chain, and which two outputs are compared.
_STAGES, _FIRST, _LAST = 7, 2, 6
_SCRIPT = """\
read_liberty cells.lib
read_verilog chains.v
link_design chains
set_cmd_units -time ns
create_clock -name clk -period 1000
set_input_delay 0 -clock clk [all_inputs]
set_output_delay 0 -clock clk [all_outputs]
read_spef chains.spef
"""
_ARRIVAL = re.compile(r"^ +-?[\d.]+ +(-?[\d.]+) [v^] c\d+s(\d+)/", re.MULTILINE)


def delays(library: Liberty) -> dict[float, float]:
    """Ns per mm of a chain of mid-size buffers, by the um of wire between two of them."""
    wires, buffer = technology(library), mid_size_buffer(library)
    ports, lines, nets = [], [], [HEAD.format(top="chains")]
    lengths = [part * wires.far_um for part in LENGTHS]
    for chain, length in enumerate(lengths):
        ports += [f"input i{chain}", f"output o{chain}"]
        names = [f"i{chain}", *(f"n{chain}_{stage}" for stage in range(1, _STAGES)), f"o{chain}"]
        for stage in range(_STAGES):
            pins = f".{buffer.input}({names[stage]}), .{buffer.output}({names[stage + 1]})"
            lines.append(f"{buffer.name} c{chain}s{stage} ({pins});")
        for stage in range(1, _STAGES):
            pair = [f"c{chain}s{stage - 1}:{buffer.output}", f"c{chain}s{stage}:{buffer.input}"]
            layer = wires.layer(length)
            nets += star(names[stage], pair, "OI", [length / 2] * 2, layer.ff * length, layer.ohm)
    text = "\n".join([f"module chains({', '.join(ports)});", *lines, "endmodule\n"])
    with Session(
        {"cells.lib": library.text, "chains.v": text, "chains.spef": "\n".join([*nets, ""])}, _SCRIPT
    ) as timer:
        return {length: _stages(timer, chain) / length * 1000 for chain, length in enumerate(lengths)}


def _stages(timer: Session, chain: int) -> float:
    """Mean ns of a stage of a chain."""
    report = timer.ask(f"report_checks -path_delay max -digits 6 -to [get_ports o{chain}]")
    at = {int(stage): float(time) for time, stage in _ARRIVAL.findall(report)}
    if not {_FIRST, _LAST} <= at.keys():
        raise TimingError("OpenSTA times no chain of repeaters")
    return (at[_LAST] - at[_FIRST]) / (_LAST - _FIRST)


def spacing_um(library: Liberty) -> float:
    """The shortest length of :func:`delays` whose delay is within ``CLOSE`` of the least.

    Delay depends little on the length around the least, and short wires have steep slopes. Raises ``ValueError`` for a
    library without wires.
    """
    found = delays(library)
    return min(length for length, delay in found.items() if delay <= CLOSE * min(found.values()))
