"""The list of hot registers in the kernel's descriptor."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from warpfile.compiler.model import Function
from warpfile.compiler.passes.pilot.exact import accesses
from warpfile.compiler.passes.pilot.static import hottest, occurrences
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.spec.config import Config
from warpfile.spec.schemes.pilot import PilotConfig
from warpfile.spec.trace import Trace


def label(cfg: Config) -> str:
    """What a list holds for."""
    assert isinstance(cfg, PilotConfig)
    weight = "" if cfg.weight == "code" else f" weight={cfg.weight}"
    return f"{cfg.profile} fast_registers={cfg.fast_registers} register_names={cfg.register_names}{weight}"


def shown(function: Function, cfg: Config) -> Mapping[int, tuple[int, ...]]:
    """At the kernel's first instruction: its hot registers, as the code tells."""
    assert isinstance(cfg, PilotConfig)
    return {0: _hot(cfg, _named(cfg, function))}


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with its hot registers, if the configuration wants any; with a seed any registers that it has.

    Without a listing, occurrences are those in the instructions that the trace knows.
    """
    assert isinstance(cfg, PilotConfig)
    if not cfg.listed:
        return trace
    if loosened is not None:
        hot: Sequence[int] = _drawn(cfg, trace.registers, loosened)
    else:
        hot = _hot(cfg, accesses(trace) if cfg.profile == "oracle" else _occurrences(cfg, trace))
    hot = (*hot, *[cfg.marker] * (cfg.fast_registers - len(hot)))
    return replace(trace, descriptor=trace.descriptor | {f"hot{k}": register for k, register in enumerate(hot)})


def _hot(cfg: PilotConfig, counts: Counter[int]) -> tuple[int, ...]:
    """At most as many as the fast part has; the marker is the name of none."""
    return hottest(
        {register: count for register, count in counts.items() if register != cfg.marker}, cfg.fast_registers
    )


def _named(cfg: PilotConfig, function: Function) -> Counter[int]:
    return occurrences(function, loops=cfg.weight == "loop10")


def _occurrences(cfg: PilotConfig, trace: Trace) -> Counter[int]:
    function = listed_function(trace)
    if function is not None:
        return _named(cfg, function)
    return Counter(register for static in trace.program for register in (*static.sources, *static.dests))


def _drawn(cfg: PilotConfig, registers: int, seed: int) -> list[int]:
    """Registers in any order, with places between them that are not used."""
    rng = random.Random(f"{seed} {registers}")
    known = range(min(registers, cfg.marker))
    hot = rng.sample(known, min(cfg.fast_registers, len(known)))
    return [register if rng.random() < 0.8 else cfg.marker for register in hot]
