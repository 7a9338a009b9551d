"""Branches, calls, exits, convergence and barriers."""

from __future__ import annotations

import re

import numpy as np

from warpfile.compiler.model import Immediate, Label, Name, Predicate
from warpfile.emulator.decode import control, opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.lanes import ALL, LANES, indices_of, lanes_of, lowest_lane, mask_of
from warpfile.emulator.source import Fetch
from warpfile.emulator.warp import END, Control, Run, Warp

_STEP = 16
_KINDS = "RECONVERGENT RELIABLE"  #: of convergence barriers from sm_100 on, hints to the hardware


def _target(decoder: Decoder) -> int:
    label = decoder.sources[-1]
    if not isinstance(label, Label):
        raise ValueError("target must be a label")
    return label.offset // _STEP


@control("BRA", "U DIV CONV DIV.U")
def bra(decoder: Decoder) -> Control:
    """BRA [p,] label. DIV [UR,]: taken where lanes of the mask, of all without one, run elsewhere. CONV: where not."""
    target = _target(decoder)
    extra = decoder.predicate(0) if isinstance(decoder.sources[0], Predicate) else None
    if decoder.has("DIV", "CONV"):
        wanted = decoder.has("CONV")
        wait_for = decoder.source(0) if len(decoder.sources) > 1 else (lambda warp: decoder.known(ALL))

        def by_convergence(warp: Warp, index: int, active: int, execute: int) -> int:
            lanes = int(np.broadcast_to(wait_for(warp), (LANES,))[lowest_lane(active)])
            converged = not lanes & warp.lanes.live & ~active
            return warp.jump(index, target, active, execute if converged == wanted else 0)

        return by_convergence

    def branch(warp: Warp, index: int, active: int, execute: int) -> int:
        taken = execute if extra is None else execute & extra(warp)
        return warp.jump(index, target, active, taken)

    return branch


@control("CALL", "REL ABS NOINC")
def call(decoder: Decoder) -> Control:
    """CALL.REL.NOINC label: a jump; the caller has put the return offset into registers. R `(symbol): like RET."""
    if decoder.has("ABS"):
        return _outside(decoder)
    target = _target(decoder)
    if decoder.instruction.is_indirect_call:
        return _indirect(decoder, decoder.pair(0), _STEP * target)
    return lambda warp, index, active, execute: warp.jump(index, target, active, execute)


def _outside(decoder: Decoder) -> Control:
    """CALL.ABS goes to code outside of the listing; an error only where lanes really go there."""
    decoder.operand(0)
    offset = decoder.instruction.offset

    def leave(warp: Warp, index: int, active: int, execute: int) -> int:
        if execute:
            reason = "calls code outside of the listing (printf, malloc, assert), which cannot be executed"
            raise ExecutionError(f"{warp.name}: CALL.ABS at {offset:#06x} {reason}")
        return index + 1

    return leave


@control("RET", "REL ABS NODEC")
def ret(decoder: Decoder) -> Control:
    """RET.REL.NODEC R (symbol): to the symbol's start plus the register pair; RET.ABS R 0x0: to the pair."""
    label = decoder.sources[-1]
    base = label.offset if isinstance(label, Label) else 0
    return _indirect(decoder, decoder.pair(0), base)


@control("BRX")
def brx(decoder: Decoder) -> Control:
    """BRX R imm: to the next instruction's offset plus imm plus the register pair."""
    place = decoder.sources[1] if len(decoder.sources) > 1 else None
    relative = place.value if isinstance(place, Immediate) and isinstance(place.value, int) else 0
    base = decoder.instruction.offset + _STEP + relative
    return _indirect(decoder, decoder.pair(0), base)


