"""Builds a harness, runs the bench in a simulator, and reports."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from cocotb_tools.runner import get_runner
from filelock import FileLock

import sim.simulators as simulators
from hdl.stamp import convert
from sim.harness import harness_verilog, write_memories
from sim.plan import PLAN_VARIABLE, Outcome, Plan
from sim.simulators import TOPLEVEL, SimulatorError
from spec.config import Config
from spec.probe import ProbeLayout
from spec.trace import Trace
from spec.workload import Workload, prepare
from warpfile.schemes import Scheme

Progress = Callable[[str, int, int], None]
_SMALLEST_MEMORY = 1 << 14
#: Modules of ``spec`` that decide what the generator writes.
_HARDWARE_SPEC = ("baseline", "beat", "config", "probe", "trace")
_ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class CosimReport:
    """Result of one lockstep run: the bench's outcome, where it ran and what is left of it."""

    scheme: str
    kernel: str
    preset: str
    config: Config
    simulator: str
    outcome: Outcome
    build_seconds: float
    waveform: Path | None

    @property
    def cycles_per_second(self) -> float:
        """Compared cycles per second of simulation."""
        return self.outcome.cycles / self.outcome.seconds if self.outcome.seconds else 0.0

    def to_json(self) -> dict[str, object]:
        """The facts of the command line's ``--json``; bits are bits, times seconds."""
        outcome = self.outcome
        facts: dict[str, object] = {
            "kernel": self.kernel,
            "preset": self.preset,
            "lanes": self.config.lanes,
            "simulator": self.simulator,
            "cycles": outcome.cycles,
            "instructions": outcome.instructions,
            "mismatches": outcome.mismatches,
            "operands_checked": outcome.operands_checked,
            "lanes_checked": outcome.lanes_checked,
            "seconds": outcome.seconds,
            "build_seconds": self.build_seconds,
            "cycles_per_second": self.cycles_per_second,
            "counters": outcome.counters,
            "waveform": str(self.waveform) if self.waveform else None,
        }
        if outcome.first_mismatch:
            facts["first_mismatch"] = outcome.first_mismatch
        return facts


@dataclass(frozen=True)
class Harness:
    """A built simulation."""

    scheme: Scheme
    config: Config
    simulator: str
    directory: Path
    layout: ProbeLayout


def cosim(
    scheme: Scheme,
    cfg: Config,
    trace: Trace,
    *,
    preset: str = "custom",
    simulator: str = "verilator",
    waves: bool = False,
    build_root: Path = Path("build"),
    progress: Progress | None = None,
    verilog: str | None = None,
) -> CosimReport:
    """Run RTL and golden model in lockstep over a trace.

    A run that finds a difference is repeated up to that cycle with a waveform. ``verilog`` takes the place of the
    scheme's own (deliberate bugs in tests, a user's edited copy). Raises ``ValueError`` for a trace that does not fit
    and :class:`SimulatorError` for a simulator that does not work.
    """
    if simulator not in simulators.SIMULATORS:
        raise ValueError(f"simulator must be one of {', '.join(simulators.SIMULATORS)}, not {simulator!r}")
    workload = prepare(cfg, trace)
    report = progress or (lambda stage, done, total: None)
    started = time.perf_counter()
    report("build", 0, 1)
    harness = _build(scheme, cfg, workload, simulator, waves, build_root, verilog)
    built = time.perf_counter() - started
    outcome, waveform = _simulate(harness, workload, report, waves=waves, stop=None)
    if outcome.mismatches and not waves:
        harness = _build(scheme, cfg, workload, simulator, True, build_root, verilog)
        stop = int(outcome.first_mismatch["cycle"]) if outcome.first_mismatch else 0
        _, waveform = _simulate(harness, workload, report, waves=True, stop=stop + 4)
    return CosimReport(scheme.name, trace.kernel, preset, cfg, simulator, outcome, built, waveform)


