"""``python -m warpfile.sim.build_times``: processor time of builds with Verilator, as a table."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import warpfile.sim.simulators as simulators
from warpfile.schemes import find
from warpfile.sim.harness import harness_verilog
from warpfile.spec.probe import ProbeLayout

#: A small machine, the widest data path, and the scheme with the most C++.
MACHINES = ("baseline tiny", "baseline turing", "bow_wr turing")


def measured(machines: Sequence[str]) -> Iterator[tuple[str, bool, list[float]]]:
    """Machine, whether it was optimised, and seconds of Verilator and of the C++ compiler.

    What all machines share is built before, by the first one twice.
    """
    with tempfile.TemporaryDirectory(prefix="warpfile-builds-") as name:
        for optimised in (False, True):
            _build(Path(name), machines[0], optimised)
            for machine in machines:
                yield machine, optimised, _build(Path(name), machine, optimised)


def _build(root: Path, machine: str, optimised: bool) -> list[float]:
    name, preset = machine.split()
    scheme = find(name)
    cfg = scheme.configuration(preset)
    layout = ProbeLayout(scheme.probes(cfg))
    texts = {
        "machine.v": scheme.verilog(cfg, probes=True),
        "harness.v": harness_verilog(cfg, layout, scheme.harness(cfg, layout)),
        "checks.v": scheme.checks(cfg),
    }
    with tempfile.TemporaryDirectory(dir=root) as folder:
        for file, text in texts.items():
            (Path(folder) / file).write_text(text)
        sources = [Path(folder) / file for file in texts]
        simulators.build("verilator", sources, Path(folder), optimised=optimised)
        return [seconds for _, seconds in simulators.build_seconds(Path(folder))]


if __name__ == "__main__":
    print("| machine | level | Verilator, CPU s | C++, CPU s |\n|---|---|---:|---:|")
    for machine, optimised, (verilator, *compiler) in measured(sys.argv[1:] or MACHINES):
        print(f"| {machine} | {'-O1' if optimised else '-O0'} | {verilator:.1f} | {sum(compiler):.1f} |", flush=True)
