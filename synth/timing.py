"""A design, or a part of one, mapped with drive strengths and buffers, and timed without wires by OpenSTA."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from warpfile import tools
from warpfile.synth import fo4
from warpfile.synth.drive import LOADS, Buffer, load_femtofarads, mid_size_buffer, with_memories
from warpfile.synth.fanout import CLOCK, FanOut, Netlist, buffer_trees, name_cells
from warpfile.synth.liberty import Liberty
from warpfile.synth.mapped import MAP, map_for_speed, structural_verilog
from warpfile.synth.opensta import SPEF, Session, TimingError
from warpfile.synth.yosys import run

#: Flattened; black boxes become ports, so that the mapper and the timer see paths that begin and end at them. Nets are
#: split, so that names which merged registers leave behind go away: OpenSTA reads no assignment to several at once.
FLOW = """\
read_verilog design.v
{boxes}hierarchy -top {top}
rename {top} stage
proc
flatten
{evert}synth -flatten -noabc -top stage
dfflibmap -liberty cells.lib
abc -liberty cells.lib -D {target} -constr drive.txt
splitnets
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

#: Conditions of critical paths at the boundary of the design, as docs/area.md and generated constraints state them.
ASSUMPTIONS = (
    "All inputs, including reset, arrive at the clock edge through a mid-size buffer.",
    f"Outputs have the whole period and drive {LOADS} inputs of that buffer.",
    "The clock is ideal: no skew, latency or uncertainty.",
)
#: The same as timer commands, with ``inputs`` and ``outputs`` as ports; then the commands that name cells of a library.
DELAYS = f"set_input_delay 0 -clock {CLOCK} $inputs\nset_output_delay 0 -clock {CLOCK} $outputs\n"
DRIVES = "set_driving_cell -lib_cell $driver -pin $pin $inputs\nset_load $load $outputs\n"
#: Clock period in ns of generated constraints; slacks refer to it.
PERIOD = 10.0
#: Target delay in ns of the mapper in every module, below what any module reaches. The mapper makes cells smaller again
#: in a module that reaches its target, but a critical path goes through several modules. A library with short delays
#: has a target of so many FO4.
AIM, AIM_FO4 = 1.0, 15

_SET_UP = f"""\
read_liberty cells.lib
read_verilog mapped.v
link_design {{top}}
set_cmd_units -time ns
create_clock -name {CLOCK} -period {{period}} {{clock_port}}
set inputs {{{{}}}}
foreach port [all_inputs] {{{{ if {{{{[get_name $port] ne "{CLOCK}"}}}} {{{{ lappend inputs $port }}}} }}}}
set outputs [all_outputs]
set driver {{driver}}
set pin {{pin}}
set load {{load}}
{DELAYS}{DRIVES}"""
_REPORT = "report_checks -path_delay max -digits 4"
_STA_WHOLE = f'{_SET_UP}{_REPORT}\nputs "path end"\n'

_SLACK = re.compile(r"(-?[\d.]+)\s+slack")
_PIN = re.compile(r"^ +-?[\d.]+ +(-?[\d.]+) [v^] (\S+) \((\S+)\)$", re.MULTILINE)
_GATE = re.compile(r"/Y \(")


#: All scripts that a critical path depends on.
TIMED = f"{MAP}{_STA_WHOLE}{AIM}{AIM_FO4}"


def aim(liberty: Liberty) -> float:
    """Target delay of the mapper in ns. Needs OpenSTA; a library without an inverter has ``AIM``."""
    inverters = any(cell.is_inverter for cell in liberty.cells.values())
    return min(AIM, AIM_FO4 * fo4.nanoseconds(liberty)) if inverters else AIM


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
    report = _sta(netlist, liberty.text, _STA.format(period=period_ns))
    sections = report.split("path ")[1:-1]
    return {text.split(maxsplit=1)[0]: found for text in sections if (found := _path(text, period_ns))}


