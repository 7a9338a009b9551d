"""Running mutants in lockstep on stress traces and kernels until each is killed, or all are used up."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from warpfile.schemes import Scheme
from warpfile.sim.build import Harness, build_harness
from warpfile.sim.explain import differing_fields, fault_name
from warpfile.sim.feeding import judge
from warpfile.sim.harness import write_values
from warpfile.sim.mutant_bench import MUTANTS_VARIABLE, NO_MUTANT, found_path
from warpfile.sim.mutants import Mutant
from warpfile.sim.plan import HANG_CYCLES
from warpfile.sim.replay import FOUND_VARIABLE, Found
from warpfile.sim.runner import run_module
from warpfile.sim.simulators import SimulatorError
from warpfile.sim.stream import GoldenSide
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stress import stress_trace
from warpfile.spec.stress.directed import drain_trace, levels_trace, save_trace, stray_trace
from warpfile.spec.stress.directed_sharing import (
    beside_trace,
    brim_trace,
    far_trace,
    pending_trace,
    starved_trace,
    turns_trace,
    twins_trace,
)
from warpfile.spec.stress.pending import borrow_trace, queue_trace, release_trace, repeat_trace
from warpfile.spec.stress.random_sharing import crowd_trace, share_trace
from warpfile.spec.stress.slices import fill_trace, march_trace, pair_trace, stack_trace
from warpfile.spec.trace import TOKENS, Drain, Kind, Port, StaticInstruction, Trace
from warpfile.spec.workload import Workload, WorkloadError, prepare

#: How Verilator ends a simulation whose logic drives itself.
_UNSETTLED = "did not converge"


class Load(Protocol):
    """Something that a campaign runs."""

    @property
    def name(self) -> str:
        """What the report calls it."""

    def workload(self, scheme: Scheme, cfg: Config) -> Workload | None:
        """What a configuration of a scheme runs; None where it does not fit."""


@dataclass(frozen=True)
class Stress:
    """The parameters of one stress trace: CTAs of unlike sizes that do not all fit at once."""

    profile: str
    seed: int
    registers: int
    ctas: int = 20
    length: int = 120
    sizes: tuple[int, ...] = (3, 1, 2, 4)

    @property
    def name(self) -> str:
        """What the report calls it."""
        return f"{self.profile} {self.seed}/{self.registers}"

    def workload(self, scheme: Scheme, cfg: Config) -> Workload:
        """The trace, annotated for a scheme and prepared."""
        return prepare(cfg, self.trace(scheme, cfg))

    def trace(self, scheme: Scheme, cfg: Config) -> Trace:
        """The trace, annotated for a scheme; with odd seeds hints are loosened at random.

        Some instructions of the SFU and of memory write a token too, which stress programs leave to the ALU.
        """
        trace = stress_trace(
            self.seed,
            warps_per_cta=list(self.sizes),
            ctas=self.ctas,
            length=self.length,
            registers=self.registers,
            profile=self.profile,
        )
        rng = random.Random(f"{self.name} tokens")
        program = tuple(_releasing(rng, static) for static in trace.program)
        return scheme.annotated(cfg, replace(trace, program=program), self.seed if self.seed % 2 else None)


@dataclass(frozen=True)
class Numbered(Stress):
    """A stress trace of as many CTAs as there are numbers for its beats, of those in ``fewer`` if need be."""

    fewer: tuple[int, ...] = ()

    def workload(self, scheme: Scheme, cfg: Config) -> Workload:
        """See :class:`Stress`; a pass may have inserted so many beats that fewer CTAs do."""
        try:
            return super().workload(scheme, cfg)
        except WorkloadError:
            if not self.fewer:
                raise
            return replace(self, ctas=self.fewer[0], fewer=self.fewer[1:]).workload(scheme, cfg)


def _releasing(rng: random.Random, static: StaticInstruction) -> StaticInstruction:
    other = static.port in (Port.SFU, Port.LSU) and rng.random() < 0.3
    return replace(static, token_writes=1 << rng.randrange(TOKENS)) if other else static


@dataclass(frozen=True)
class Made:
    """A trace that is the same for every machine of those that it is for."""

    name: str
    make: Callable[[], Trace]
    machines: Callable[[Scheme, Config], bool] = lambda scheme, cfg: True

    def workload(self, scheme: Scheme, cfg: Config) -> Workload | None:
        """The trace, annotated for a scheme and prepared; None for others, or with too many warps or beats."""
        return _fitting(scheme, cfg, self.make()) if self.machines(scheme, cfg) else None


def _profiles(scheme: Scheme, cfg: Config) -> bool:
    return any(probe.name == "profiling" for probe in scheme.probes(cfg))


@dataclass(frozen=True)
class Borrows:
    """Warps that need many registers for a moment each, for machines with pseudo-instructions; hints are loosened.

    A CTA has ``warps`` warps, or as many as the machine.
    """

    seed: int
    registers: int
    warps: int = 0

    @property
    def name(self) -> str:
        """What the report calls it."""
        return f"borrow {self.seed}/{self.registers}"

    def workload(self, scheme: Scheme, cfg: Config) -> Workload | None:
        """The trace, annotated for a scheme and prepared; None where its CTAs do not fit."""
        if not cfg.operand_bits:
            return None
        return _fitting(scheme, cfg, borrow_trace(self.seed, self.registers, self.warps or cfg.warps), self.seed)


@dataclass(frozen=True)
class Sections:
    """A trace whose sections have ``extended`` registers, for machines with sections; with ``lost`` without any ACQ."""

    name: str
    make: Callable[[], Trace]
    extended: int
    lost: bool = False

    def workload(self, scheme: Scheme, cfg: Config) -> Workload | None:
        """The trace, annotated for a scheme and prepared; None for machines without sections."""
        if not has_sections(cfg):
            return None
        trace = scheme.annotated(replace(cfg, es_override=self.extended), self.make())
        program = tuple(map(_without_section, trace.program)) if self.lost else trace.program
        return prepare(cfg, replace(trace, program=program))


def has_sections(cfg: Config) -> bool:
    """Whether a machine's warps have sections of a size that can be asked for."""
    return "es_override" in {field.name for field in fields(cfg)}


