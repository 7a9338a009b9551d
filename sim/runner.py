"""Builds a harness, runs the bench in a simulator, and reports."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import warpfile.sim.simulators as simulators
from warpfile.schemes import Scheme
from warpfile.sim.build import MACHINE_FILE, Harness, build_harness
from warpfile.sim.counters import reported
from warpfile.sim.harness import MACHINE, write_values
from warpfile.sim.initial_state import PLAIN, InitialState
from warpfile.sim.plan import HANG_CYCLES, PLAN_VARIABLE, Outcome, Plan
from warpfile.sim.replay_host import replay
from warpfile.sim.simulators import TOPLEVEL, SimulatorError
from warpfile.sim.stream import GoldenSide
from warpfile.sim.wave_view import instances, view
from warpfile.sim.wave_viewers import viewer_files
from warpfile.sim.waves import Waves, dumping
from warpfile.sim.without_pytest import ENTRIES
from warpfile.spec.config import Config
from warpfile.spec.reading import named
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload, prepare

Progress = Callable[[str, int, int], None]


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
    unchecked: tuple[str, ...] = ()  #: what was left out of the checks, a line each
    notes: tuple[str, ...] = ()  #: what is to be known of the trace, a line each
    initial_state: InitialState = PLAIN

    @property
    def cycles_per_second(self) -> float:
        """Compared cycles per second of simulation."""
        return self.outcome.compared / self.outcome.seconds if self.outcome.seconds else 0.0

    def to_json(self) -> dict[str, object]:
        """The facts of the command line's ``--json``; bits are bits, times seconds."""
        outcome = self.outcome
        facts: dict[str, object] = {
            "kernel": self.kernel,
            "preset": self.preset,
            "domain": self.config.domain,
            "lanes": self.config.lanes,
            "simulator": self.simulator,
            "power_up": self.initial_state.power_up,
            "reset_after": self.initial_state.reset_after,
            "cycles": outcome.cycles,
            "instructions": outcome.instructions,
            "mismatches": outcome.mismatches,
            "operands_checked": outcome.operands_checked,
            "lanes_checked": outcome.lanes_checked,
            "seconds": outcome.seconds,
            "build_seconds": self.build_seconds,
            "cycles_per_second": self.cycles_per_second,
            "counters": reported(self.config, outcome.counters),
            "waveform": str(self.waveform) if self.waveform else None,
            "unchecked": list(self.unchecked),
            "notes": list(self.notes),
        }
        if outcome.first_mismatch:
            facts["first_mismatch"] = outcome.first_mismatch
        return facts


def cosim(
    scheme: Scheme,
    cfg: Config,
    trace: Trace,
    *,
    preset: str = "custom",
    simulator: str = "verilator",
    waves: Waves | None = None,
    build_root: Path = Path("build"),
    progress: Progress | None = None,
    verilog: str | None = None,
    explain: bool = True,
    initial_state: InitialState = PLAIN,
) -> CosimReport:
    """Run RTL and golden model in lockstep over a trace.

    A run that finds a difference is repeated up to that cycle with a waveform, unless ``explain`` is false; one without
    is repeated for a window of ``waves`` that ends before it does. ``verilog`` takes the place of the scheme's own
    (deliberate bugs in tests, a user's edited copy). Raises ``ValueError`` for a trace that does not fit and
    :class:`SimulatorError` for a simulator that does not work.
    """
    if simulator not in simulators.SIMULATORS:
        raise ValueError(f"simulator must be one of {', '.join(simulators.SIMULATORS)}, not {simulator!r}")
    workload = prepare(cfg, scheme.annotated(cfg, trace))
    report = progress or (lambda stage, done, total: None)

    def run(waves: Waves | None) -> tuple[Outcome, Path | None, float]:
        started = time.perf_counter()
        report("build", 0, 1)
        form = waves.format(simulator) if waves else ""
        harness = build_harness(scheme, cfg, workload, simulator, build_root, waves=form, verilog=verilog)
        built = time.perf_counter() - started
        return *simulate(harness, workload, report, waves=waves, initial_state=initial_state), built

    initial_state.plusargs(simulator)  # before anything is built
    if waves:
        waves.format(simulator)
    outcome, waveform, built = run(waves if waves and waves.last is None else None)
    if waveform is None and (later := _afterwards(outcome, waves, explain)):
        _, waveform, _ = run(later)
    unchecked, notes = scheme.unchecked(cfg), workload.trace.notes
    ran = (scheme.name, trace.kernel, preset, cfg, simulator, outcome)
    return CosimReport(*ran, built, waveform, unchecked, notes, initial_state)


