"""Running mutants in lockstep on stress traces and kernels until each is killed, or all are used up."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from warpfile.schemes import Scheme
from warpfile.sim.build import Harness, build_harness
from warpfile.sim.explain import differing_fields, fault_name
from warpfile.sim.harness import write_values
from warpfile.sim.mutation.bench import MUTANTS_VARIABLE, NO_MUTANT, found_path
from warpfile.sim.mutation.cases import Case
from warpfile.sim.mutation.mutants import Mutant
from warpfile.sim.plan import HANG_CYCLES
from warpfile.sim.replay import FOUND_VARIABLE, Found
from warpfile.sim.replay_host import outcome_of
from warpfile.sim.runner import run_module
from warpfile.sim.simulators import SimulatorError
from warpfile.sim.stream import GoldenSide
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.workload import Workload

#: How Verilator ends a simulation whose logic drives itself.
_UNSETTLED = "did not converge"


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: the trace or kernel that killed it, in which cycle and by which fields; or nothing."""

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
        """Whether the reason of its survival is unknown."""
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
    cases: Iterable[Case],
    root: Path,
    progress: Progress = str,
) -> list[Verdict]:
    """Run each mutant in lockstep, on one case after the other until it is killed.

    The machine without a mutant has to pass every case that is used; raises ``ValueError`` if it does not. A run that
    breaks off for another reason than the mutant's is a :class:`SimulatorError`, never a kill.
    """
    verdicts = {mutant.number: Verdict(mutant) for mutant in mutants}
    for case in cases:
        left = [number for number, verdict in verdicts.items() if not verdict.killed]
        if not left:
            break
        workload = case.workload(scheme, cfg)
        if workload is None:
            continue
        harness = build_harness(scheme, cfg, workload, "verilator", root, verilog=verilog, optimised=True)
        for number, found in _differences(harness, workload, left, case.name).items():
            verdicts[number] = Verdict(verdicts[number].mutant, case.name, *found)
            progress(verdicts[number])
    return list(verdicts.values())


def _differences(
    harness: Harness, workload: Workload, numbers: Sequence[int], name: str
) -> dict[int, tuple[int, tuple[str, ...]]]:
    """Cycle and fields of the first difference, for each mutant that shows one on the workload called ``name``.

    The golden side runs once: as long as a mutant lives, it sees the same inputs as the original machine.
    """
    layout = ProbeLayout(harness.scheme.probes(harness.config))
    with tempfile.TemporaryDirectory(prefix="mutants-", dir=harness.directory) as folder:
        scratch = Path(folder)
        side = GoldenSide(harness.scheme, harness.config, workload, HANG_CYCLES)
        with (scratch / "stream").open("wb") as stream:
            stream.writelines(side.blocks())
        finished = scratch / "finished"
        plusargs = [write_values(harness.config, workload, scratch / "values"), f"+feed={scratch / 'stream'}"]
        environment = {FOUND_VARIABLE: str(finished), MUTANTS_VARIABLE: json.dumps([NO_MUTANT, *numbers])}
        run_module(harness, "warpfile.sim.mutation.bench", scratch, plusargs, environment, finished)
        sound = _found(found_path(finished, NO_MUTANT))
        if sound is None or not outcome_of(side, sound).outcome:
            different = _difference(layout, sound) or outcome_of(side, sound).objection
            raise ValueError(f"the machine without a mutant must pass {name}, not differ in {different}")
        found = {number: _difference(layout, _found(found_path(finished, number))) for number in numbers}
        return {number: difference for number, difference in found.items() if difference}


def _difference(layout: ProbeLayout, found: Found | None) -> tuple[int, tuple[str, ...]] | None:
    """Cycle and fields of a difference; without anything found the logic did not settle."""
    if found is None:
        return 0, ("the logic does not settle",)
    rtl, golden = (int(word, 2) & (1 << layout.width) - 1 for word in (found.rtl, found.golden))
    fields = list(differing_fields(layout, rtl, golden)) if found.differs else []
    if found.rtl.startswith("1") if found.differs else found.faulty:
        fields.append(fault_name(found.fault))
    if not (fields or found.equal):
        raise SimulatorError(f"a mutant's run broke off after {found.compared} cycles")
    return (found.compared, tuple(fields)) if fields else None


def _found(path: Path) -> Found | None:
    """What a run found, None if its logic did not settle. Raises :class:`SimulatorError` if it broke off."""
    if path.exists():
        return Found.load(path)
    log = path.with_suffix(".log")
    text = log.read_text(errors="replace") if log.exists() else "no log"
    if _UNSETTLED in text:
        return None
    raise SimulatorError(f"the run of {path.stem} broke off: {' | '.join(text.splitlines()[-4:])}")
