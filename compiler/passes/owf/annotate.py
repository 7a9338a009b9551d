"""Traces of kernels whose CTAs share registers: registers renamed, and the four numbers in the descriptor."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from warpfile.compiler.model import Function
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.passes.owf.choice import Limits, Sets, choose, drawn
from warpfile.compiler.passes.owf.order import Order, ordered
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.compiler.passes.unknown_code import unknown
from warpfile.compiler.program import static_instructions
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import cta_limit
from warpfile.spec.rewrite import rewritten
from warpfile.spec.schemes.owf import OwfConfig
from warpfile.spec.trace import Trace
from warpfile.spec.workload import dealt_ctas

_CTA_WARPS = 4  #: of a launch that is not known
_FIELDS = (
    *("private_percent", "register_unit", "warps", "ctas", "banks", "rows", "shared_bytes", "domains", "domain"),
)


def label(cfg: Config) -> str:
    """What names and descriptor hold for."""
    return " ".join(f"{name}={getattr(cfg, name)}" for name in _FIELDS)


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with new register names and the descriptor. Without a listing, or with a seed, names stay."""
    assert isinstance(cfg, OwfConfig)
    limits, function = limits_of(cfg, trace), listed_function(trace)
    if loosened is not None:
        sets = drawn(limits, random.Random(f"owf {loosened} {trace.kernel}"))
        return replace(trace, descriptor=trace.descriptor | sets.descriptor)
    sets = choose(limits, cfg.private_percent)
    order = ordered(function, trace.registers) if function is not None and sets.groups else Order()
    return renamed(trace, order.names, sets)


def limits_of(cfg: OwfConfig, trace: Trace) -> Limits:
    """What bounds the CTAs of a launch."""
    ctas = dealt_ctas(cfg, trace)
    registers = max(1, cfg.allocated(trace.registers))
    return Limits(cfg.banks * cfg.rows, cfg.warps, registers, cta_limit(cfg, trace), tuple(map(len, ctas)))


def renamed(trace: Trace, names: Mapping[int, int], sets: Sets) -> Trace:
    """The trace with these register names. Raises ``RewriteError`` where an instruction would read other values."""
    descriptor = trace.descriptor | sets.descriptor
    if all(old == new for old, new in names.items()):
        return replace(trace, descriptor=descriptor)
    every = np.zeros(trace.records, dtype=np.int64)
    return rewritten(trace, renamings=[names], renaming=every, descriptor=descriptor)


def shown(function: Function, cfg: Config) -> Mapping[int, str]:
    """By offset, the new numbers of an instruction's registers; at the start what holds for all.

    The launch is not known: CTAs count as four warps each, as many as there are slots for.
    """
    assert isinstance(cfg, OwfConfig)
    if reason := next((unknown(one) for one in function.instructions if not is_known(one.opcode)), ""):
        return {0: f"the number of registers is not known: {reason}"}
    statics = static_instructions(function)
    registers = 1 + max((register for one in statics for register in (*one.sources, *one.dests)), default=0)
    members = max(1, -(-(_CTA_WARPS - cfg.domain) // cfg.domains))
    most = cfg.cta_slots
    limits = Limits(cfg.banks * cfg.rows, cfg.warps, max(1, cfg.allocated(registers)), most, (members,) * most)
    sets = choose(limits, cfg.private_percent)
    if not sets.groups:
        return {0: f"private {sets.private}, shared 0: registers do not limit the CTAs, or sharing does not help"}
    order = ordered(function, registers)
    reason = f", numbers as they are: {order.reason}" if order.reason else ""
    pairs = f"{2 * sets.groups} of {limits.resident(sets.private, sets.groups)} CTAs share"
    found = {0: f"private {sets.private}, shared {sets.shared}, {pairs}{reason}"}
    for index, static in enumerate(statics):
        registers_here = dict.fromkeys((*static.sources, *static.dests))
        changed = [(old, order.names[old]) for old in registers_here if order.names.get(old, old) != old]
        if changed:
            text = ", ".join(f"R{old} as R{new}" for old, new in changed)
            found[16 * index] = f"{found[0]}; {text}" if index == 0 else text
    return found
