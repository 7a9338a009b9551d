"""Running mutants in lockstep on stress traces until each is killed, or all traces are used up."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from warpfile.schemes import Scheme
from warpfile.sim.build import Harness, build_harness
from warpfile.sim.harness import write_memories
from warpfile.sim.mutant_bench import MUTANTS_VARIABLE, NO_MUTANT, outcome_path
from warpfile.sim.mutants import Mutant
from warpfile.sim.plan import PLAN_VARIABLE, Outcome, Plan
from warpfile.sim.runner import run_module
from warpfile.sim.simulators import SimulatorError
from warpfile.spec.config import Config
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import TOKENS, Port, StaticInstruction, Trace
from warpfile.spec.workload import Workload, prepare

#: How Verilator ends a simulation whose logic drives itself.
_UNSETTLED = "did not converge"


@dataclass(frozen=True)
class Stress:
    """The parameters of one stress trace: CTAs of unlike sizes that do not all fit at once."""

    profile: str
    seed: int
    registers: int
    ctas: int = 20

    @property
    def name(self) -> str:
        """What the report calls it."""
        return f"{self.profile} {self.seed}/{self.registers}"

    def trace(self, scheme: Scheme, cfg: Config) -> Trace:
        """The trace, annotated for a scheme; with odd seeds hints are loosened at random.

        Some instructions of the SFU and of memory write a token too, which stress programs leave to the ALU.
        """
        sizes = [3, 1, 2, 4]
        trace = stress_trace(
            self.seed, warps_per_cta=sizes, ctas=self.ctas, length=120, registers=self.registers, profile=self.profile
        )
        rng = random.Random(f"{self.name} tokens")
        program = tuple(_releasing(rng, static) for static in trace.program)
        return scheme.annotated(cfg, replace(trace, program=program), self.seed if self.seed % 2 else None)


def _releasing(rng: random.Random, static: StaticInstruction) -> StaticInstruction:
    other = static.port in (Port.SFU, Port.LSU) and rng.random() < 0.3
    return replace(static, token_writes=1 << rng.randrange(TOKENS)) if other else static


#: A short trace kills most. Different numbers of registers give the warps different bases; with 63 every name is used,
#: but on ``tiny`` only four warps have room.
TRACES = (
    Stress("mixed", 0, 24, 9),
    *(
        Stress(profile, seed, registers)
        for seed in range(1, 4)
        for registers in (50, 63, 37)
        for profile in ("predicate", "wide", "chain", "mixed", "bank", "control")
    ),
    # Found by search: the SFU or memory releases one particular register or token while another one is pending.
    Stress("chain", 122, 50),
    Stress("memory", 122, 50),
    Stress("memory", 15, 63),
)


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: the stress trace that killed it, in which cycle and by which fields; or nothing."""

    mutant: Mutant
    trace: str = ""
    cycle: int = 0
    fields: tuple[str, ...] = ()
    equivalent: bool = False
    reason: str = ""

    @property
    def killed(self) -> bool:
        """Whether some run differed from the golden model."""
        return bool(self.trace)

    @property
    def open(self) -> bool:
        """Whether nobody knows why it survives."""
        return not (self.killed or self.equivalent or self.reason)

    @property
    def result(self) -> str:
        """One phrase for the table."""
        if self.killed:
            return f"killed by `{self.trace}` in cycle {self.cycle}: {', '.join(self.fields)}"
        if self.equivalent:
            return "proven equivalent"
        return f"survives: {self.reason}" if self.reason else "**open**"


Progress = Callable[[Verdict], object]


def campaign(
    scheme: Scheme,
    cfg: Config,
    verilog: str,
    mutants: Sequence[Mutant],
    traces: Iterable[Stress],
    root: Path,
    progress: Progress = str,
) -> list[Verdict]:
    """Run each mutant in lockstep, on one trace after the other until it is killed.

    The machine without a mutant has to pass every trace that is used; raises ``ValueError`` if it does not. A run that
    breaks off for another reason than the mutant's is a :class:`SimulatorError`, never a kill.
    """
    verdicts = {mutant.number: Verdict(mutant) for mutant in mutants}
    for stress in traces:
        left = [number for number, verdict in verdicts.items() if not verdict.killed]
        if not left:
            break
        workload = prepare(cfg, stress.trace(scheme, cfg))
        harness = build_harness(scheme, cfg, workload, "verilator", root, verilog=verilog, optimised=True)
        for number, found in _differences(harness, workload, left, stress.name).items():
            verdicts[number] = Verdict(verdicts[number].mutant, stress.name, *found)
            progress(verdicts[number])
    return list(verdicts.values())


def _differences(
    harness: Harness, workload: Workload, numbers: Sequence[int], name: str
) -> dict[int, tuple[int, tuple[str, ...]]]:
    """Cycle and fields of the first difference, for each mutant that shows one on the workload called ``name``."""
    with tempfile.TemporaryDirectory(prefix="mutants-", dir=harness.directory) as folder:
        scratch = Path(folder)
        workload.trace.save(scratch / "trace.npz")
        files = {name: scratch / name for name in ("outcome", "progress")}
        plan = Plan(scheme=harness.scheme.name, config=harness.config, trace=scratch / "trace.npz", **files)
        plan.save(scratch / "plan.json")
        memories = [f"+{key}={path}" for key, path in write_memories(harness.config, workload, scratch).items()]
        environment = {PLAN_VARIABLE: str(scratch / "plan.json"), MUTANTS_VARIABLE: json.dumps([NO_MUTANT, *numbers])}
        run_module(harness, "warpfile.sim.mutant_bench", scratch, memories, environment, plan.outcome)
        if sound := _difference(outcome_path(plan, NO_MUTANT)):
            raise ValueError(f"the machine without a mutant must pass {name}, not differ in {sound}")
        found = {number: _difference(outcome_path(plan, number)) for number in numbers}
        return {number: difference for number, difference in found.items() if difference}


def _difference(path: Path) -> tuple[int, tuple[str, ...]] | None:
    if path.exists():
        first = Outcome.load(path).first_mismatch
        return (int(str(first["cycle"])), tuple(first["fields"])) if first else None
    log = path.with_suffix(".log")
    text = log.read_text(errors="replace") if log.exists() else "no log"
    if _UNSETTLED in text:
        return 0, ("the logic does not settle",)
    raise SimulatorError(f"the run of {path.stem} broke off: {' | '.join(text.splitlines()[-4:])}")