def _without_section(static: StaticInstruction) -> StaticInstruction:
    """A REL for an ACQ."""
    return replace(static, operand=0, drain=Drain.DISPATCHED) if static.kind == Kind.SCHEME else static


@dataclass(frozen=True)
class Meets:
    """Warps whose loads meet, for machines that keep loads whose words they have."""

    kind: str
    make: Callable[..., Trace]
    seed: int | None = None
    loosened: bool = False

    @property
    def name(self) -> str:
        """What the report calls it."""
        return self.kind if self.seed is None else f"{self.kind} {self.seed}"

    def workload(self, scheme: Scheme, cfg: Config) -> Workload | None:
        """The trace, annotated for a scheme and prepared; None where its CTAs do not fit."""
        if not cfg.gives.absorbs:
            return None
        trace = self.make() if self.seed is None else self.make(self.seed)
        return _fitting(scheme, cfg, trace, self.seed if self.loosened else None)


def _fitting(scheme: Scheme, cfg: Config, trace: Trace, loosened: int | None = None) -> Workload | None:
    try:
        return prepare(cfg, scheme.annotated(cfg, trace, loosened))
    except WorkloadError:
        return None


#: A short trace kills most. Different numbers of registers give the warps different bases; with 63 every name is used,
#: but on ``tiny`` only four warps have room.
TRACES: tuple[Load, ...] = (
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
    # The same for two ports in one cycle.
    Stress("chain", 201, 50, 60),
    # Every register pending while every other one is released, port by port, in one of the turns for its warps.
    *(Made(f"release {turn}", partial(release_trace, turn=turn)) for turn in range(4)),
    # More than 3/4 of 65,536 beats: their numbers use every bit of a payload of 16.
    Numbered("mixed", 4, 24, 260, fewer=(160,)),
)

#: All warps at once in the registers that they borrow, which are others from trace to trace.
BORROWED: tuple[Load, ...] = tuple(Borrows(seed, registers) for seed in range(1, 7) for registers in (50, 63, 40))

