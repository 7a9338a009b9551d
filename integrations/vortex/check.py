"""``python -m warpfile.integrations.vortex.check FOLDER``: a generated issue slice in the stub of its host."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from warpfile.sim.simulators import SimulatorError, build_plain, run_built

STUB = Path(__file__).resolve().parent / "stub"


def sources(folder: Path) -> list[Path]:
    """Files of a machine with its adapter and of the stub, beside what these include."""
    (manifest,) = folder.glob("*.json")
    stem = manifest.stem
    machine = [folder / f"{stem}{end}" for end in ("_pkg.sv", ".v", "_sram.v", "_checks.v")]
    rules = [folder / f"{stem}.vlt", STUB / "stub.vlt"]
    return [*rules, STUB / "VX_gpu_pkg.sv", *machine, folder / "VX_issue_slice.sv", STUB / "host.sv"]


def options(folder: Path, macros: Sequence[str] = ()) -> list[str]:
    """What Verilator must be told: where the stub is, its sizes, which are those of the machine, and further macros."""
    (manifest,) = folder.glob("*.json")
    cfg = json.loads(manifest.read_text())["parameters"]
    own = [f"NUM_THREADS={cfg['lanes']}", f"NUM_WARPS={cfg['warps']}", "WARPFILE_CHECKS"]
    if cfg["register_names"] > 32:
        own.append("EXT_F_ENABLE")
    return [f"-I{STUB}", *(f"-D{macro}" for macro in (*own, *macros))]


def build(folder: Path, directory: Path, macros: Sequence[str] = ()) -> list[str]:
    """Build the stub around the machine in ``folder``; returns the command that runs it.

    Raises :class:`SimulatorError` if it cannot be built.
    """
    return build_plain("verilator", sources(folder), directory, top="host", options=options(folder, macros))


def run(program: Sequence[str], directory: Path, seed: int, **plusargs: int) -> str:
    """What a run prints: lines from PASS on, or what was wrong. Memories begin with anything."""
    power_up = ["+verilator+rand+reset+2", f"+verilator+seed+{seed}"]
    chosen = [f"+{name}={value}" for name, value in {"seed": seed, **plusargs}.items()]
    return run_built(program, directory, [*power_up, *chosen])


def main() -> None:
    """Builds once, and runs with some seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", type=Path, help="what warpfile generate --host vortex wrote")
    parser.add_argument("--seeds", type=int, default=5, help="so many runs, with seeds from 1 on")
    parser.add_argument("--macro", action="append", default=[], help="of the host, as L1_ENABLE or NDEBUG")
    parser.add_argument("--build", type=Path, default=Path("build/sim/vortex"), help="folder for what is built")
    chosen = parser.parse_args()
    try:
        program = build(chosen.folder.resolve(), chosen.build.resolve(), chosen.macro)
    except SimulatorError as error:
        sys.exit(str(error))
    for seed in range(1, chosen.seeds + 1):
        said = run(program, chosen.build.resolve(), seed)
        print(f"seed {seed}: {' '.join(said.splitlines()[:2])}")
        if not said.startswith("PASS"):
            sys.exit(1)


if __name__ == "__main__":
    main()