def _sta(netlist: str, library: str, script: str) -> str:
    """What OpenSTA prints; the script must end with "path end". After an error OpenSTA goes on, but we do not."""
    with tempfile.TemporaryDirectory(prefix="warpfile-timing-") as name:
        folder = Path(name)
        for file, text in {"mapped.v": netlist, "cells.lib": library, "sta.tcl": script}.items():
            (folder / file).write_text(text)
        done = subprocess.run(["sta", "-exit", "sta.tcl"], cwd=folder, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    problems = [line for line in lines if line.startswith("Error") or "black box" in line]
    if problems or "path end" not in done.stdout:
        raise TimingError(f"OpenSTA refuses: {[*problems, *lines[-1:], 'no message'][0]}")
    return done.stdout


def _path(report: str, period_ns: float) -> WorstPath | None:
    slack = _SLACK.search(report)
    return WorstPath(round(period_ns - float(slack[1]), 3), len(_GATE.findall(report))) if slack else None


@dataclass(frozen=True)
class PathCell:
    """A cell on a path: where it is, of which kind, and when its output has settled."""

    instance: str
    cell: str
    nanoseconds: float


@dataclass(frozen=True)
class BankPath:
    """The slowest path of a design whose memories take their time from the clock edge to the word that is read.

    ``access_fo4`` is that time by memory, in FO4 of the library, ``fo4_ns``.
    """

    nanoseconds: float
    start: str
    end: str
    fo4_ns: float
    access_fo4: Mapping[str, float]


@dataclass(frozen=True)
class CriticalPath:
    """The slowest path of a design; ``nanoseconds`` is None where it was not timed, and ``reason`` says why.

    ``nanoseconds`` contains the setup time of the register at its end. ``start`` and ``end`` are pins, or ports of the
    design: instances with "/" between, as in its Verilog, and registers by the wire that they drive, ``wire_reg``.
    ``cells`` are those that the signal leaves, from a register or memory at the start on. In all of this memories take
    no time; ``with_access`` is the slowest path where they do, None where their times are not known.
    """

    nanoseconds: float | None
    reason: str = ""
    start: str = ""
    end: str = ""
    cells: tuple[PathCell, ...] = ()
    fan_out: FanOut | None = None
    with_access: BankPath | None = None

    def to_json(self) -> dict[str, object]:
        """All fields by name; ``cells`` is a list of objects."""
        return asdict(self) | {"cells": [asdict(cell) for cell in self.cells]}

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> CriticalPath:
        """What :meth:`to_json` gave."""
        fan_out = facts["fan_out"] and FanOut(**facts["fan_out"])
        cells = tuple(PathCell(**cell) for cell in facts["cells"])
        with_access = facts.get("with_access") and BankPath(**facts["with_access"])
        return cls(**{**facts, "cells": cells, "fan_out": fan_out, "with_access": with_access})


def timer() -> str:
    """Version of OpenSTA; empty where it is not installed."""
    if tools.find("sta") is None:
        return ""
    return subprocess.run(["sta", "-version"], capture_output=True, text=True, check=False).stdout.strip()


def critical_path(
    verilog: str,
    top: str,
    memories: Collection[str],
    liberty: Liberty,
    *,
    aim_ns: float | None = None,
    buffered: bool = True,
    access_fo4: Mapping[str, float] | None = None,
) -> CriticalPath:
    """Map every kept module of a design, put in buffer trees, and time the whole without wires.

    ``memories`` are modules of the text that become black boxes: their outputs are buffers that switch with the clock,
    their inputs end paths and need no setup time. The same buffer stands before the inputs of the design. The clock is
    ideal. ``aim_ns`` is the delay that the mapper aims at in each module, not :func:`aim`. ``buffered=False`` leaves
    the trees out.
    With ``access_fo4`` the same netlist is timed once more, with that time from the clock edge to each memory's output.
    Raises ``ValueError`` for a library without timing and :class:`TimingError` where OpenSTA refuses the netlist.
    """
    buffer = mid_size_buffer(liberty)
    if tools.find("sta") is None:
        return CriticalPath(None, tools.missing("sta"))
    drive = f"set_driving_cell {buffer.name}\nset_load {load_femtofarads(liberty, buffer):g}\n"
    design = map_for_speed(verilog, top, memories, liberty.text, drive, aim_ns or aim(liberty))
    netlist: Netlist = design["modules"]
    name_cells(netlist, liberty.cells)
    fan_out = buffer_trees(netlist, top, liberty.cells, buffer) if buffered else None
    boxes = {name: netlist[name] for name in memories if name in netlist}
    text, script = structural_verilog(design), _whole(_STA_WHOLE, netlist[top], top, buffer)
    found = _critical(_sta(text, with_memories(liberty, buffer, boxes, CLOCK), script), fan_out)
    if found.nanoseconds is None or not access_fo4:
        return found
    unit = fo4.nanoseconds(liberty)
    times = {name: access * unit for name, access in access_fo4.items()}
    slow = _critical(_sta(text, with_memories(liberty, buffer, boxes, CLOCK, times), script), None)
    assert slow.nanoseconds is not None, "the same netlist has the same ends"
    return replace(found, with_access=BankPath(slow.nanoseconds, slow.start, slow.end, unit, dict(access_fo4)))


def session(
    design: Mapping[str, Any],
    top: str,
    memories: Collection[str],
    liberty: Liberty,
    verilog: str = "",
    spef: str = "",
    access_ns: Mapping[str, float] | None = None,
) -> Session:
    """OpenSTA with a mapped design, whose ends are as :func:`critical_path` says; to be entered.

    ``verilog`` is the design as Verilog, where that is known already, and ``spef`` has parasitics of its nets. With
    ``access_ns`` memories take that time from the clock edge to their outputs.
    """
    netlist, buffer = design["modules"], mid_size_buffer(liberty)
    boxes = {name: netlist[name] for name in memories if name in netlist}
    library = with_memories(liberty, buffer, boxes, CLOCK, access_ns)
    files = {"mapped.v": verilog or structural_verilog(design), "cells.lib": library}
    script = _whole(_SET_UP, netlist[top], top, buffer)
    return Session(files | {SPEF: spef}, f"{script}read_spef {SPEF}\n") if spef else Session(files, script)


def worst(timer: Session, fan_out: FanOut | None = None) -> CriticalPath:
    """The critical path of the netlist of a session as it is."""
    return _critical(timer.ask(_REPORT), fan_out)


def _whole(script: str, module: Mapping[str, Any], top: str, buffer: Buffer) -> str:
    return script.format(
        top=top,
        clock_port=f"[get_ports {CLOCK}]" if CLOCK in module["ports"] else "",
        period=PERIOD,
        driver=buffer.name,
        pin=buffer.output,
        load=LOADS * buffer.capacitance,
    )


def _critical(report: str, fan_out: FanOut | None) -> CriticalPath:
    """The path of a report of OpenSTA; a register at its start is named by its output, not by its clock."""
    slack = _SLACK.search(report)
    if not slack:
        return CriticalPath(None, "no path ends at a register, a memory or a port", fan_out=fan_out)
    pins = _PIN.findall(report.split("data arrival time")[0])
    if _instance(pins[0][1]) == _instance(pins[1][1]) != "":
        pins = pins[1:]
    passed = [pin for pin in pins[:-1] if pin[2] != "in"]
    cells = tuple(PathCell(_instance(pin), kind, float(time)) for time, pin, kind in passed)
    return CriticalPath(round(PERIOD - float(slack[1]), 4), "", pins[0][1], pins[-1][1], cells, fan_out)


def _instance(pin: str) -> str:
    return pin.rpartition("/")[0]
