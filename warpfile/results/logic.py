"""What logic costs by its switching: gates in lockstep with the golden model, and the toggles of their nets."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from warpfile import tools
from warpfile.output.difference import Difference
from warpfile.output.display import Report
from warpfile.results.designs import Design
from warpfile.schemes import TOP, Scheme
from warpfile.sim.build import build_harness, generated_verilog
from warpfile.sim.runner import simulate
from warpfile.sim.simulators import TOPLEVEL
from warpfile.sim.toggles import count_toggles
from warpfile.sim.waves import Waves
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.structure import BOXES
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare
from warpfile.synth.gates import gate_verilog, instances
from warpfile.synth.liberty import Liberty
from warpfile.synth.mapped import map_gates
from warpfile.synth.switching import ModuleSwitching, powers, switching

_NET = re.compile(r"n\d+")
#: Where the machine is in the harness.
_MACHINE = f"{TOPLEVEL}.dut"


@dataclass(frozen=True)
class LogicEnergy:
    """Switching of all logic of a machine in the cycles ``first`` to ``last`` since its start, both included."""

    library: str
    volts: float | None
    first: int
    last: int
    modules: tuple[ModuleSwitching, ...]

    @property
    def cycles(self) -> int:
        """Cycles that were looked at."""
        return self.last - self.first + 1

    @property
    def toggles(self) -> float:
        """Transitions of all nets per cycle."""
        return sum(one.toggles for one in self.modules) / self.cycles

    @property
    def picojoules(self) -> float | None:
        """Per cycle; None for a library without power."""
        if any(one.picojoules is None for one in self.modules):
            return None
        return sum(one.picojoules or 0.0 for one in self.modules) / self.cycles

    def part(self, kind: str) -> float | None:
        """Picojoules per cycle of ``clock``, ``registers`` or ``gates``."""
        return None if self.picojoules is None else sum(getattr(one, kind) for one in self.modules) / self.cycles

    def to_json(self) -> dict[str, object]:
        """All facts; energies are in picojoules, those of modules of the whole window."""
        facts: dict[str, object] = {
            "library": self.library,
            "volts": self.volts,
            "first": self.first,
            "last": self.last,
        }
        facts |= {"toggles_per_cycle": self.toggles, "picojoules_per_cycle": self.picojoules}
        return facts | {"modules": [asdict(one) | {"picojoules": one.picojoules} for one in self.modules]}


def default_library() -> Path | None:
    """osu018, where it is installed; else the project's own cells, which have no power."""
    return tools.OSU018 if tools.find("osu018") else None


def logic_of(
    chosen: Iterable[Design], trace: Trace, library: Liberty, window: tuple[int, int], report: Report
) -> dict[tuple[str, Config], LogicEnergy]:
    """The logic of every scheme and of the baseline beside it, by name and configuration. Raises as
    :func:`logic_energy`."""
    designs = {(it.scheme.name, it.config): it for one in chosen for it in (one, one.baseline)}
    return {key: logic_energy(one, trace, library, window, report) for key, one in designs.items()}


def logic_energy(
    design: Design,
    trace: Trace,
    library: Liberty,
    window: tuple[int, int],
    report: Report,
    simulator: str = "icarus",
    root: Path = Path("build"),
) -> LogicEnergy:
    """Map a machine to the library, run its gates in lockstep up to the window's end, and count the toggles in it.

    The window counts from the machine's start on. Raises :class:`Difference` if the gates differ from the golden model,
    ``ValueError`` for a window behind the run's end and for cells whose switching cannot be counted.
    """
    scheme, cfg, (first, last) = without_checks(design.scheme), design.config, window
    verilog = generated_verilog(scheme, cfg, root)
    report(f"gates of {scheme.name}")
    netlist, text = gates(verilog, cfg, library)
    workload, start = prepare(cfg, scheme.annotated(cfg, trace)), machine_start(scheme, cfg)
    harness = build_harness(scheme, cfg, workload, simulator, root, waves="vcd", verilog=text)
    with TemporaryDirectory(prefix="warpfile-toggles-") as folder:
        path = Path(folder) / "gates.vcd"
        outcome, waveform = simulate(harness, workload, report, waves=Waves(start + first, start + last, path))
        if outcome.mismatches:
            raise Difference(f"{scheme.name}: gates differ from the golden model: {outcome.first_mismatch}")
        if waveform is None or outcome.cycles <= last:
            raise ValueError(f"window must end before the run does, after {outcome.cycles} cycles, not in {last}")
        toggles = count_toggles(waveform, _MACHINE, _NET)
    modules = _modules(netlist["modules"], toggles, library)
    prices = powers(library)
    return LogicEnergy(library.name, prices.volts if prices else None, first, last, modules)


def machine_start(scheme: Scheme, cfg: Config) -> int:
    """Cycles before the start of a machine."""
    layout = ProbeLayout(scheme.probes(cfg))
    model, nothing = scheme.golden(cfg, layout), Stimulus(results=[None] * cfg.write_ports)
    return next(cycle for cycle in itertools.count() if layout.unpack(model.step(nothing))["started"])


def gates(verilog: str, cfg: Config, library: Liberty) -> tuple[Mapping[str, Any], str]:
    """A machine mapped to a library: the netlist, and Verilog of it that takes the machine's place in lockstep."""
    netlist = map_gates(verilog, TOP, BOXES, library.text)
    return netlist, gate_verilog(netlist, library, BOXES, verilog)


def without_checks(scheme: Scheme) -> Scheme:
    """The scheme, with nothing in the harness that reaches into the machine: gates have other instances."""
    collectors, rf = (dataclasses.replace(part, harness="") for part in (scheme.collectors, scheme.rf))
    return dataclasses.replace(scheme, collectors=collectors, rf=rf)


def _modules(
    netlist: Mapping[str, Any], toggles: Counter[tuple[str, str]], library: Liberty
) -> tuple[ModuleSwitching, ...]:
    """Every module of a netlist, its instances together."""
    scopes = list(_scopes(netlist, TOP, "", library))
    sums: dict[str, Counter[int]] = defaultdict(Counter)
    kinds = dict(scopes)
    for (scope, net), count in toggles.items():
        sums[kinds[scope]][int(net[1:])] += count
    prices, number = powers(library), Counter(kind for _, kind in scopes)
    return tuple(switching(name, netlist[name], number[name], sums[name], library, prices) for name in number)


def _scopes(netlist: Mapping[str, Any], module: str, path: str, library: Liberty) -> Iterator[tuple[str, str]]:
    """Where every instance is, and of which module."""
    yield path, module
    for name, kind in instances(netlist[module], library).items():
        yield from _scopes(netlist, kind, f"{path}.{name}".lstrip("."), library)
