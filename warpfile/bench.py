"""``make bench``: how fast generation, emulation, golden model, lockstep and synthesis are, as figures and ratios."""

from __future__ import annotations

import time
from pathlib import Path

from warpfile import scaling
from warpfile.display import Report, progress, say, show_table
from warpfile.inputs import execute_kernel, kernel_directory, obtain_trace
from warpfile.options import Design, designs
from warpfile.run import golden_run

ROOT = Path("build")
KERNEL = "matmul_tiled"
EMULATED = ("saxpy", "collatz", "matmul_tiled")
REPEATS = 3


def main() -> None:
    """Measure at every scheme's own preset and 32 lanes, and print one table."""
    every = designs(["all"], None, ())
    rows: list[tuple[object, ...]] = []
    with progress("bench") as report:
        rows += emulator_rows(report)
        rows.append(analysis_row())
        rows += [generate_row(design) for design in every]
        rows += golden_rows(report)
        for design in every:
            rows += lockstep_rows(design, report)
        rows += [synthesis_row(design, report) for design in every]
    show_table(("what", "amount", "unit", "seconds", "per second", "ratio to the bare simulator"), rows)
    say(
        "Best of three. The bare simulator replays the recorded inputs without golden model, comparison or VPI traffic."
    )


def emulator_rows(report: Report) -> list[tuple[object, ...]]:
    """Warp instructions per second of the emulator, listing and launch already loaded."""
    rows: list[tuple[object, ...]] = []
    for kernel in EMULATED:
        result = min(
            (execute_kernel(kernel_directory(kernel), "large", None, report) for _ in range(REPEATS)), key=_seconds
        )
        count = result.trace.instructions
        rows.append((f"emulate {kernel} (large)", count, "instructions", result.seconds, count / result.seconds, None))
    return rows


def _seconds(result: object) -> float:
    return float(result.seconds)  # type: ignore[attr-defined]


def analysis_row() -> tuple[object, ...]:
    """Seconds to analyse a listing as large as the largest real kernel that we know, JSON included."""
    _, count, _, seconds, _ = scaling.measured("mixed", scaling.LARGEST)
    return ("analyze --json (made up)", count, "instructions", seconds, int(str(count)) / float(str(seconds)), None)


def generate_row(design: Design) -> tuple[object, ...]:
    """Seconds to write the Verilog of the whole machine."""
    start = time.perf_counter()
    text = design.scheme.verilog(design.config, probes=False)
    seconds = time.perf_counter() - start
    lines = len(text.splitlines())
    return (f"generate {design.scheme.name}", lines, "lines", seconds, lines / seconds, None)


def synthesis_row(design: Design, report: Report) -> tuple[object, ...]:
    """Seconds to measure a scheme's area and logic levels at its own preset, Verilog included, nothing remembered."""
    from warpfile.synth.area import measure

    report(f"synthesise {design.scheme.name}")
    start = time.perf_counter()
    cells = measure(design.scheme, design.config, cache=None).cells
    seconds = time.perf_counter() - start
    return (f"synthesise {design.scheme.name}", cells, "cells", seconds, cells / seconds, None)


def golden_rows(report: Report) -> list[tuple[object, ...]]:
    """Cycles per CPU second of every scheme's golden model with its environment, as plain Python and compiled."""
    from warpfile.speed import KERNEL, SIZE, both_forms

    report("golden models")
    compiled, plain = both_forms(REPEATS)
    rows: list[tuple[object, ...]] = []
    for name, (cycles, slow) in plain.items():
        where = f"golden {name}: {KERNEL} ({SIZE})"
        rows.append((f"{where}, plain Python", cycles, "cycles", slow, cycles / slow, None))
        if name in compiled:
            fast = compiled[name][1]
            rows.append(
                (f"{where}, compiled, {slow / fast:.1f} times plain", cycles, "cycles", fast, cycles / fast, None)
            )
    return rows


def lockstep_rows(design: Design, report: Report) -> list[tuple[object, ...]]:
    """Cycles per second of the golden model, of lockstep and of the simulator alone, on one kernel."""
    from warpfile.sim.benchmark import lockstep_speed

    trace = obtain_trace(KERNEL, "large", None, report)
    runs = [golden_run(design.scheme, design.config, design.preset, trace, report) for _ in range(REPEATS)]
    golden = min(run.seconds for run in runs)
    speed = lockstep_speed(design.scheme, design.config, trace, ROOT, REPEATS)
    cycles, lockstep, bare = speed.cycles, speed.lockstep_seconds, speed.bare_seconds
    named = (("golden model alone", golden), ("lockstep, compared cycles", lockstep), ("bare simulator", bare))
    where = f"{design.scheme.name}, {KERNEL} (large), {design.preset}, {design.config.lanes} lanes"
    return [(f"{name}: {where}", cycles, "cycles", used, cycles / used, bare / used) for name, used in named]


if __name__ == "__main__":
    main()