def _indirect(decoder: Decoder, distance: Fetch, base: int) -> Control:
    end = len(decoder.function.instructions)

    def branch(warp: Warp, index: int, active: int, execute: int) -> int:
        if execute == 0:
            return index + 1
        offsets = np.broadcast_to(distance(warp), (LANES,))
        places = {(base + offset) % (1 << 64) for offset in offsets[indices_of(execute)].tolist()}
        for place in places:
            if place % _STEP or place // _STEP >= end:
                raise ExecutionError(
                    f"{warp.name}: branch at {_STEP * index:#06x} to {place:#x}, outside of the section"
                )
        for place in sorted(places)[1:]:
            lanes = mask_of(offsets == np.uint64((place - base) % (1 << 64))) & execute
            warp.lanes.fork(place // _STEP, lanes)
            execute, active = execute & ~lanes, active & ~lanes
        warp.mask = active
        return warp.jump(index, min(places) // _STEP, active, execute)

    return branch


@control("EXIT KILL")
def exit_(decoder: Decoder) -> Control:
    """The executing lanes end."""

    def leave(warp: Warp, index: int, active: int, execute: int) -> int:
        lanes = warp.lanes
        if execute:
            lanes.exit(execute)
            if lanes.waits:
                lanes.release()
        warp.mask = active & ~execute
        return index + 1 if warp.mask else END

    return leave


def _barrier(decoder: Decoder, position: int) -> int:
    operand = decoder.sources[position]
    match = re.fullmatch(r"B(\d+)", operand.text) if isinstance(operand, Name) else None
    if match is None or int(match[1]) > 15:
        raise ValueError(f"operand {position + 1} must be a convergence barrier B0 to B15")
    return int(match[1])


@opcode("BSSY", _KINDS)
def bssy(decoder: Decoder) -> Run:
    """BSSY B, label: the executing lanes will meet at the next BSYNC B."""
    barrier = _barrier(decoder, 0)
    return lambda warp, mask: warp.lanes.begin(barrier, mask)


@control("BSYNC", _KINDS)
def bsync(decoder: Decoder) -> Control:
    """BSYNC B: wait until all lanes of the group have come, left or exited."""
    barrier = _barrier(decoder, 0)

    def meet(warp: Warp, index: int, active: int, execute: int) -> int:
        if execute != active:
            if execute:
                warp.lanes.fork(index + 1, active & ~execute)
                warp.mask = execute
            else:
                return index + 1
        ready = warp.lanes.sync(barrier, index + 1, execute)
        if ready == 0:
            return END
        warp.mask = ready
        return index + 1

    return meet


@opcode("BREAK", _KINDS)
def break_(decoder: Decoder) -> Run:
    """BREAK [p,] B: the executing lanes leave the group; other lanes no longer wait for them."""
    barrier = _barrier(decoder, len(decoder.sources) - 1)
    extra = decoder.predicate(0) if isinstance(decoder.sources[0], Predicate) else None

    def run(warp: Warp, mask: int) -> None:
        leaving = mask if extra is None else mask & extra(warp)
        if leaving == 0:
            return
        warp.lanes.leave(barrier, leaving)
        if warp.lanes.waits:
            warp.lanes.release()

    return run


def refused(decoder: Decoder, what: str) -> Control:
    """An error where lanes really execute the instruction."""
    instruction = decoder.instruction
    reason = f"{what} not supported ({instruction.full_opcode} at {instruction.offset:#06x})"

    def refuse(warp: Warp, index: int, active: int, execute: int) -> int:
        if execute:
            raise ExecutionError(f"{warp.name}: {reason}")
        return index + 1

    return refuse


@control("ENDCOLLECTIVE")
def end_collective(decoder: Decoder) -> Control:
    """Stands behind what WARPSYNC.COLLECTIVE begins."""
    return refused(decoder, "instructions that diverged lanes execute as one are")


@control("WARPSYNC", "ALL EXCLUSIVE COLLECTIVE")
def warpsync(decoder: Decoder) -> Control:
    """WARPSYNC mask: wait for the lanes of the mask.

    With .EXCLUSIVE lanes with different masks go on one mask after the other, as in the code that nvcc makes of
    ``__reduce_add_sync`` with masks that differ. .COLLECTIVE, which no warp reaches whole, is not supported.
    """
    if decoder.has("COLLECTIVE"):
        decoder.operand(0)
        return end_collective(decoder)
    source = decoder.source(0) if decoder.sources else (lambda warp: decoder.known(ALL))
    is_exclusive = decoder.has("EXCLUSIVE")

    def meet(warp: Warp, index: int, active: int, execute: int) -> int:
        if execute == 0:
            return index + 1
        masks = np.broadcast_to(source(warp), (32,))
        required = int(masks[lowest_lane(execute)])
        others = execute & ~mask_of(masks == required) if is_exclusive else 0
        if others:
            warp.lanes.fork(index, others)
            execute, active = execute & ~others, active & ~others
            warp.mask = active
        if execute != active:
            warp.lanes.fork(index + 1, active & ~execute)
            warp.mask = execute
        return index + 1 if warp.lanes.warp_sync(required, index + 1, execute) else END

    return meet


@opcode("BMOV", "32 CLEAR PQUAD")
def bmov(decoder: Decoder) -> Run:
    """BMOV.32[.CLEAR] R, B saves a group (and leaves it); BMOV.32 B, R restores it."""
    if decoder.dest is None:
        barrier, source = _barrier(decoder, 0), decoder.source(1)

        def restore(warp: Warp, mask: int) -> None:
            values = np.broadcast_to(source(warp), (32,))
            chosen = lanes_of(mask)
            for value in set(values[chosen].tolist()):
                warp.lanes.restore(barrier, value, mask_of(chosen & (values == value)))

        return restore
    barrier, clear, write = _barrier(decoder, 0), decoder.has("CLEAR"), decoder.writer()

    def save(warp: Warp, mask: int) -> None:
        lanes = warp.lanes
        if write is not None:
            write(warp, mask, np.array(lanes.values(barrier), dtype=np.uint32))
            lanes.save(barrier, mask, clear)
        elif clear and lanes.holds[barrier]:
            lanes.leave(barrier, mask)
            if lanes.waits:
                lanes.release()

    return save