#: Sections of every size, given up while some register is pending; first accesses without a section.
SECTIONED: tuple[Load, ...] = (
    *(Sections(f"drain {extended}", drain_trace, extended) for extended in range(1, 64)),
    *(Sections(f"stray {one}", partial(stray_trace, one), 22, lost=True) for one in range(42, 50)),
)

#: Loads that are absorbed, by plan: beside stores of every size, while no bank is free, in every row, made of two rows,
#: with two entries.
DIRECTED_SHARING: tuple[Load, ...] = (
    Meets("brim", brim_trace),
    Meets("starved", starved_trace),
    Meets("pending", pending_trace),
    Meets("far", far_trace),
    *(Meets("turns", turns_trace, turn) for turn in (0, 1)),
    Meets("beside", beside_trace),
    Meets("twins", twins_trace),
)

#: The same at random, in low rows and in high ones.
RANDOM_SHARING: tuple[Load, ...] = (
    *(Meets("share", share_trace, seed, loosened=seed % 2 == 1) for seed in range(16)),
    *(Meets("crowd", crowd_trace, seed, loosened=seed % 2 == 1) for seed in range(24)),
)

#: What fits in a row, in every row, for machines whose values share rows.
MARCHING: tuple[Load, ...] = tuple(
    Made(f"{name} {number}", partial(make, number), lambda scheme, cfg: cfg.gives.slices)
    for name, make, count in (("march", march_trace, 14), ("levels", levels_trace, 4))
    for number in range(count)
)

#: Every register often, of a machine of 64; they are long, and for machines that count what a kernel reads and writes.
COUNTED: tuple[Load, ...] = tuple(Made(f"repeat {pair}", partial(repeat_trace, pair), _profiles) for pair in range(32))

#: Found by search or made for one corner: a result for a line that leaves its cache in that cycle, in the second place;
#: the last register as the last one of a hint, and a partner in one particular row, for which only four warps have
#: room; a narrow value while all low rows are full; narrow values in one particular row of 128, above full ones, and a
#: pair in one while another has a gap; eight loads at once under one dependence counter, and more than 32; every pair
#: of registers of which one is saved while the other one is loaded.
SEARCHED: tuple[Load, ...] = (
    Stress("mask", 63, 38, 20, 300, (3, 1, 2)),
    Borrows(2, 64, 4),
    Borrows(4, 64, 4),
    Made("fill 0/63", partial(fill_trace, 0)),
    *(
        Made(f"stack {seed}/{wide}", partial(stack_trace, seed, wide))
        for seed, wide in ((4, 35), (5, 55), (0, 59), (18, 62))
    ),
    Made("pairs 36", partial(pair_trace, 36)),
    Made("queue 0", partial(queue_trace, 0)),
    Made("queue 3", partial(queue_trace, 3, counter=3, far=True)),
    Made("save", save_trace),
)


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
    loads: Iterable[Load],
    root: Path,
    progress: Progress = str,
) -> list[Verdict]:
    """Run each mutant in lockstep, on one load after the other until it is killed.

    The machine without a mutant has to pass every load that is used; raises ``ValueError`` if it does not. A run that
    breaks off for another reason than the mutant's is a :class:`SimulatorError`, never a kill.
    """
    verdicts = {mutant.number: Verdict(mutant) for mutant in mutants}
    for load in loads:
        left = [number for number, verdict in verdicts.items() if not verdict.killed]
        if not left:
            break
        workload = load.workload(scheme, cfg)
        if workload is None:
            continue
        harness = build_harness(scheme, cfg, workload, "verilator", root, verilog=verilog, optimised=True)
        for number, found in _differences(harness, workload, left, load.name).items():
            verdicts[number] = Verdict(verdicts[number].mutant, load.name, *found)
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
        run_module(harness, "warpfile.sim.mutant_bench", scratch, plusargs, environment, finished)
        sound = _found(found_path(finished, NO_MUTANT))
        if sound is None or not judge(side, sound).outcome:
            different = _difference(layout, sound) or judge(side, sound).objection
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
