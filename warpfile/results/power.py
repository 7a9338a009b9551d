"""Power of a netlist of the timed flow: its gates in lockstep with the golden model, beside the RTL, and the toggles of
its nets (docs/power.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from warpfile.output.difference import Difference
from warpfile.output.display import Report
from warpfile.results.designs import Design
from warpfile.results.logic import machine_start, without_checks
from warpfile.schemes import TOP, Scheme
from warpfile.sim.build import build_harness, generated_verilog
from warpfile.sim.runner import simulate
from warpfile.sim.simulators import TOPLEVEL
from warpfile.sim.toggles import count_toggles
from warpfile.sim.waves import Waves
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload, prepare
from warpfile.synth.area import timed
from warpfile.synth.arrays import read_array_prices, run_energy
from warpfile.synth.gates import gate_verilog
from warpfile.synth.kept import KeptNetlist
from warpfile.synth.liberty import Liberty, read_liberty
from warpfile.synth.power import NetlistPower, checked_powers, netlist_power, scaled_to
from warpfile.synth.timed import TimedNetlist
from warpfile.synth.wires.technology import Technology, technology

#: Modules and instances beside each other in the harness.
GATES, RTL = "netlist_gates", "netlist_rtl"
_NET = re.compile(r"n\d+")
_HEAD = re.compile(rf"^module {TOP}\b", re.MULTILINE)
#: Parts of the energy of a cycle, in the order of tables.
PARTS = ("clock", "registers", "gates", "wires", "clock wires", "memories", "leakage")


@dataclass(frozen=True)
class Window:
    """What a golden run did in some cycles: counters, issued instructions, operands that were read."""

    counters: Mapping[str, int]
    instructions: int
    operands: int


@dataclass(frozen=True)
class PowerReport:
    """Power of one machine in the cycles ``first`` to ``last`` since its start, both included.

    ``memories`` is in pJ of all cycles, None for a library of unknown node. ``nanoseconds`` is the path of the netlist.
    """

    netlist: TimedNetlist
    power: NetlistPower
    memories: float | None
    window: Window
    first: int
    last: int
    nanoseconds: float
    gigahertz: float

    @property
    def cycles(self) -> int:
        """Cycles of the window."""
        return self.last - self.first + 1

    def part(self, name: str) -> float | None:
        """Picojoules per cycle of one of ``PARTS``; None for one that is not known."""
        found = {
            "clock": self.power.clock,
            "registers": self.power.registers,
            "gates": self.power.gates,
            "wires": self.power.wires,
            "clock wires": self.power.clock_wires,
            "memories": self.memories,
        }
        if name == "leakage":
            return self.power.leakage_mw / self.gigahertz
        value = found[name]
        return None if value is None else value / self.cycles

    @property
    def picojoules(self) -> float:
        """Per cycle, of all parts that are known."""
        return sum(self.part(name) or 0.0 for name in PARTS)

    @property
    def milliwatts(self) -> float:
        """At the clock of the report."""
        return self.picojoules * self.gigahertz

    @property
    def per_instruction(self) -> float | None:
        """Picojoules per instruction that was issued in the window; None where there was none."""
        count = self.window.instructions
        return self.picojoules * self.cycles / count if count else None

    @property
    def per_operand(self) -> float | None:
        """Picojoules per operand of a warp that was read in the window; None where there was none."""
        return self.picojoules * self.cycles / self.window.operands if self.window.operands else None

    def to_json(self) -> dict[str, object]:
        """All facts; energies are in picojoules per cycle."""
        return {
            "first": self.first,
            "last": self.last,
            "instructions": self.window.instructions,
            "operands": self.window.operands,
            "path_ns": self.nanoseconds,
            "gigahertz": self.gigahertz,
            "picojoules_per_cycle": {name: self.part(name) for name in PARTS} | {"all": self.picojoules},
            "milliwatts": self.milliwatts,
            "picojoules_per_instruction": self.per_instruction,
            "picojoules_per_operand": self.per_operand,
            "toggles_per_cycle": self.power.toggles / self.cycles,
            "leakage_milliwatts": self.power.leakage_mw,
            "ungated_flip_flops": self.power.ungated,
            "netlist": self.netlist.to_json(),
        }


@dataclass(frozen=True)
class Request:
    """What power is asked for. ``gigahertz``: None for the clock that each netlist reaches."""

    trace: Trace
    liberty: Path
    first: int
    last: int
    wires: bool = False
    gates: bool = True
    gigahertz: float | None = None
    root: Path = Path("build")


def power_of(chosen: Iterable[Design], request: Request, report: Report) -> dict[tuple[str, Config], PowerReport]:
    """The power of every scheme and of the baseline beside it, by name and configuration. Raises as
    :func:`machine_power`."""
    designs = {(it.scheme.name, it.config): it for one in chosen for it in (one, one.baseline)}
    return {key: machine_power(one.scheme, one.config, request, report) for key, one in designs.items()}


def machine_power(scheme: Scheme, cfg: Config, request: Request, report: Report) -> PowerReport:
    """Make the netlist of a machine, run its gates in lockstep up to the window's end, and price the toggles in it.

    Raises :class:`Difference` if the gates differ from the golden model or from the RTL, and ``ValueError`` for a
    window behind the run's end and for a library without power, both before anything takes long, and as
    :func:`warpfile.synth.area.timed`.
    """
    library = read_liberty(request.liberty)
    prices = checked_powers(library)
    if request.gates and not any(cell.clock_gate for cell in library.cells.values()):
        raise ValueError(f"{library.name} has no clock gate: --no-gate-clocks keeps enables")
    workload = prepare(cfg, scheme.annotated(cfg, request.trace))
    window = window_of(scheme, cfg, workload, request.first, request.last)
    memories = _memories(scheme, cfg, window, library, prices.volts)
    kept: list[KeptNetlist] = []
    netlist = timed(
        scheme,
        cfg,
        request.liberty,
        gates=request.gates,
        wires=request.wires,
        keep=kept.append,
        cache=request.root / "area",
        progress=lambda step: report(f"{scheme.name}: {step}"),
    )
    report(f"{scheme.name}: gates in lockstep")
    toggles = netlist_toggles(scheme, cfg, kept[0], library, workload, request.first, request.last, request.root)
    power = netlist_power(kept[0], netlist.wires, toggles, library, prices)
    path = _path(netlist)
    clock = request.gigahertz or 1 / path
    return PowerReport(netlist, power, memories, window, request.first, request.last, path, clock)


def _path(netlist: TimedNetlist) -> float:
    """The slowest path that is known, in ns: of the placed netlist, where it is, and with access times."""
    path = netlist.wires.path if netlist.wires else netlist.path
    slowest = path.with_access.nanoseconds if path.with_access else path.nanoseconds
    if slowest is None:
        raise ValueError(path.reason or "the netlist must have a path")
    return slowest


def _memories(scheme: Scheme, cfg: Config, window: Window, library: Liberty, supply: float) -> float | None:
    """Energy of the accesses in the window, at the library's node and supply."""
    known, prices = _technology(library), read_array_prices()
    if known is None or prices.missing(cfg):
        return None
    found = run_energy(scheme, cfg, window.counters, 1, prices)
    return found.dynamic * scaled_to(prices, known.node_nm, supply)


