"""Traces with PREFETCH in their streams, and dead bits on the beats."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from warpfile.compiler.cfg import STEP
from warpfile.compiler.liveness import general_registers
from warpfile.compiler.model import Function
from warpfile.compiler.passes.dead_bits import dead_by_stream, random_subset
from warpfile.compiler.passes.ltrf.code import Code, code_of
from warpfile.compiler.passes.ltrf.dead import dead_by_listing, dead_operands
from warpfile.compiler.passes.ltrf.executed_code import observed
from warpfile.compiler.passes.ltrf.intervals import intervals
from warpfile.compiler.passes.ltrf.lengths import growth
from warpfile.compiler.passes.ltrf.placement import insertions
from warpfile.compiler.passes.ltrf.random_units import again, with_heads, with_registers
from warpfile.compiler.passes.ltrf.strands import strands
from warpfile.compiler.passes.ltrf.units import Units
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.spec.annotation import hinted, on_sources
from warpfile.spec.config import Config
from warpfile.spec.rewrite import rewritten
from warpfile.spec.schemes.ltrf import LtrfConfig
from warpfile.spec.trace import Trace

FORMS: Mapping[str, Callable[[Code, int], Units]] = {"intervals": intervals, "strands": strands}


def label(cfg: Config) -> str:
    """What the stream and the hints hold for."""
    assert isinstance(cfg, LtrfConfig)
    hints = f" source_slots={cfg.source_slots}" if cfg.liveness else ""
    return f"interval_registers={cfg.interval_registers} prefetch_unit={cfg.prefetch_unit}{hints}"


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with a PREFETCH wherever a warp enters a unit, and with ``liveness`` dead bits.

    With a seed both are others that are right too. Raises ``ValueError`` where an instruction names more registers than
    a unit may have.
    """
    assert isinstance(cfg, LtrfConfig)
    rng = None if loosened is None else random.Random(f"{loosened} {trace.kernel} {trace.records}")
    found = prefetched(trace, cfg.interval_registers, cfg.prefetch_unit, rng)
    if not cfg.liveness:
        return found
    masks = np.zeros(found.records, dtype=np.int64)
    masks[~found.inserted] = _dead(trace, rng)
    return hinted(found, on_sources(found, cfg.source_slots, masks) << np.uint64(cfg.hint_at("dead")))


def prefetched(trace: Trace, limit: int, form: str = "intervals", rng: random.Random | None = None) -> Trace:
    """The trace with every PREFETCH, by the listing or without one by what the warps executed."""
    code, places = _code(trace)
    if rng is None:
        return rewritten(trace, list(insertions(trace, FORMS[form](code, limit), places)))
    units = with_registers(rng, FORMS[form](with_heads(rng, code), limit), limit, trace.registers)
    return rewritten(trace, [*insertions(trace, units, places), *again(rng, trace, units, places)])


def _code(trace: Trace) -> tuple[Code, Sequence[int]]:
    """Code of a trace, and where in it each instruction of the trace's program is."""
    function = listed_function(trace)
    if function is None:
        return observed(trace), range(len(trace.program))
    return code_of(function), [static.offset // STEP for static in trace.program]


def _dead(trace: Trace, rng: random.Random | None) -> np.ndarray:
    function = listed_function(trace)
    masks = dead_by_stream(trace) if function is None else dead_by_listing(trace, function)
    return masks if rng is None else random_subset(rng, masks)


def shown(function: Function, cfg: Config) -> Mapping[int, str]:
    """By offset, the registers that are fetched there; at the start what holds for all."""
    assert isinstance(cfg, LtrfConfig)
    code = code_of(function)
    try:
        units = FORMS[cfg.prefetch_unit](code, cfg.interval_registers)
    except ValueError as error:
        return {0: str(error)}
    found = {STEP * head: _text(registers) for head, registers in zip(units.heads, units.sets, strict=True)}
    for unit in units.silent:
        found[STEP * units.heads[unit]] = "no PREFETCH"
    return found | {0: f"{_summary(code, units, cfg.prefetch_unit)}; {found[0]}"}


def _text(registers: int) -> str:
    return " ".join(("PREFETCH", *(f"R{one}" for one in general_registers(registers))))


def _summary(code: Code, units: Units, form: str) -> str:
    found = growth(code, units)
    words, bits = (f"{found.by(opcode=opcode):.0%}" for opcode in (True, False))
    return f"{len(units.heads)} {form}, code grows by {words} with instructions, {bits} with sets alone"


def dead_shown(function: Function, cfg: Config) -> Mapping[int, int]:
    """By offset, with ``liveness``, the mask of the distinct sources that are dead behind the instruction."""
    assert isinstance(cfg, LtrfConfig)
    return {offset: mask for offset, mask in dead_operands(function).items() if mask} if cfg.liveness else {}
