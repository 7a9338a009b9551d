"""Builds and runs the examples of this folder: ``python run.py [--simulator icarus] [--seed 7] [EXAMPLE ...]``.

Before, it generates the machine, executes the kernel and writes the program of the SM, as the command line does.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import program

from warpfile.sim.kit import Design, SimulatorError, run, run_plain

HERE = Path(__file__).resolve().parent
#: Files of an example beside the machine, its top module, and whether it is a testbench of its own or one for cocotb.
EXAMPLES = {
    "testbench": (["testbench.v"], "testbench", None),
    "pins": ([], "warpfile", "test_pins"),
    "sm": (["sm.v", "unit.v"], "sm", "test_sm"),
}


def prepare(folder):
    """Generate the machine, and execute the kernel; returns the Verilog and the environment of the tests."""
    manifest, trace = folder / "baseline.json", folder / "trace.npz"
    folder.mkdir(parents=True, exist_ok=True)
    for command in (
        ["generate", "baseline", "--preset", "tiny", "-o", folder],
        ["trace", HERE / "kernel", "-o", trace],
    ):
        subprocess.run([sys.executable, "-m", "warpfile", *command], check=True, stdout=subprocess.DEVNULL)
    verilog = [folder / f"baseline{part}.v" for part in ("", "_sram", "_checks")]
    return verilog, {"MANIFEST": str(manifest), "TRACE": str(trace)}


def simulate(name, simulator, machine, environment, folder, seed, sources=None):
    """Run one example in a folder; returns what it printed. Raises ``AssertionError`` for one that fails.

    ``sources`` take the place of its own.
    """
    files, top, module = EXAMPLES[name]
    sources = [*(sources or [HERE / file for file in files]), *machine]
    if module is None:
        said = run_plain(simulator, sources, folder, top=top, plusargs=[f"+seed={seed}"])
        assert "PASS" in said, said
        return said
    design = Design.load(environment["MANIFEST"])
    folder.mkdir(parents=True, exist_ok=True)
    program.write(design, design.workload(environment["TRACE"]), folder)
    return run(simulator, sources, top, module, folder, visible=["warpfile"], environment=environment, seed=seed)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", nargs="*", metavar="EXAMPLE", help=f"{', '.join(EXAMPLES)}; all by default")
    parser.add_argument("--simulator", choices=["verilator", "icarus"], default="verilator")
    parser.add_argument("--seed", type=int, default=1, help="of all that is random")
    parser.add_argument("--build", type=Path, default=Path("build/sim"), help="folder for what is built")
    chosen = parser.parse_args()
    if unknown := set(chosen.examples) - set(EXAMPLES):
        parser.error(f"EXAMPLE must be one of {', '.join(EXAMPLES)}, not {unknown.pop()}")
    simulator, build = chosen.simulator, chosen.build.resolve()
    machine, environment = prepare(build / f"integration-{simulator}")
    for name in chosen.examples or EXAMPLES:
        try:
            folder = build / f"integration-{simulator}-{name}"
            said = simulate(name, simulator, machine, environment, folder, chosen.seed)
        except (AssertionError, SimulatorError) as error:
            sys.exit(f"{name}: {error}")
        print(f"{name}: {next(line for line in said.splitlines() if 'operands' in line)}")


if __name__ == "__main__":
    main()
