"""``make regress``: every kernel at 32 lanes and stress traces, scheme by scheme, and what they reached.

Kernels are the code for the GPU that a setup's preset is of, which needs nvdisasm; else the bundled listings, sm_75.
The tables of ``docs/regress-<scheme>.md``. ``--domain D`` runs another domain of the presets that have so many.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warpfile.compiled import form
from warpfile.compiler.architectures import PRESETS as PRESETS_OF_GPUS
from warpfile.compiler.architectures import TARGET
from warpfile.output.display import progress, say, silent
from warpfile.pages.listed import listed
from warpfile.pages.writing import DOCS, page_parser, write_or_check
from warpfile.results.revision import machine_line
from warpfile.schemes import SCHEMES, Scheme, Setup, find
from warpfile.sim.runner import CosimReport, cosim
from warpfile.spec.presets import PRESETS
from warpfile.spec.stress import stress_trace
from warpfile.spec.stress.program import PROFILES
from warpfile.spec.trace import Kind, Port, Trace
from warpfile.spec.workload import Workload, WorkloadError, prepare
from warpfile.workloads.inputs import bundled_kernels, executed, obtain_trace

ROOT = Path("build")
SEEDS = 2
#: Presets whose kernels are compiled for another GPU than the bundled listings, and that GPU: 90 for sm_90.
NEWER = {preset: gpu for gpu, preset in PRESETS_OF_GPUS.items() if gpu != TARGET}
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


@dataclass
class Row:
    """One lockstep run; ``report`` is None where the trace does not fit the configuration."""

    setup: Setup
    trace: str
    report: CosimReport | None


def main(arguments: Sequence[str]) -> int:
    """Run everything; returns 1 if there was a difference or a corner case that nothing reached."""
    parser = page_parser("regress", __doc__)
    parser.add_argument("schemes", nargs="*", metavar="SCHEME", help="only these; default: all")
    parser.add_argument(
        "--setup", action="append", default=[], dest="setups", help="only this preset or setup; default: all"
    )
    parser.add_argument("--domain", type=int, choices=range(8), default=0, help="of the presets that have so many")
    options = parser.parse_args(arguments)
    if options.domain and not options.printed:
        parser.error("--domain must go with --print: the pages are about domain 0")
    failures = 0
    print(f"golden models: {form()}", file=sys.stderr)
    for scheme in _schemes(parser, options.schemes or SCHEMES):
        wanted = set(options.setups)
        known = {known for setup in scheme.regression for known in (setup.name, setup.preset)}
        if wanted - known:
            parser.error(f"SETUP must be one of {', '.join(sorted(known))}, not {min(wanted - known)!r}")
        setups = [setup for setup in scheme.regression if not wanted or {setup.name, setup.preset} & wanted]
        failures += regress(scheme, of_domain(setups, options.domain), options)
    return 1 if failures else 0


def of_domain(setups: Sequence[Setup], domain: int) -> list[Setup]:
    """The setups in another domain of their SM, where it has so many."""
    if not domain:
        return list(setups)
    there = [setup for setup in setups if PRESETS[setup.preset].config.domains > domain]
    return [replace(setup, changes={**setup.changes, "domain": domain}) for setup in there]


def _schemes(parser: argparse.ArgumentParser, names: Iterable[str]) -> list[Scheme]:
    try:
        return [find(name) for name in names]
    except ValueError as error:
        parser.error(str(error))


def regress(scheme: Scheme, setups: Sequence[Setup], options: argparse.Namespace) -> int:
    """All runs of some setups of one scheme; returns how many differed, plus the corner cases not reached.

    A page that differs under ``--check`` counts, too.
    """
    reached: Counter[str] = Counter()
    rows = []
    with progress(f"regress {scheme.name}") as report:
        for setup, name, trace in runs(setups):
            report(f"{setup.name} {name}")
            rows.append(Row(setup, name, lockstep(scheme, setup, trace, name, reached)))
    text = page(scheme, rows, reached)
    stale = write_or_check(options, {DOCS / f"regress-{scheme.name}.md": text})
    missing = [corner for corner in (*CORNERS, *scheme.must_reach) if not reached[corner]]
    for corner in missing:
        say(f"nothing reached: {corner}")
    return stale + len(missing) + sum(row.report.outcome.mismatches for row in rows if row.report)


def runs(setups: Sequence[Setup]) -> Iterator[tuple[Setup, str, Trace]]:
    """Setup, name and trace of every run."""
    for setup in setups:
        for kernel in bundled_kernels():
            for setting in setup.settings:
                yield setup, f"{kernel} ({setting})", kernel_trace(setup.preset, kernel, setting)
        for profile in PROFILES:
            for seed in range(SEEDS):
                yield setup, f"stress {profile} {seed}", stress_trace(seed, profile=profile, **STRESS)  # type: ignore[arg-type]


def kernel_trace(preset: str, kernel: str, setting: str) -> Trace:
    """A bundled kernel, as code for the preset's GPU where that is a newer one."""
    if preset in NEWER:
        return executed(bundled_kernels()[kernel], setting, None, silent, NEWER[preset])
    return obtain_trace(kernel, setting, None, silent)