def _technology(library: Liberty) -> Technology | None:
    try:
        return technology(library)
    except ValueError:
        return None


def netlist_toggles(
    scheme: Scheme,
    cfg: Config,
    netlist: KeptNetlist,
    library: Liberty,
    workload: Workload,
    first: int,
    last: int,
    root: Path,
) -> dict[int, int]:
    """Toggles of each net of a flat netlist in cycles since the start of the machine, in lockstep.

    Raises :class:`Difference` as :func:`machine_power`.
    """
    start, scheme = machine_start(scheme, cfg), without_checks(scheme)
    text = beside_rtl(netlist, library, generated_verilog(scheme, cfg, root), ProbeLayout(scheme.probes(cfg)).width)
    harness = build_harness(scheme, cfg, workload, "icarus", root, waves="vcd", verilog=text)
    with TemporaryDirectory(prefix="warpfile-toggles-") as folder:
        waves = Waves(start + first, start + last, Path(folder) / "gates.vcd")
        outcome, waveform = simulate(harness, workload, lambda *_given: None, waves=waves)
        if outcome.mismatches:
            raise Difference(f"{scheme.name}: gates differ from the golden model: {outcome.first_mismatch}")
        assert waveform, "a window in the run has a waveform"
        found = count_toggles(waveform, f"{TOPLEVEL}.dut.{GATES}", _NET)
    return {int(net[1:]): count for (scope, net), count in found.items() if not scope}


