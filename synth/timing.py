"""A part of a design mapped with drive strengths and buffers, and timed without wires by OpenSTA."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from synth.liberty import Liberty
from synth.yosys import run

#: Flattened; black boxes become ports, so that the mapper and the timer see paths that begin and end at them.
FLOW = """\
read_verilog design.v
{boxes}hierarchy -top {top}
rename {top} stage
proc
flatten
{evert}synth -flatten -noabc -top stage
dfflibmap -liberty cells.lib
abc -liberty cells.lib -D {target} -constr drive.txt
opt_clean -purge
write_verilog -noattr -noexpr mapped.v
"""

_STA = """\
read_liberty cells.lib
read_verilog mapped.v
link_design stage
create_clock -name clk -period {period} [get_ports clk]
set ins {{}}
foreach port [all_inputs] {{ if {{[get_name $port] ne "clk"}} {{ lappend ins $port }} }}
set outs {{}}
foreach port [all_outputs] {{ if {{![string match "*clk" [get_name $port]]}} {{ lappend outs $port }} }}
set_input_delay 0 -clock clk $ins
set_output_delay 0 -clock clk $outs
set clocks [all_registers -clock_pins]
set pins [all_registers -data_pins]
foreach {{name from to}} [list registers $clocks $pins inputs $ins $pins outputs $clocks $outs through $ins $outs] {{
  puts "path $name"
  report_checks -path_delay max -from $from -to $to -digits 3
}}
puts "path end"
"""

_SLACK = re.compile(r"(-?[\d.]+)\s+slack")
_GATE = re.compile(r"/Y \(")


class TimingError(RuntimeError):
    """The timer refused a netlist."""


@dataclass(frozen=True)
class WorstPath:
    """The worst path of a kind: ``nanoseconds`` with the register's setup time, ``levels`` cells on it."""

    nanoseconds: float
    levels: int


@dataclass(frozen=True)
class Timed:
    """Area in NAND2 equivalents, flip-flops, and the worst paths.

    ``paths`` has ``registers`` (between registers), ``inputs`` (to registers), ``outputs`` (from registers) and
    ``through`` (from pin to pin), each only where there is such a path.
    """

    nand2_equivalents: float
    flip_flops: int
    paths: dict[str, WorstPath]


def measure_part(
    verilog: str, top: str, boxes: Collection[str], liberty: Liberty, *, driver: str, load_ff: float, period_ns: float
) -> Timed:
    """Map module ``top`` of a Verilog text without ``boxes`` and time it.

    ``driver`` is the cell before every input, ``load_ff`` the load behind every output. Needs OpenSTA's ``sta``.
    """
    script = FLOW.format(
        top=f"\\{top}",
        boxes="".join(f"blackbox {name}\n" for name in boxes),
        evert="".join(f"expose -evert t:{name}\n" for name in boxes),
        target=round(period_ns * 1000),
    )
    drive = f"set_driving_cell {driver}\nset_load {load_ff:g}\n"
    files = {"design.v": verilog, "cells.lib": liberty.text, "drive.txt": drive}
    netlist = run(script, files, ["mapped.v"])["mapped.v"]
    cells = _cells(netlist, liberty)
    area = sum(liberty.cells[kind].area * count for kind, count in cells.items())
    return Timed(
        nand2_equivalents=area / liberty.nand2_area,
        flip_flops=sum(count for kind, count in cells.items() if liberty.cells[kind].flip_flop),
        paths=_paths(netlist, liberty, period_ns),
    )


def _cells(netlist: str, liberty: Liberty) -> dict[str, int]:
    counts: dict[str, int] = {}
    for kind in re.findall(r"^  (\w+) \S+ \($", netlist, re.MULTILINE):
        if kind in liberty.cells:
            counts[kind] = counts.get(kind, 0) + 1
    return counts


def _paths(netlist: str, liberty: Liberty, period_ns: float) -> dict[str, WorstPath]:
    with tempfile.TemporaryDirectory(prefix="warpfile-timing-") as name:
        folder = Path(name)
        files = {"mapped.v": netlist, "cells.lib": liberty.text, "sta.tcl": _STA.format(period=period_ns)}
        for file, text in files.items():
            (folder / file).write_text(text)
        done = subprocess.run(["sta", "-exit", "sta.tcl"], cwd=folder, capture_output=True, text=True, check=False)
    if "path end" not in done.stdout:
        raise TimingError(f"OpenSTA stopped: {(done.stderr + done.stdout).strip().splitlines()[-1]}")
    sections = done.stdout.split("path ")[1:-1]
    return {text.split(maxsplit=1)[0]: found for text in sections if (found := _path(text, period_ns))}


def _path(report: str, period_ns: float) -> WorstPath | None:
    slack = _SLACK.search(report)
    return WorstPath(round(period_ns - float(slack[1]), 3), len(_GATE.findall(report))) if slack else None
