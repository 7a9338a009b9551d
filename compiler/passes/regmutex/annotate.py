"""Traces of kernels that borrow registers: rewritten, with the sizes of both sets in the descriptor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.model import Function
from warpfile.compiler.passes.regmutex.apply import applied
from warpfile.compiler.passes.regmutex.choice import Limits
from warpfile.compiler.passes.regmutex.exact import borrowed
from warpfile.compiler.passes.regmutex.static import Plan, planned, unsuitable
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.compiler.program import static_instructions
from warpfile.spec.config import Config
from warpfile.spec.schemes.regmutex import RegMutexConfig
from warpfile.spec.trace import Trace

_FIELDS = ("sharing", "pair_state", "es_rule", "es_override", "auto_off", "merge_gap", "hoist")
_CTA_WARPS = 4  #: of a launch that is not known
_PLACES = ("warps", "ctas", "banks", "rows", "shared_bytes", "domains", "domain")


def label(cfg: Config) -> str:
    """What the stream and its descriptor hold for."""
    return " ".join(f"{name}={getattr(cfg, name)}" for name in (*_FIELDS, *_PLACES))


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with ACQ and REL, by the listing, or without one (or with a seed) by the stream itself.

    Raises ``ValueError`` where what the configuration asks for cannot be.
    """
    assert isinstance(cfg, RegMutexConfig)
    limits, function = limits_of(cfg, trace), listed_function(trace)
    if function is None or loosened is not None:
        return borrowed(cfg, trace, limits, loosened)
    plan = planned(function, trace.registers, limits, cfg)
    descriptor = trace.descriptor | sets(cfg, limits, plan.base, plan.extended)
    if not plan.extended:
        return replace(trace, descriptor=descriptor)
    return applied(trace, build_cfg(function), plan.rewriting, descriptor)


def limits_of(cfg: RegMutexConfig, trace: Trace) -> Limits:
    """What bounds the warps of a launch: the domain has its share of the largest CTA's."""
    sizes: dict[int, int] = {}
    for cta in trace.warp_cta.tolist():
        sizes[cta] = sizes.get(cta, 0) + 1
    share = _share(cfg, max(sizes.values()))
    shared = cfg.shared_bytes // trace.shared_bytes if trace.shared_bytes else cfg.cta_slots
    ctas = min(cfg.cta_slots, shared)
    return Limits(cfg.warps, cfg.banks * cfg.rows, share, ctas, cfg.paired, cfg.register_unit, len(sizes))


def _share(cfg: RegMutexConfig, warps: int) -> int:
    """Warps that the domain runs of a CTA of so many."""
    return max(1, -(-(warps - cfg.domain) // cfg.domains))


def sets(cfg: RegMutexConfig, limits: Limits, base: int, extended: int) -> dict[str, int]:
    """The descriptor's fields."""
    if not extended:
        return {"base_registers": base, "extended_registers": 0, "pool": 0, "sections": 0}
    pool = 0 if cfg.paired else base * limits.occupancy(base, extended)
    sections = limits.sections(base, extended)
    return {"base_registers": base, "extended_registers": extended, "pool": pool, "sections": sections}


def shown(function: Function, cfg: Config) -> Mapping[int, str]:
    """By offset, what is inserted there and under which names an instruction runs; at the start what holds for all.

    The launch is not known: CTAs count as four warps each, without shared memory, as many as there are slots for.
    """
    assert isinstance(cfg, RegMutexConfig)
    plan = _unlaunched(function, cfg)
    found = {0: _summary(plan)}
    for (_, block), code in plan.rewriting.edges.items():
        offset = 16 * build_cfg(function).blocks[block].start
        text = f"some edges: {', '.join(one.text for one in code)}"
        found[offset] = "; ".join(dict.fromkeys((*filter(None, (found.get(offset),)), text)))
    for index, code in sorted(plan.rewriting.before.items()):
        _note(found, 16 * index, ", ".join(one.text for one in code))
    for index, names in plan.rewriting.names.items():
        changed = ", ".join(f"R{old} as R{new}" for old, new in sorted(names.items()) if old != new)
        if changed:
            _note(found, 16 * index, changed)
    return dict(sorted(found.items()))


def _note(found: dict[int, str], offset: int, text: str) -> None:
    found[offset] = f"{found[offset]}; {text}" if offset in found else text


def _unlaunched(function: Function, cfg: RegMutexConfig) -> Plan:
    """The plan without a launch; a function whose operands are not known has none."""
    problem = unsuitable(function)
    if problem:
        return Plan(function.registers or 0, reason=problem)
    statics = static_instructions(function)
    registers = 1 + max((register for one in statics for register in (*one.sources, *one.dests)), default=0)
    cta_warps = min(_share(cfg, _CTA_WARPS), cfg.warps)
    limits = Limits(cfg.warps, cfg.banks * cfg.rows, cta_warps, cfg.cta_slots, cfg.paired, cfg.register_unit)
    try:
        return planned(function, registers, limits, cfg)
    except ValueError as error:
        return Plan(registers, reason=str(error))


def _summary(plan: Plan) -> str:
    counts = ", ".join(f"{name} {count}" for name, count in plan.counts.items())
    text = f"base {plan.base}, extended {plan.extended}"
    return f"{text}, {counts}" if plan.extended else f"{text}: {plan.reason}"
