"""Conflicts in the banks of shared memory (docs/machine.md, section 9, "Memory")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from warpfile.spec.trace import LANES, Access, StaticInstruction

BANKS = 32
WORD = 4  #: bytes of one bank's word


def degree(static: StaticInstruction, execute: int, addresses: Sequence[int]) -> int:
    """Transfers that an access of the lanes in ``execute`` takes, one address each; at least one."""
    words = max(1, static.bytes // WORD)
    lanes = [lane for lane in range(LANES) if execute >> lane & 1]
    if static.opcode.startswith("LDSM"):  # eight lanes give the rows of a matrix, and a matrix is one register
        lanes = [lane for lane in lanes if lane < 8 * static.dest_count]
    # One word per lane is looked up at once, so 64 bits take both halves of the warp in turn and 128 bits its quarters.
    cycles = 0
    for turn in range(words):
        first = [addresses[lane] // WORD for lane in lanes if lane * words // LANES == turn]
        asked = [word + k for word in first for k in range(words)]
        banks = Counter(word % BANKS for word in (asked if _one_by_one(static) else set(asked)))
        cycles += max(banks.values(), default=0)
    return max(1, cycles)


def _one_by_one(static: StaticInstruction) -> bool:
    """Whether lanes that name the same word take turns: atomics, except for POPC.INC, which counts the lanes first."""
    return static.access == Access.ATOMIC and ".POPC." not in static.opcode