def lockstep(scheme: Scheme, setup: Setup, trace: Trace, name: str, reached: Counter[str]) -> CosimReport | None:
    """One run, none where the setup has no room for the trace; adds the corner cases that it met.

    Stress traces run with hints that are loosened at random.
    """
    scheme = find(setup.machine) if setup.machine else scheme
    cfg = scheme.configuration(setup.preset, **setup.changes)
    loosened = int(name.split()[-1]) if name.startswith("stress") else None
    try:
        trace = scheme.annotated(cfg, trace, loosened)
        workload = prepare(cfg, trace)
    except WorkloadError:
        return None
    result = cosim(scheme, cfg, trace, preset=setup.preset, build_root=ROOT)
    reached.update(corners(workload))
    reached.update({name: result.outcome.counters.get(name, 0) for name in scheme.must_reach})
    return result


def corners(workload: Workload) -> Counter[str]:
    """How often each corner case of the trace's side occurs."""
    found: Counter[str] = Counter()
    program, instruction = workload.trace.program, workload.trace.instruction
    for beat in workload.dealt:
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
            len(beat.sectors) > 16,
        )
        found.update(corner for corner, there in zip(CORNERS, cases, strict=True) if there)
    return found


def page(scheme: Scheme, rows: Sequence[Row], reached: Mapping[str, int]) -> str:
    """The whole of ``docs/regress-<scheme>.md``."""
    setups = list(dict.fromkeys(row.setup.name for row in rows))
    partly = "" if len(setups) == len(scheme.regression) else "".join(f" --setup '{name}'" for name in setups)
    lines = [f"# Lockstep regression of `{scheme.name}`", ""]
    lines += [f"Written by `python -m warpfile.pages regress {scheme.name}{partly}`.", ""]
    kernels = {row.trace.split()[0] for row in rows if not row.trace.startswith("stress")}
    lines += [machine_line(), "", "Every row: RTL in Verilator and golden model, compared in every cycle."]
    lines += [f"Runs of {listed(kernels)}, with those refused.", ""]
    there = {row.setup.preset for row in rows}
    if newer := ", ".join(f"`{preset}` (sm_{gpu})" for preset, gpu in NEWER.items() if preset in there):
        lines += [f"Kernels are compiled for the GPU of the preset at {newer}, and for sm_75 at all others.", ""]
    lines += ["| setup | lanes | trace | cycles | instructions | IPC | operands checked | mismatches |"]
    lines += ["|---|---:|---|---:|---:|---:|---:|---:|"]
    for row in rows:
        if row.report and not row.trace.startswith("stress"):
            lines.append(_line(row.setup.name, row.trace, [row.report]))
    for name in setups:
        found = [row.report for row in rows if row.setup.name == name and row.trace.startswith("stress") and row.report]
        if found:
            lines.append(_line(name, f"{len(found)} stress traces", found))
    refused = sum(not row.report for row in rows)
    lines += ["", f"{refused} runs were refused: a CTA of the trace does not fit the preset.", ""]
    lines += ["| corner case | times reached |", "|---|---:|"]
    lines += [f"| {corner} | {reached[corner]:,} |" for corner in (*CORNERS, *scheme.must_reach)]
    return "\n".join(lines) + "\n"


def _line(setup: str, name: str, results: list[CosimReport]) -> str:
    outcomes = [result.outcome for result in results]
    cycles = sum(outcome.cycles for outcome in outcomes)
    instructions = sum(outcome.instructions for outcome in outcomes)
    checked, wrong = sum(o.operands_checked for o in outcomes), sum(o.mismatches for o in outcomes)
    lanes = results[0].config.lanes
    ipc = instructions / cycles if cycles else 0.0
    return f"| {setup} | {lanes} | {name} | {cycles:,} | {instructions:,} | {ipc:.3f} | {checked:,} | {wrong} |"
