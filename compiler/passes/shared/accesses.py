"""Global accesses of a trace as the address table meets them: what each does to memory, and its address beyond its
registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from warpfile.spec.schemes.shared import ADDRESS_BITS, FLUSH, LOAD, PLAIN, STORE
from warpfile.spec.trace import LANES, NO_ROW, Access, Port, Space, StaticInstruction, Trace

_STRONG = {"STRONG", "VOLATILE", "MMIO"}
_ADDRESS = np.uint64((1 << ADDRESS_BITS) - 1)
_WORD_BYTES = 4


@dataclass
class Accesses:
    """Executed global accesses with addresses, one element each, in the order of the records.

    ``record`` is that of the trace, ``kind`` one of PLAIN, LOAD, STORE, FLUSH, ``registers`` how many hold the address,
    ``offset`` what is added to them. ``lanes``: bool[n, 32] of the lanes that execute, ``addresses``: uint64[n, 32].
    """

    record: np.ndarray
    kind: np.ndarray
    registers: np.ndarray
    offset: np.ndarray
    lanes: np.ndarray
    addresses: np.ndarray


def sent(static: StaticInstruction) -> StaticInstruction:
    """The instruction as the machine has it: a fence beyond the CTA is one of the LSU, all others are as they are."""
    return replace(static, port=Port.LSU) if _is_fence(static) else static


def _is_fence(static: StaticInstruction) -> bool:
    name, *modifiers = static.opcode.split(".")
    return name == "MEMBAR" and "CTA" not in modifiers


def kind_of(static: StaticInstruction) -> int:
    """What an instruction does to memory, as far as it shows by itself."""
    if _is_fence(static):
        return FLUSH
    if static.space == Space.TEXTURE:
        return PLAIN if static.access == Access.LOAD else FLUSH
    if static.space != Space.GLOBAL or static.port != Port.LSU:
        return PLAIN
    name, *modifiers = static.opcode.split(".")
    if static.access != Access.LOAD or _STRONG & {*modifiers}:
        return STORE
    word = static.bytes == _WORD_BYTES and static.dest_count == 1 and not static.token_writes
    return LOAD if name == "LDG" and word else PLAIN


def accesses(trace: Trace) -> Accesses:
    """Of a trace with values. A load whose address is not that of its registers is PLAIN, any other access FLUSH."""
    kinds = np.array([kind_of(static) for static in trace.program], dtype=np.int64)[trace.instruction]
    wanted = ((kinds == LOAD) | (kinds == STORE)) & (trace.execute != 0) & (trace.address_row != NO_ROW)
    record = np.flatnonzero(wanted)
    lanes = (trace.execute[record][:, None] >> np.arange(LANES, dtype=np.uint32) & 1).astype(bool)
    addresses = trace.addresses[trace.address_row[record]]
    low, high = _register_values(trace, wanted)
    offset, registers = np.zeros(len(record), dtype=np.uint64), np.full(len(record), -1, dtype=np.int64)
    most = np.array([_most_registers(static) for static in trace.program])
    fits = (addresses <= _ADDRESS).all(axis=1, where=lanes)
    for count, value in enumerate((np.zeros_like(addresses), low, low | high << np.uint64(32))):
        beyond = (addresses - value) & _ADDRESS
        first = beyond[np.arange(len(record)), lanes.argmax(axis=1)]
        suits = (beyond == first[:, None]).all(axis=1, where=lanes) & fits
        suits &= most[trace.instruction[record]] >= count
        registers[suits], offset[suits] = count, first[suits]
    kind = np.where(registers >= 0, kinds[record], np.where(kinds[record] == LOAD, PLAIN, FLUSH))
    return Accesses(record, kind, np.maximum(registers, 0), offset, lanes, addresses)


def _most_registers(static: StaticInstruction) -> int:
    """How many registers can be the address, which comes first: an even one and the next one are a pair."""
    first = static.sources[:2]
    return 2 if len(first) == 2 and first[0] % 2 == 0 and first[1] == first[0] + 1 else len(first[:1])


def _register_values(trace: Trace, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """uint64[n, 32], twice: the first two source registers of the records that are wanted, 0 where nothing is known."""
    rows = np.array([*_source_rows(trace, wanted)], dtype=np.int64).reshape(-1, 2)
    known = np.vstack((trace.values, np.zeros((1, LANES), dtype=np.uint32))).astype(np.uint64)
    return known[rows[:, 0]], known[rows[:, 1]]


def _source_rows(trace: Trace, wanted: np.ndarray) -> Iterator[tuple[int, int]]:
    """Rows of values of the first two sources of every wanted record; -1, which is the last row, for none."""
    index, rows, executes = trace.instruction.tolist(), trace.value_row.tolist(), (trace.execute != 0).tolist()
    asked = wanted.tolist()
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        current: dict[int, int] = {}
        for record in range(start, end):
            static = trace.program[index[record]]
            if asked[record]:
                low, high, *_ = (*(current.get(register, NO_ROW) for register in static.sources[:2]), NO_ROW, NO_ROW)
                yield low, high
            if executes[record]:
                for at, register in enumerate(static.dests):
                    current[register] = rows[record] + at if rows[record] >= 0 else NO_ROW
