"""``make regress``: every kernel on every preset at 32 lanes, stress traces, and what they reached.

``python -m warpfile.regress [PRESET...]`` prints the table of ``docs/regress.md``; ``--write`` replaces the file.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from sim.runner import CosimReport, cosim
from spec.presets import PRESETS
from spec.stress import stress_trace
from spec.stress_program import PROFILES
from spec.trace import Kind, Port, Trace
from spec.workload import Workload, WorkloadError, prepare
from warpfile.display import progress, say
from warpfile.inputs import bundled_kernels, obtain_trace
from warpfile.schemes import SCHEMES

PAGE = Path(__file__).resolve().parent.parent / "docs" / "regress.md"
ROOT = Path("build")
SEEDS = 2
#: Presets that also run the large settings; the others run the small ones.
LARGE = ("turing", "fermi")
STRESS = {"warps_per_cta": [3, 1, 2], "ctas": 12, "length": 150}

#: Corner cases that come from the trace, by what a beat or its instruction must be like.
CORNERS = (
    "empty execution mask",
    "partial write",
    "wide result",
    "instruction of several beats",
    "source named twice",
    "source is destination",
    "no source",
    "branch that reads a register",
    "token result",
    "memory access of many lines",
)
#: Corner cases that the machine has to meet, by the counter that shows them.
EVENTS = (
    "bank_conflicts",
    "write_waits",
    "issue_room",
    "issue_barrier",
    "issue_hazard",
    "issue_idle",
    "dispatch_waits",
)


def main(arguments: list[str]) -> int:
    """Run everything; returns 1 if there was a difference or a corner case that nothing reached."""
    parser = argparse.ArgumentParser(prog="python -m warpfile.regress", description=__doc__)
    parser.add_argument("presets", nargs="*", metavar="PRESET", help="only these; default: all")
    parser.add_argument("--write", action="store_true", help=f"replace {PAGE.name}")
    options = parser.parse_args(arguments)
    presets = options.presets or list(PRESETS)
    if unknown := [name for name in presets if name not in PRESETS]:
        parser.error(f"PRESET must be one of {', '.join(PRESETS)}, not {unknown[0]!r}")
    rows: list[tuple[str, str, Trace | None, CosimReport | None]] = []
    reached: Counter[str] = Counter()
    with progress("regress") as report:
        for preset, name, trace in runs(presets):
            report(f"{preset} {name}")
            rows.append((preset, name, *lockstep(preset, trace, reached)))
    text = page(rows, reached)
    if options.write:
        PAGE.write_text(text)
    say(text)
    failed = [row for row in rows if row[3] and row[3].outcome.mismatches]
    missing = [corner for corner in (*CORNERS, *EVENTS) if not reached[corner]]
    for corner in missing:
        say(f"nothing reached: {corner}")
    return 1 if failed or missing else 0


def runs(presets: Sequence[str]) -> Iterator[tuple[str, str, Trace]]:
    """Preset, name and trace of every run."""
    for preset in presets:
        for kernel in bundled_kernels():
            for setting in ("launch", "large") if preset in LARGE else ("launch",):
                yield preset, f"{kernel} ({setting})", obtain_trace(kernel, setting, None, lambda *_: None)
        for profile in PROFILES:
            for seed in range(SEEDS):
                yield preset, f"stress {profile} {seed}", stress_trace(seed, profile=profile, **STRESS)  # type: ignore[arg-type]


def lockstep(preset: str, trace: Trace, reached: Counter[str]) -> tuple[Trace, CosimReport | None]:
    """One run, none where the preset has no room for the trace; adds the corner cases that it met."""
    scheme, cfg = SCHEMES["baseline"], PRESETS[preset].config
    try:
        workload = prepare(cfg, trace)
    except WorkloadError:
        return trace, None
    result = cosim(scheme, cfg, trace, preset=preset, build_root=ROOT)
    reached.update(corners(workload))
    reached.update({event: result.outcome.counters[event] for event in EVENTS if event in result.outcome.counters})
    return trace, result


def corners(workload: Workload) -> Counter[str]:
    """How often each corner case of the trace's side occurs."""
    found: Counter[str] = Counter()
    program, instruction = workload.trace.program, workload.trace.instruction
    for beat in workload.beats:
        static = program[instruction[beat.record]]
        cases = (
            not beat.executes,
            beat.dest_count > 0 and 0 < beat.mask < (1 << 32) - 1,
            beat.dest_count > 1,
            not beat.last,
            beat.first and len(set(static.sources)) < len(static.sources),
            beat.first and bool(set(static.sources) & set(static.dests)),
            not static.sources,
            beat.kind == Kind.BRANCH and beat.port != Port.NONE,
            beat.token_writes != 0,
            len(beat.lines) > 8,
        )
        found.update(corner for corner, there in zip(CORNERS, cases, strict=True) if there)
    return found


def page(rows: list[tuple[str, str, Trace | None, CosimReport | None]], reached: Counter[str]) -> str:
    """The whole of ``docs/regress.md``."""
    lines = ["# Lockstep regression of the baseline", ""]
    command = "python -m warpfile.regress --write " + " ".join(dict.fromkeys(preset for preset, *_ in rows))
    lines += [f"Written by `{command}`.", ""]
    lines += ["Every row: RTL in Verilator and golden model, compared in every cycle.", ""]
    lines += ["| preset | lanes | trace | cycles | instructions | IPC | operands checked | mismatches |"]
    lines += ["|---|---:|---|---:|---:|---:|---:|---:|"]
    for preset, name, _, result in rows:
        if result and not name.startswith("stress"):
            lines.append(_line(preset, name, [result]))
    for preset in PRESETS:
        stress = [result for row, name, _, result in rows if row == preset and name.startswith("stress") and result]
        if stress:
            lines.append(_line(preset, f"{len(stress)} stress traces", stress))
    refused = sorted({(preset, name) for preset, name, _, result in rows if not result})
    lines += ["", f"{len(refused)} runs were refused: a CTA of the trace does not fit the preset.", ""]
    lines += ["| corner case | times reached |", "|---|---:|"]
    lines += [f"| {corner} | {reached[corner]:,} |" for corner in (*CORNERS, *EVENTS)]
    return "\n".join(lines) + "\n"


def _line(preset: str, name: str, results: list[CosimReport]) -> str:
    outcomes = [result.outcome for result in results]
    cycles = sum(outcome.cycles for outcome in outcomes)
    instructions = sum(outcome.instructions for outcome in outcomes)
    checked, wrong = sum(o.operands_checked for o in outcomes), sum(o.mismatches for o in outcomes)
    lanes = results[0].config.lanes
    ipc = instructions / cycles if cycles else 0.0
    return f"| {preset} | {lanes} | {name} | {cycles:,} | {instructions:,} | {ipc:.3f} | {checked:,} | {wrong} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
