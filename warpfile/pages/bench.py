"""``make bench``: how fast emulation, analysis, generation, golden models and lockstep are, as figures and ratios.

``python -m warpfile.pages bench PART...`` measures some parts, ``--scheme`` some schemes.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from warpfile.output.display import Report, progress, say, show_table
from warpfile.pages import scaling
from warpfile.pages.writing import parser
from warpfile.results.designs import Design, designs
from warpfile.schemes import SCHEMES
from warpfile.workloads.inputs import execute_kernel, kernel_directory, obtain_trace

ROOT = Path("build")
EMULATED = ("saxpy", "collatz", "matmul_tiled")
REPEATS = 3

Row = tuple[object, ...]


@dataclass(frozen=True)
class Part:
    """One table: its columns, what it has rows of, given the schemes, and how a row is measured."""

    columns: tuple[str, ...]
    subjects: Callable[[Sequence[Design]], Sequence[Any]]
    row: Callable[[Any, Report], Row]


def main(arguments: Sequence[str]) -> int:
    """Measure at every scheme's own preset and 32 lanes, and print each table as soon as it is there.

    What cannot be measured is said and left out; the exit status is then 1.
    """
    options_of = parser("bench", __doc__)
    options_of.add_argument("parts", metavar="PART", nargs="*", help=f"{', '.join(PARTS)}; default: all but synthesise")
    options_of.add_argument("--scheme", action="append", choices=tuple(SCHEMES), help="may be repeated; default: all")
    options = options_of.parse_args(arguments)
    if unknown := [name for name in options.parts if name not in PARTS]:
        options_of.error(f"PART must be one of {', '.join(PARTS)}, not {unknown[0]}")
    every = designs(options.scheme or ["all"], None, ())
    missing = [
        line for name in options.parts or [name for name in PARTS if name != "synthesise"] for line in show(name, every)
    ]
    for line in missing:
        say(f"not measured: {line}")
    return int(bool(missing))


def show(name: str, every: Sequence[Design]) -> list[str]:
    """Measure one part and print its table; returns what could not be measured, and why."""
    rows, missing = measured(name, every)
    show_table((name, *PARTS[name].columns), rows)
    return missing


def measured(name: str, every: Sequence[Design]) -> tuple[list[Row], list[str]]:
    """The rows of one part's table, each behind what it is of; and what could not be measured, and why."""
    part, rows, missing = PARTS[name], list[Row](), list[str]()
    with progress(f"bench {name}") as report:
        subjects = part.subjects(every)
        for number, subject in enumerate(subjects):
            called = subject.scheme.name if isinstance(subject, Design) else str(subject)
            report(called, number, len(subjects))
            try:
                rows.append((called, *part.row(subject, report)))
            except Exception as error:  # the other rows are worth having
                missing.append(f"{name} {called}: {_reason(error)}")
    return rows, missing


def _reason(error: Exception) -> str:
    said = str(error.stderr or "").strip() if isinstance(error, subprocess.CalledProcessError) else ""
    return said.splitlines()[-1] if said else f"{type(error).__name__}: {error}"


def emulate(kernel: str, report: Report) -> Row:
    """Warp instructions per second of the emulator, listing and launch already loaded."""
    runs = [execute_kernel(kernel_directory(kernel), "large", None, report) for _ in range(REPEATS)]
    count, seconds = runs[0].trace.instructions, min(run.seconds for run in runs)
    return count, seconds, count / seconds


def analyze(shape: str, report: Report) -> Row:
    """Seconds to analyse a listing as large as the largest real kernel that we know, JSON included."""
    _, count, _, seconds, mebibytes = scaling.measured(shape, scaling.LARGEST)
    return count, seconds, mebibytes


def generate(design: Design, report: Report) -> Row:
    """Processor seconds to write the Verilog of the whole machine."""
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        text = design.scheme.verilog(design.config, probes=False)
        seconds.append(time.process_time() - start)
    return design.preset, text.count("\n"), min(seconds)


def golden(design: Design, report: Report) -> Row:
    """Cycles per CPU second of a golden model with its environment, as plain Python and compiled."""
    from warpfile.pages.speed import both_forms

    cycles, compiled, plain = both_forms(design.scheme.name, REPEATS)
    fast = (cycles / compiled, plain / compiled) if compiled else (None, None)
    return cycles, cycles / plain, *fast


def same_preset(design: Design, report: Report) -> Row:
    """Cycles per CPU second of a golden model, and of the baseline at the same preset and fields."""
    from warpfile.pages.speed import beside_baseline

    own, baseline = beside_baseline(design.scheme, REPEATS)
    speeds = [one.cycles / one.seconds for one in (own, baseline)]
    rates = [one.instructions / one.cycles for one in (own, baseline)]
    return design.scheme.preset, *rates, *speeds, speeds[0] / speeds[1]


def lockstep(design: Design, report: Report) -> Row:
    """Cycles per second by the clock of lockstep and of the simulator alone, in turn."""
    from warpfile.pages.speed import KERNEL, SIZE, timed
    from warpfile.sim.benchmark import lockstep_speed

    trace = obtain_trace(KERNEL, SIZE, None, report)
    speed = lockstep_speed(design.scheme, timed(design.scheme), trace, ROOT, REPEATS, report)
    cycles, compared, bare = speed.cycles, speed.lockstep_seconds, speed.bare_seconds
    return design.preset, cycles, cycles / compared, cycles / bare, bare / compared


def synthesise(design: Design, report: Report) -> Row:
    """Seconds to measure a scheme's area and logic levels at its own preset, Verilog included, nothing remembered."""
    from warpfile.synth.area import measure

    start = time.perf_counter()
    cells = measure(design.scheme, design.config, cache=None, progress=report).cells
    return cells, time.perf_counter() - start


def _schemes(every: Sequence[Design]) -> Sequence[Design]:
    return every


PARTS = {
    "emulate": Part(("instructions", "seconds", "per second"), lambda every: EMULATED, emulate),
    "analyze": Part(("instructions, made up", "CPU seconds", "MiB"), lambda every: ("mixed",), analyze),
    "generate": Part(("preset", "lines", "CPU seconds"), _schemes, generate),
    "golden": Part(("cycles", "per CPU second, plain", "compiled", "times"), _schemes, golden),
    "same_preset": Part(
        ("preset", "IPC", "IPC of the baseline", "per CPU second", "of the baseline, per CPU second", "ratio"),
        _schemes,
        same_preset,
    ),
    "lockstep": Part(("preset", "cycles", "compared per second", "bare simulator", "ratio"), _schemes, lockstep),
    "synthesise": Part(("cells", "seconds"), _schemes, synthesise),
}