def beside_rtl(netlist: KeptNetlist, library: Liberty, rtl: str, probe_bits: int) -> str:
    """Verilog of a machine whose outputs are those of the gates, and whose probes are those of the RTL.

    All probes are inverted while a bit of an output of the gates is not what the RTL has, if that is 0 or 1: then the
    lockstep sees it in any cycle.
    """
    module: Mapping[str, Any] = netlist.flat.design["modules"][netlist.flat.top]
    ports, width = module["ports"], {name: len(one["bits"]) for name, one in module["ports"].items()}
    outputs = [name for name, one in ports.items() if one["direction"] == "output"]
    lines = [f"module {TOP}({', '.join([*ports, 'probe'])});"]
    lines += [f"  {one['direction']} [{width[name] - 1}:0] {name};" for name, one in ports.items()]
    lines += [f"  output [{probe_bits - 1}:0] probe;", f"  wire [{probe_bits - 1}:0] seen;"]
    lines += [f"  wire [{width[name] - 1}:0] {name}_of_rtl;" for name in outputs]
    total = sum(width[name] for name in outputs)
    lines.append(f"  wire [{total - 1}:0] ours = {{{', '.join(outputs)}}};")
    lines.append(f"  wire [{total - 1}:0] theirs = {{{', '.join(f'{name}_of_rtl' for name in outputs)}}};")
    lines += [
        f"  wire [{total - 1}:0] wrong;",
        "  genvar bit;",
        f"  generate for (bit = 0; bit < {total}; bit = bit + 1) begin : compared",
        "    assign wrong[bit] = theirs[bit] !== 1'bx && ours[bit] !== theirs[bit];",
        "  end endgenerate",
        f"  assign probe = seen ^ {{{probe_bits}{{|wrong}}}};",
    ]
    pins = [f".{name}({name})" for name in ports]
    lines.append(f"  {GATES} {GATES} ({', '.join(pins)});")
    pins = [f".{name}({name}{'_of_rtl' if name in outputs else ''})" for name in ports]
    lines.append(f"  {RTL} {RTL} ({', '.join([*pins, '.probe(seen)'])});")
    gates = gate_verilog({"modules": {GATES: module}}, library, (), "")
    return "\n".join([_HEAD.sub(f"module {RTL}", rtl), gates, *lines, "endmodule", ""])


def window_of(scheme: Scheme, cfg: Config, workload: Workload, first: int, last: int) -> Window:
    """What the golden model does in the cycles ``first`` to ``last`` since its start, both included.

    Raises ``ValueError`` for a window behind the run's end.
    """
    layout, start = ProbeLayout(scheme.probes(cfg)), machine_start(scheme, cfg)
    environment, model = Environment(cfg, workload, layout), scheme.golden(cfg, layout)
    before: Mapping[str, int] = {}
    instructions = operands = 0
    for cycle in range(start + last + 1):
        if cycle == start + first:
            before, instructions = dict(model.counters), environment.instructions
            operands = model.operands_checked
        if environment.done:
            raise ValueError(f"window must end before the run does, after {environment.cycles} cycles, not in {last}")
        environment.observe(model.step(environment.stimulus()))
    counters = {name: count - before.get(name, 0) for name, count in model.counters.items()}
    return Window(counters, environment.instructions - instructions, model.operands_checked - operands)
