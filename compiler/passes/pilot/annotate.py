"""The list of hot registers in the kernel's descriptor."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from warpfile.spec.beat import distinct_sources
from warpfile.spec.config import Config
from warpfile.spec.schemes.pilot import PilotConfig
from warpfile.spec.trace import Trace


def label(cfg: Config) -> str:
    """What a list holds for."""
    assert isinstance(cfg, PilotConfig)
    return f"{cfg.profile} fast_registers={cfg.fast_registers} register_names={cfg.register_names}"


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with its hot registers, if the configuration wants any; with a seed any registers that it has."""
    assert isinstance(cfg, PilotConfig)
    if not cfg.listed:
        return trace
    if loosened is not None:
        hot = _drawn(cfg, trace.registers, loosened)
    else:
        hot = hottest(executed_counts(trace) if cfg.profile == "oracle" else static_counts(trace), cfg)
    hot += [cfg.marker] * (cfg.fast_registers - len(hot))
    return replace(trace, descriptor=trace.descriptor | {f"hot{k}": register for k, register in enumerate(hot)})


def hottest(counts: Counter[int], cfg: PilotConfig) -> list[int]:
    """The registers with the largest counts, at most as many as the fast part has; equal ones by number."""
    known = [register for register, count in counts.items() if count and register < cfg.marker]
    return sorted(known, key=lambda register: (-counts[register], register))[: cfg.fast_registers]


def static_counts(trace: Trace) -> Counter[int]:
    """Occurrences of every register as an operand of the code."""
    return Counter(register for static in trace.program for register in (*static.sources, *static.dests))


def executed_counts(trace: Trace) -> Counter[int]:
    """Accesses of all warps: every register that an executed instruction reads, and every one that it writes."""
    times = Counter(trace.instruction[trace.execute != 0].tolist())
    counts: Counter[int] = Counter()
    for index, executed in times.items():
        static = trace.program[index]
        for register in (*distinct_sources(static.sources), *static.dests):
            counts[register] += executed
    return counts


def _drawn(cfg: PilotConfig, registers: int, seed: int) -> list[int]:
    """Registers in any order, among them places that are not used."""
    rng = random.Random(f"{seed} {registers}")
    known = list(range(min(registers, cfg.marker)))
    hot = rng.sample(known, min(cfg.fast_registers, len(known)))
    return [register if rng.random() < 0.8 else cfg.marker for register in hot]