def _build(
    scheme: Scheme,
    cfg: Config,
    workload: Workload,
    simulator: str,
    waves: bool,
    root: Path,
    verilog: str | None,
) -> Harness:
    layout = ProbeLayout(scheme.probes(cfg))
    rows, beats = _capacity(len(workload.trace.values)), _capacity(len(workload.beats))
    machine = verilog if verilog is not None else generated_verilog(scheme, cfg, root)
    texts = {"machine.v": machine, "harness.v": harness_verilog(cfg, layout, rows, beats)}
    key = hashlib.sha256("\0".join([*texts.values(), simulator, str(waves), _tool_key()]).encode()).hexdigest()[:16]
    directory = (root / "sim" / f"{scheme.name}-{simulator}-{key}").resolve()
    directory.mkdir(parents=True, exist_ok=True)
    with FileLock(directory / "lock"):
        if not (directory / "built").exists():
            for name, text in texts.items():
                (directory / name).write_text(text)
            simulators.build(simulator, [directory / name for name in texts], directory, waves=waves)
            (directory / "built").touch()
    return Harness(scheme, cfg, simulator, directory, layout)


def _tool_key() -> str:
    return str(simulators.verilator_executable())


def generated_verilog(scheme: Scheme, cfg: Config, root: Path) -> str:
    """Generated Verilog with probes, cached under ``root`` by configuration and by the sources of the generator."""
    shared = [_ROOT / "spec" / f"{name}.py" for name in _HARDWARE_SPEC]
    sources = sorted([*(_ROOT / "hdl").rglob("*.py"), *shared])
    digest = hashlib.sha256(repr((scheme.name, cfg)).encode())
    for path in sources:
        digest.update(path.read_bytes())
    cached = root / "verilog" / f"{scheme.name}-{digest.hexdigest()[:16]}.v"
    if not cached.exists():
        text = convert(lambda: scheme.rtl(cfg, True), "warpfile")
        cached.parent.mkdir(parents=True, exist_ok=True)
        partial = cached.with_suffix(f".{os.getpid()}.partial")
        partial.write_text(text)
        partial.replace(cached)
    return cached.read_text()


def _capacity(count: int) -> int:
    """Memory size that serves many traces, so that a build is reused."""
    return max(_SMALLEST_MEMORY, 1 << max(1, count).bit_length())


def _simulate(
    harness: Harness, workload: Workload, report: Progress, *, waves: bool, stop: int | None
) -> tuple[Outcome, Path | None]:
    with tempfile.TemporaryDirectory(prefix="lockstep-", dir=harness.directory) as name:
        scratch = Path(name)
        memories = write_memories(harness.config, workload, scratch)
        workload.trace.save(scratch / "trace.npz")
        plan = Plan(
            harness.scheme.name,
            harness.config,
            scratch / "trace.npz",
            scratch / "outcome.json",
            scratch / "progress",
            stop,
        )
        plan.save(scratch / "plan.json")
        waveform = harness.directory / "waveform.vcd" if waves else None
        plusargs = [f"+{key}={path}" for key, path in memories.items()]
        if waveform:
            plusargs += [f"+wave={waveform}", f"+dump_from={max(0, (stop or 0) - 200)}"]
        total = workload.trace.instructions
        with _Watch(plan.progress, lambda cycles, done: report("simulate", done, total)):
            log = scratch / "simulation.log"
            _run_bench(harness, scratch, plusargs, log)
        if not plan.outcome.exists():
            tail = " | ".join(log.read_text(errors="replace").splitlines()[-12:]) if log.exists() else "no log"
            raise SimulatorError(f"the simulation ended without a result: {tail}")
        return Outcome.load(plan.outcome), waveform


def _run_bench(harness: Harness, scratch: Path, plusargs: list[str], log: Path) -> None:
    runner = get_runner(harness.simulator)
    environment = {PLAN_VARIABLE: str(scratch / "plan.json"), "PYTHONPATH": str(_ROOT), "COCOTB_LOG_LEVEL": "WARNING"}
    # Inside pytest the runner exits for a failed test; the outcome file says more.
    with contextlib.suppress(SystemExit):
        runner.test(
            hdl_toplevel=TOPLEVEL,
            hdl_toplevel_lang="verilog",
            test_module="sim.bench",
            build_dir=harness.directory,
            test_dir=scratch,
            plusargs=plusargs,
            extra_env=environment,
            log_file=log,
        )


class _Watch:
    """Reports what the bench writes to its progress file, until the context ends."""

    def __init__(self, path: Path, report: Callable[[int, int], None]) -> None:
        self._path, self._report = path, report
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._poll, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._thread.join()

    def _poll(self) -> None:
        while not self._ended.wait(0.2):
            words = self._path.read_text().split() if self._path.exists() else []
            if len(words) == 2:
                self._report(int(words[0]), int(words[1]))
