"""Barriers of the whole CTA, their reductions, and instructions that only order or stop execution."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from warpfile.emulator.control import refused
from warpfile.emulator.decode import control, opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.lanes import ALL, LANES
from warpfile.emulator.warp import Control, Run, Vote, Warp


@control("BAR", "SYNC DEFER_BLOCKING RED POPC AND OR")
def bar(decoder: Decoder) -> Control:
    """BAR.SYNC id: all unfinished warps of the CTA meet. BAR.RED.op id, p: they also combine all threads' predicates.

    The closure runs when all lanes of the warp have come; see :meth:`emulator.warp.Warp.run`. Lanes whose guard is
    false go on.
    """
    reduction = decoder.one_of("", "POPC", "AND", "OR") if decoder.has("RED") else ""
    if len(decoder.sources) != (2 if reduction else 1) or not (reduction or decoder.has("SYNC")):
        raise ValueError("barrier must be BAR.SYNC or BAR.RED with a number only (all warps of the CTA take part)")
    given = decoder.predicate(1) if reduction else None

    def meet(warp: Warp, index: int, active: int, execute: int) -> int:
        if given is not None:
            warp.vote = Vote(reduction, given(warp) & active, active)
        return index + 1

    return meet


def combine_votes(warps: Iterable[Warp]) -> None:
    """Give every warp that came with a vote the reduction over all of them."""
    voters = [warp for warp in warps if warp.vote is not None]
    votes = [warp.vote for warp in voters if warp.vote is not None]
    count = sum(vote.ballot.bit_count() for vote in votes)
    results = {"POPC": count, "OR": int(count > 0), "AND": int(all(vote.ballot == vote.lanes for vote in votes))}
    for warp, vote in zip(voters, votes, strict=True):
        warp.vote, warp.barrier_result = None, results[vote.reduction]


@opcode("B2R", "RESULT")
def b2r(decoder: Decoder) -> Run:
    """B2R.RESULT d [, p]: what the last BAR.RED gave, as a number and as a truth value."""
    if not decoder.has("RESULT"):
        raise ValueError("B2R must be B2R.RESULT")
    write, write_bits = decoder.writer(), decoder.predicate_writer(0)

    def run(warp: Warp, mask: int) -> None:
        if write is not None:
            write(warp, mask, np.full(LANES, warp.barrier_result, dtype=np.uint32))
        if write_bits is not None:
            write_bits(warp, mask, ALL if warp.barrier_result else 0)

    return run


@control("BPT", "TRAP DRAIN PAUSE INT")
def bpt(decoder: Decoder) -> Control:
    """BPT.TRAP ends the launch with an error; the other break points have no effect."""
    traps, offset = decoder.has("TRAP"), decoder.instruction.offset

    def stop(warp: Warp, index: int, active: int, execute: int) -> int:
        if traps and execute:
            raise ExecutionError(f"{warp.name}: the kernel trapped at {offset:#06x} (BPT.TRAP)")
        return index + 1

    return stop


@control("TEX TLD TLD4 TXD TMML TXQ SULD SUST SUATOM SURED", "*")
def texture(decoder: Decoder) -> Control:
    """Textures and surfaces are not supported: an error where lanes really access one."""
    return refused(decoder, "textures and surfaces are")


@opcode(
    "NOP YIELD NANOSLEEP MEMBAR DEPBAR ERRBAR CGAERRBAR CCTL CCTLL PMTRIG LDGDEPBAR ACQBULK PREEXIT",
    "SC ALL GPU SYS CTA VC IVALL LE E C LCMP WARP IV RML2 WB D U PF1 PF2 DEEP",
)
def no_effect(decoder: Decoder) -> Run:
    """Ordering and scheduling hints; memory is sequentially consistent here."""
    for position in range(len(decoder.sources)):
        decoder.operand(position)
    return lambda warp, mask: None
