"""What a campaign of mutants runs: kinds of traces, each for the machines that it fits."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Protocol

from warpfile.schemes import Scheme
from warpfile.spec.config import Config
from warpfile.spec.stress import stress_trace
from warpfile.spec.stress.pending import borrow_trace
from warpfile.spec.trace import TOKENS, Drain, Kind, Port, StaticInstruction, Trace
from warpfile.spec.workload import Workload, WorkloadError, prepare


class Case(Protocol):
    """Something that a campaign runs."""

    @property
    def name(self) -> str:
        """What the report calls it."""

    def workload(self, scheme: Scheme, cfg: Config) -> Workload | None:
        """What a configuration of a scheme runs; None where it does not fit."""


@dataclass(frozen=True)
class StressTrace:
    """The parameters of one stress trace: CTAs of unlike sizes that do not all fit at once.

    ``tokens``: every instruction with a destination writes a token too.
    """

    profile: str
    seed: int
    registers: int
    ctas: int = 20
    length: int = 120
    sizes: tuple[int, ...] = (3, 1, 2, 4)
    tokens: bool = False

    @property
    def name(self) -> str:
        """What the report calls it."""
        return f"{self.profile} {self.seed}/{self.registers}" + " with tokens" * self.tokens

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
        program = tuple(_releasing(rng, static, self.tokens) for static in trace.program)
        return scheme.annotated(cfg, replace(trace, program=program), self.seed if self.seed % 2 else None)


@dataclass(frozen=True)
class NumberedTrace(StressTrace):
    """A stress trace of as many CTAs as there are numbers for its beats, of those in ``fewer`` if need be."""

    fewer: tuple[int, ...] = ()

    def workload(self, scheme: Scheme, cfg: Config) -> Workload:
        """See :class:`StressTrace`; a pass may have inserted so many beats that fewer CTAs do."""
        try:
            return super().workload(scheme, cfg)
        except WorkloadError:
            if not self.fewer:
                raise
            return replace(self, ctas=self.fewer[0], fewer=self.fewer[1:]).workload(scheme, cfg)


def _releasing(rng: random.Random, static: StaticInstruction, always: bool) -> StaticInstruction:
    other = static.dest_count > 0 if always else static.port in (Port.SFU, Port.LSU) and rng.random() < 0.3
    return replace(static, token_writes=1 << rng.randrange(TOKENS)) if other else static


@dataclass(frozen=True)
class FixedTrace:
    """A trace that is the same for every machine of those that it is for."""

    name: str
    make: Callable[[], Trace]
    machines: Callable[[Scheme, Config], bool] = lambda scheme, cfg: True

    def workload(self, scheme: Scheme, cfg: Config) -> Workload | None:
        """The trace, annotated for a scheme and prepared; None for others, or with too many warps or beats."""
        return _fitting(scheme, cfg, self.make()) if self.machines(scheme, cfg) else None


def counts_accesses(scheme: Scheme, cfg: Config) -> bool:
    """Whether a machine counts what a kernel reads and writes."""
    return any(probe.name == "profiling" for probe in scheme.probes(cfg))


@dataclass(frozen=True)
class BorrowTrace:
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
class SectionTrace:
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


@dataclass(frozen=True)
class UncachedTrace:
    """A trace whose intervals have no registers, for machines with intervals: nothing that it writes is cached."""

    name: str
    make: Callable[[], Trace]

    def workload(self, scheme: Scheme, cfg: Config) -> Workload | None:
        """The trace, annotated for a scheme and prepared; None for machines without intervals."""
        if not has_intervals(cfg):
            return None
        trace = scheme.annotated(cfg, self.make())
        program = (replace(static, operand=0) if static.kind == Kind.SCHEME else static for static in trace.program)
        return prepare(cfg, replace(trace, program=tuple(program)))


def has_intervals(cfg: Config) -> bool:
    """Whether a machine is told which registers an interval of the code has."""
    return "interval_registers" in {field.name for field in fields(cfg)}


def has_sections(cfg: Config) -> bool:
    """Whether a machine's warps have sections of a size that can be asked for."""
    return "es_override" in {field.name for field in fields(cfg)}


def _without_section(static: StaticInstruction) -> StaticInstruction:
    """A REL for an ACQ."""
    return replace(static, operand=0, drain=Drain.DISPATCHED) if static.kind == Kind.SCHEME else static


@dataclass(frozen=True)
class SharingTrace:
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
