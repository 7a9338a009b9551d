"""Code of a listing as the pass sees it."""

from __future__ import annotations

from warpfile.compiler.cfg import Cfg, build_cfg
from warpfile.compiler.memoized import memoized
from warpfile.compiler.model import Function, Instruction
from warpfile.compiler.opcodes import is_known
from warpfile.compiler.passes.last_reads import behind_lost, live_behind, plain_transfer
from warpfile.compiler.passes.long_latency import is_long
from warpfile.compiler.passes.shrf.strands import beginnings, behind_each
from warpfile.compiler.passes.shrf.values import Flow, Step
from warpfile.compiler.program import static_instruction
from warpfile.spec.beat import distinct_sources
from warpfile.spec.trace import Port, StaticInstruction


@memoized
def flow_of(function: Function) -> Flow:
    """The steps of a function's section with their beginnings."""
    cfg = build_cfg(function)
    return Flow(
        steps=tuple(_step(one) for one in function.instructions),
        behind=behind_each(cfg),
        begins=beginnings(cfg),
        live=_live(cfg),
    )


def _step(instruction: Instruction) -> Step:
    if not is_known(instruction.opcode):
        return Step()
    return step_of(static_instruction(instruction), instruction.is_guarded)


def step_of(static: StaticInstruction, partial: bool) -> Step:
    """One instruction, which some lanes may skip."""
    is_near = static.dest_count == 1 and not is_long(static)
    return Step(
        sources=distinct_sources(static.sources),
        dest=static.dest if is_near else -1,
        lost=() if is_near else static.dests,
        partial=partial,
        arithmetic=static.port in (Port.ALU, Port.FMA),
    )


def _live(cfg: Cfg) -> list[int]:
    """By instruction, the registers that are live before it; everything is before subroutines and behind them."""
    found = []
    for instruction, after in zip(
        cfg.function.instructions, live_behind(cfg, plain_transfer, behind_lost), strict=True
    ):
        transfer = plain_transfer(instruction)
        found.append(transfer.uses | after & ~transfer.kills)
    return found
