"""Operations between the lanes of a warp, and between vector and uniform registers."""

from __future__ import annotations

import numpy as np

from warpfile.compiler.model import Predicate
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.lanes import ALL, LANES, indices_of, lanes_of, lowest_lane, mask_of
from warpfile.emulator.warp import Run, Warp

_LANE = np.arange(LANES, dtype=np.int64)


@opcode("SHFL", "IDX UP DOWN BFLY")
def shfl(decoder: Decoder) -> Run:
    """SHFL.mode p, d, a, b, c as shfl.sync of the PTX ISA; p tells whether the source lane was in range."""
    mode = decoder.one_of("IDX", "UP", "DOWN", "BFLY")
    a, b, c = (decoder.source(position) for position in range(3))
    write, in_range = decoder.writer(), decoder.predicate_writer(0)

    def run(warp: Warp, mask: int) -> None:
        shift, limits = b(warp).astype(np.int64) & 31, c(warp).astype(np.int64)
        segment, clamp = limits >> 8 & 31, limits & 31
        lowest = _LANE & segment
        highest = lowest | clamp & ~segment
        if mode == "UP":
            lane = _LANE - shift
            valid = lane >= highest
        else:
            lane = {"DOWN": _LANE + shift, "BFLY": _LANE ^ shift, "IDX": lowest | shift & ~segment}[mode]
            valid = lane <= highest
        lane = np.where(valid, lane, _LANE)
        value = np.broadcast_to(a(warp), (LANES,))[lane]
        if in_range is not None:
            in_range(warp, mask, mask_of(valid))
        if write is not None:
            write(warp, mask, value)

    return run


@opcode("VOTE VOTEU", "ANY ALL EQ")
def vote(decoder: Decoder) -> Run:
    """VOTE.mode d, p, pin: d = executing lanes whose predicate is true, p = the reduction over them."""
    mode = decoder.one_of("ALL", "ANY", "ALL", "EQ")
    given = decoder.predicate(len(decoder.sources) - 1)
    write, reduced = decoder.writer(), decoder.predicate_writer(0)

    def run(warp: Warp, mask: int) -> None:
        ballot = given(warp) & mask
        if write is not None:
            write(warp, mask, decoder.known(ballot))
        if reduced is not None:
            every, some = ballot == mask, ballot != 0
            true = {"ANY": some, "ALL": every, "EQ": every or not some}[mode]
            reduced(warp, mask, ALL if true else 0)

    return run


@opcode("MATCH", "ANY ALL U32 U64")
def match(decoder: Decoder) -> Run:
    """MATCH.ANY d, a: lanes with the same value. MATCH.ALL p, d, a: all lanes if they agree, else none."""
    source = decoder.pair(0) if decoder.has("U64") else decoder.source(0)
    write, agreed = decoder.writer(), decoder.predicate_writer(0)

    def run(warp: Warp, mask: int) -> None:
        values = np.broadcast_to(source(warp), (LANES,))
        lanes = indices_of(mask)
        chosen = lanes_of(mask)
        result = np.zeros(LANES, dtype=np.uint32)
        for lane in lanes.tolist():
            result[lane] = mask_of(chosen & (values == values[lane]))
        same = int(result[lanes[0]]) == mask
        if decoder.has("ALL"):
            result[:] = mask if same else 0
        if write is not None:
            write(warp, mask, result)
        if agreed is not None:
            agreed(warp, mask, ALL if same else 0)

    return run


_REDUCTIONS: dict[str, np.ufunc] = {
    "SUM": np.add,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
}


@opcode("REDUX CREDUX", f"S32 {' '.join(_REDUCTIONS)}")
def redux(decoder: Decoder) -> Run:
    """REDUX.op UR, R as redux.sync of the PTX ISA: the reduction over the executing lanes; AND where no op is named."""
    reduce, write = _REDUCTIONS[decoder.one_of("AND", *_REDUCTIONS)], decoder.writer()
    source = decoder.signed(0) if decoder.has("S32") else decoder.source(0)

    def run(warp: Warp, mask: int) -> None:
        words = np.broadcast_to(source(warp), (LANES,))[indices_of(mask)]
        total = reduce.reduce(words, keepdims=True)
        if write is not None:
            write(warp, mask, total.astype(np.int64).astype(np.uint32))

    return run


@opcode("ELECT")
def elect(decoder: Decoder) -> Run:
    """ELECT p, UR, pin as elect.sync of the PTX ISA: the lowest executing lane, and whether a lane is that one."""
    if decoder.sources and not (isinstance(decoder.operand(0), Predicate) and decoder.sources[0] == Predicate(7)):
        raise ValueError("source of ELECT must be PT")
    write, elected = decoder.writer(), decoder.predicate_writer(0)

    def run(warp: Warp, mask: int) -> None:
        lane = lowest_lane(mask)
        if write is not None:
            write(warp, mask, np.full(1, lane, dtype=np.uint32))
        if elected is not None:
            elected(warp, mask, 1 << lane)

    return run


@opcode("R2UR")
def r2ur(decoder: Decoder) -> Run:
    """Uniform register from a vector register that is the same in all lanes; the lowest executing one is taken.

    R2UR p, UR, R, of sm_80 to sm_89: p is not described. Here it tells that the lanes differ. nvcc has it where it
    chooses between two ways to the same result.
    """
    source, write, differ = decoder.source(0), decoder.writer(), decoder.predicate_writer(0)

    def run(warp: Warp, mask: int) -> None:
        lane, values = lowest_lane(mask), source(warp)
        if write is not None:
            write(warp, mask, values[lane : lane + 1])
        if differ is not None:
            differ(warp, mask, ALL if mask & ~mask_of(values == values[lane]) else 0)

    return run