def _afterwards(outcome: Outcome, waves: Waves | None, explain: bool) -> Waves | None:
    """What to record of a run that has been compared. Raises ``ValueError`` for a window that lies behind it."""
    if outcome.first_mismatch and (waves or explain):
        cycle = int(str(outcome.first_mismatch["cycle"]))
        return (waves or Waves.before(cycle)).until(cycle)
    if waves and waves.first >= outcome.compared:
        raise ValueError(
            f"window must begin before the run ends, after {outcome.compared} cycles, not in {waves.first}"
        )
    return waves


def simulate(
    harness: Harness,
    workload: Workload,
    report: Progress,
    *,
    waves: Waves | None = None,
    interactive: bool = False,
    hang_cycles: int = HANG_CYCLES,
    initial_state: InitialState = PLAIN,
) -> tuple[Outcome, Path | None]:
    """Run a workload in a built harness, up to the last cycle of ``waves``; returns the outcome and the waveform's
    path, None if the run ends before the first.

    The run is replayed, unless there is a waveform, or ``interactive``. What a replay objects to is explained by an
    interactive run, which has to find the same; raises :class:`SimulatorError` if it does not.
    """
    with tempfile.TemporaryDirectory(prefix="lockstep-", dir=harness.directory) as name, named(scratch := Path(name)):
        plusargs = [write_values(harness.config, workload, scratch / "values")]
        plusargs += initial_state.plusargs(harness.simulator)
        replayed = None
        if not (waves or interactive):
            side = GoldenSide(harness.scheme, harness.config, workload, hang_cycles, initial_state)
            replayed = replay(harness, side, scratch, plusargs, _instructions(side, workload, report), run_module)
            if replayed.outcome:
                return replayed.outcome, None
        form = waves.format(harness.simulator) if waves else ""
        recorded = scratch / f"waveform.{form}"
        if waves:
            plusargs += [f"+wave={recorded}", f"+dump_from={waves.first}"]
        plan = _plan(harness, workload, scratch, waves.last if waves else None, hang_cycles, initial_state)
        total = workload.instructions
        with _Watch(plan.progress, lambda done: report("simulate", done, total)), dumping(harness.simulator, form):
            environment = {PLAN_VARIABLE: str(scratch / "plan.json")}
            run_module(harness, "warpfile.sim.bench", scratch, plusargs, environment, plan.outcome)
        outcome = Outcome.load(plan.outcome)
        waveform = _kept(harness, waves.path, recorded) if waves else None
    if replayed:
        replayed.must_agree(outcome)
    return outcome, waveform


def _kept(harness: Harness, wanted: Path | None, recorded: Path) -> Path | None:
    """The waveform in its place, with the files for its viewers."""
    if not recorded.exists():
        return None
    path = (wanted or harness.directory / recorded.name).resolve()
    machine = (harness.directory / MACHINE_FILE).read_text()
    groups = view(harness.scheme, harness.config)
    for file, text in viewer_files(path, groups, [*instances(machine, MACHINE)]).items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    shutil.move(recorded, path)
    return path


def _instructions(side: GoldenSide, workload: Workload, report: Progress) -> Callable[[], None]:
    total = workload.instructions
    return lambda: report("simulate", side.environment.instructions, total)


def _plan(
    harness: Harness, workload: Workload, scratch: Path, stop: int | None, hang_cycles: int, initial_state: InitialState
) -> Plan:
    workload.trace.save(scratch / "trace.npz")
    plan = Plan(
        scheme=harness.scheme.name,
        config=harness.config,
        trace=scratch / "trace.npz",
        outcome=scratch / "outcome.json",
        progress=scratch / "progress",
        stop_cycle=stop,
        reset_after=initial_state.reset_after,
        hang_cycles=hang_cycles,
    )
    plan.save(scratch / "plan.json")
    return plan


def run_module(
    harness: Harness, module: str, scratch: Path, plusargs: list[str], environment: dict[str, str], produced: Path
) -> None:
    """Run one cocotb module in a built harness. Raises :class:`SimulatorError` unless it wrote ``produced``."""
    environment = {"COCOTB_LOG_LEVEL": "WARNING", "PYGPI_USERS": ",".join(ENTRIES)} | environment
    said = simulators.run_cocotb(
        harness.simulator, harness.directory, TOPLEVEL, module, scratch, plusargs=plusargs, environment=environment
    )
    if not produced.exists():
        tail = " | ".join(said.splitlines()[-12:])
        raise SimulatorError(f"the simulation ended without a result: {tail}")


class _Watch:
    """Reports what the bench writes to its progress file, until the context ends."""

    def __init__(self, path: Path, report: Callable[[int], None]) -> None:
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
                self._report(int(words[1]))
