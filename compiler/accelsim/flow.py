"""Control flow of an imported trace, from what its warps did: there is no listing to read it from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpfile.spec.trace import LANES, Kind, StaticInstruction, Trace

_STEP = 16  #: bytes of an instruction from Volta on
_GROUP = 32  #: before Volta: a word of scheduling data, then three instructions, eight bytes each
_SLOT = 8


def has_aliases(program: Sequence[StaticInstruction]) -> bool:
    """Whether different instructions share an offset.

    The offsets of a called function start anew, so there its instructions cannot be told from the caller's and
    nothing static can be said about the program.
    """
    offsets = {instruction.offset for instruction in program}
    return len(offsets) < len(program)


def observed_edges(trace: Trace) -> tuple[tuple[int, int], ...]:
    """Pairs of program indices between which control went, ascending; rather an edge too many than one too few.

    An instruction that is no branch leads to the next one of the program, whatever the stream shows behind it: hardware
    may go on with another split of the warp at any point. A branch leads to what its lanes executed next, to the next
    record if all live lanes took it, and to the next instruction of the program if once not all of them did: its guard
    is not recorded. What no warp of the trace did is no edge. Raises ``ValueError`` where offsets are ambiguous.
    """
    if has_aliases(trace.program):
        raise ValueError(f"control flow of {trace.kernel} must come from a program without aliased offsets")
    codes, size = trace.instruction.astype(np.int64), np.int64(len(trace.program))
    following = _following(trace.program)
    is_branch = np.array([i.kind in (Kind.BRANCH, Kind.EXIT) for i in trace.program], dtype=bool)
    partly = np.zeros(len(trace.program), dtype=bool)
    partly[codes[trace.execute != trace.live]] = True
    straight = np.flatnonzero((~is_branch | partly) & (following >= 0))
    pairs = _taken(trace, is_branch[codes])
    keys = np.concatenate((straight * size + following[straight], codes[pairs[0]] * size + codes[pairs[1]]))
    found = np.unique(keys)
    return tuple(zip((found // size).tolist(), (found % size).tolist(), strict=True))


def _taken(trace: Trace, is_branch: np.ndarray) -> np.ndarray:
    """Records of executed branches, and what the same lanes, or all live lanes, came to next: int64[2, n]."""
    warp = np.repeat(np.arange(trace.warps), np.diff(trace.warp_start))
    found = []
    for lane in range(LANES):
        records = np.flatnonzero(trace.execute >> np.uint32(lane) & np.uint32(1))
        found.append(np.stack((records[:-1], records[1:])))
    together = np.flatnonzero((trace.execute == trace.live) & ~_exits(trace))[:-1]
    found.append(np.stack((together, together + 1)))
    pairs = np.unique(np.concatenate(found, axis=1), axis=1)
    return pairs[:, is_branch[pairs[0]] & (warp[pairs[0]] == warp[pairs[1]])]


def _following(program: Sequence[StaticInstruction]) -> np.ndarray:
    """Index of the instruction that stands behind each one; -1 where it was never executed."""
    by_offset = {instruction.offset: index for index, instruction in enumerate(program)}
    compact = is_compact(by_offset)
    return np.array([by_offset.get(next_offset(i.offset, compact), -1) for i in program], dtype=np.int64)


def is_compact(offsets: Sequence[int] | dict[int, int]) -> bool:
    """Whether offsets are those of the eight-byte instructions before Volta."""
    return any(offset % _STEP for offset in offsets)


def next_offset(offset: int, compact: bool) -> int:
    """Offset of the instruction behind this one."""
    if not compact:
        return offset + _STEP
    behind = offset + _SLOT
    return behind if behind % _GROUP else behind + _SLOT


def _exits(trace: Trace) -> np.ndarray:
    """Which records are those of an EXIT."""
    ends = np.array([i.opcode.split(".")[0] == "EXIT" for i in trace.program], dtype=bool)
    return ends[trace.instruction]
