"""Kill bits on a trace's beats: source registers that are dead behind their instruction.

A bit tells of the lanes that are there; the hardware honours it only if these are all that have not exited.
"""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np

from warpfile.compiler.cfg import STEP
from warpfile.compiler.model import Function
from warpfile.compiler.passes.dead_bits import dead_by_stream, of_records, random_subset
from warpfile.compiler.passes.last_reads import bit_mask, dead_sources
from warpfile.compiler.passes.trace_listing import listed_function
from warpfile.compiler.program import static_instruction
from warpfile.spec.annotation import hinted, on_sources
from warpfile.spec.beat import distinct_sources
from warpfile.spec.config import Config
from warpfile.spec.rewrite import original
from warpfile.spec.schemes.coalescing import CoalescingConfig
from warpfile.spec.trace import Kind, StaticInstruction, Trace


def label(cfg: Config) -> str:
    """What kill bits hold for."""
    return f"source_slots={cfg.source_slots}"


def annotate(cfg: Config, trace: Trace, loosened: int | None) -> Trace:
    """The trace with all kill bits, by the listing or without one by what the warps executed; with a seed some."""
    masks = kills(trace)
    if loosened is not None:
        masks = random_subset(random.Random(f"{loosened} {trace.kernel} {trace.records}"), masks)
    return hinted(trace, on_sources(trace, cfg.source_slots, masks) << np.uint64(cfg.hint_at("kill")))


def kills(trace: Trace) -> np.ndarray:
    """int64[n]: by executed instruction, the mask of its distinct sources that are dead behind it.

    A listing tells also of a trace into which passes have put pseudo-instructions and nothing else.
    """
    masks, told = np.zeros(trace.records, dtype=np.int64), _only_told(trace)
    plain = original(trace) if told else trace
    function = listed_function(plain)
    found = kills_by_stream(plain) if function is None else of_records(plain, kills_by_listing(function))
    masks[~trace.inserted | (not told)] = found
    return masks


def kills_by_listing(function: Function) -> dict[int, int]:
    """The masks by offset: of sources that no thread reads again and that the instruction does not write."""
    instructions = function.instructions
    return {
        offset: mask & _unwritten(static_instruction(instructions[offset // STEP]))
        for offset, mask in dead_sources(function).items()
    }


def kills_by_stream(trace: Trace) -> np.ndarray:
    """The masks by executed instruction: of sources that no lane of the warp reads before all write them."""
    unwritten = np.array([_unwritten(static) for static in trace.program], dtype=np.int64)
    return dead_by_stream(trace) & unwritten[trace.instruction]


def _only_told(trace: Trace) -> bool:
    added = (static for static in trace.program if static.inserted or static.origin >= 0)
    return all(static.kind is Kind.SCHEME for static in added)


def _unwritten(static: StaticInstruction) -> int:
    """Mask of the distinct sources that an instruction does not write: a register that it writes keeps its place."""
    return bit_mask(register not in static.dests for register in distinct_sources(static.sources))


def shown(function: Function, cfg: Config) -> Mapping[int, int]:
    """By offset, with ``virtualization``, the mask of the distinct sources that are dead behind the instruction."""
    assert isinstance(cfg, CoalescingConfig)
    return {offset: mask for offset, mask in kills_by_listing(function).items() if mask} if cfg.gives.deaths else {}
