"""Traces whose warps tell the register file which registers belong together."""

from __future__ import annotations

import random
from collections.abc import Mapping

from warpfile.compiler.model import Function
from warpfile.compiler.passes.packed.affinity import Graph, executed, expected
from warpfile.compiler.passes.packed.metadata import operands, random_operands, tell_instruction
from warpfile.compiler.passes.packed.pairs import exclusive_pairs
from warpfile.compiler.passes.packed.sides import sides
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.spec.config import Config
from warpfile.spec.rewrite import Insertion, rewritten
from warpfile.spec.schemes.packed import LEFT, RIGHT, PackedConfig
from warpfile.spec.trace import Trace


def label(cfg: Config) -> str:
    """What the stream holds for."""
    assert isinstance(cfg, PackedConfig)
    return f"allocation={cfg.allocation} register_names={cfg.register_names}"


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with what each warp tells when it begins: by the listing, or without one by what the warps executed.

    With a seed each warp tells something else.
    """
    assert isinstance(cfg, PackedConfig)
    if not cfg.operand_bits:
        return trace
    starts = trace.warp_start[:-1].tolist()
    rng = None if loosened is None else random.Random(f"{loosened} {trace.kernel} {trace.records}")
    said = operands(cfg, _graph(trace)) if rng is None else ()
    of_warps = (random_operands(cfg, rng, trace.registers) if rng else said for _ in starts)
    told_at = zip(starts, of_warps, strict=True)
    return rewritten(
        trace, [Insertion(start, tell_instruction(operand)) for start, found in told_at for operand in found]
    )


def _graph(trace: Trace) -> Graph:
    function = listed_function(trace)
    return executed(trace) if function is None else expected(function)


def shown(function: Function, cfg: Config) -> Mapping[int, str]:
    """At the start, the pairs or the sides that every warp tells."""
    assert isinstance(cfg, PackedConfig)
    if not cfg.operand_bits:
        return {}
    text = (_pairs if cfg.allocation == "pairs" else _sides)(expected(function))
    return {0: text} if text else {}


def _pairs(graph: Graph) -> str:
    return ", ".join(f"R{a} with R{b}" for a, b in exclusive_pairs(graph))


def _sides(graph: Graph) -> str:
    found = sides(graph)
    names = {side: " ".join(f"R{one}" for one in sorted(found) if found[one] == side) for side in (RIGHT, LEFT)}
    return f"right {names[RIGHT]}, left {names[LEFT]}" if found else ""
