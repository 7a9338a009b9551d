"""Atomic operations on global and shared memory. Lanes of one warp act in ascending order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpfile.compiler.model import Register
from warpfile.compiler.operand_widths import data_registers
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.float32 import canonical
from warpfile.emulator.lanes import LANES, mask_of
from warpfile.emulator.memory_ops import address_of, at
from warpfile.emulator.narrow import BRAIN
from warpfile.emulator.rounding import to_odd, two_sum
from warpfile.emulator.source import flushed
from warpfile.emulator.warp import Run, Warp
from warpfile.emulator.windows import generic_parts, global_parts, shared_parts

Operation = Callable[[np.ndarray, np.ndarray], np.ndarray]
Change = Callable[[np.ndarray, np.ndarray, list[np.ndarray]], np.ndarray]

_INC: Operation = lambda old, limit: np.where(old >= limit, 0, old + 1).astype(old.dtype)  # noqa: E731
_DEC: Operation = lambda old, limit: np.where((old == 0) | (old > limit), limit, old - 1).astype(old.dtype)  # noqa: E731
_OPERATIONS: dict[str, Operation] = {
    "ADD": np.add,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
    "EXCH": lambda old, new: new,
    "INC": _INC,
    "DEC": _DEC,
}
_DTYPES: dict[str, type] = {
    "S32": np.int32, "U32": np.uint32, "F32": np.float32, "S64": np.int64, "U64": np.uint64, "F64": np.float64,
}  # fmt: skip
_HALVES = np.array([0, 16], dtype=np.uint32)
_PARTS = {
    "ATOMG": global_parts,
    "RED": global_parts,
    "REDG": global_parts,
    "ATOM": generic_parts,
    "ATOMS": shared_parts,
}
_NUMBERS = np.arange(LANES)
_HALF_ADDENDS, _BRAIN_ADDENDS = ("F16x2", "F16x4", "F16x8"), ("BF16x2", "BF16x4", "BF16x8")
_FLOATS = ("F32", "F32x2", "F32x4")
_ADDENDS = f"{' '.join(_FLOATS[1:])} {' '.join(_HALF_ADDENDS)} {' '.join(_BRAIN_ADDENDS)}"
_MARKS = f"E 64 CAS {' '.join(_OPERATIONS)} {' '.join(_DTYPES)} {_ADDENDS} FTZ RN CAST SPIN POPC 32"


@opcode("ATOMG ATOM ATOMS RED REDG", _MARKS)
def atomic(decoder: Decoder) -> Run:
    """ATOM* d, [address], operand; RED gives nothing back.

    CAS takes the value to compare with and the new one; CAST.SPIN gives 1 where it swapped, else 0, on sm_100 and later
    as a predicate. ATOMS.POPC.INC has no operand and counts the lanes of each address. On sm_90 and later sums may be
    those of two or four words, each word for itself.
    """
    dtype = _dtype(decoder)
    item, size = np.dtype(dtype).itemsize, 4 * data_registers(decoder.instruction)
    values = [_values(decoder, position, dtype) for position in range(1, len(decoder.sources))]
    if decoder.has("POPC"):
        values = [lambda warp, lanes: np.ones(len(lanes), dtype=dtype)]
    put = _result_writer(decoder)
    change = _change(decoder, put is not None)
    parts = _PARTS[decoder.instruction.opcode]
    succeed, may_fail = decoder.predicate_writer(0), decoder.has("CAST")

    def act(warp: Warp, addresses: np.ndarray, lanes: np.ndarray) -> None:
        swapped = np.full(LANES, not may_fail)
        for region, offsets, chosen in parts(warp, addresses, lanes, size):
            who = lanes[chosen]
            words: np.ndarray = region.bytes.view(dtype)
            places = (offsets[:, None] // item + np.arange(size // item)).reshape(-1)
            found = change(words, places, [value(warp, who) for value in values])
            if put is not None:
                put(warp, who, found)
            if may_fail:
                swapped[who] = found
        if succeed is not None:
            succeed(warp, mask_of(np.isin(_NUMBERS, lanes)), mask_of(swapped))

    return at(decoder, address_of(decoder, decoder.operand(0)), act)


def _change(decoder: Decoder, wants_old: bool) -> Change:
    """What to do to the addressed words; gives what each lane gets back."""
    if decoder.has("CAST"):
        return lambda words, places, given: (_compare_and_swap(words, places, *given) == given[0]).astype(words.dtype)
    if decoder.has("CAS"):
        return lambda words, places, given: _compare_and_swap(words, places, *given)
    operation = np.add if decoder.has("POPC") else _operation(decoder)
    return lambda words, places, given: _update(words, places, given[0], operation, wants_old)


def _dtype(decoder: Decoder) -> type:
    name = decoder.one_of("", *_DTYPES)
    if decoder.has(*_FLOATS):
        return np.float32
    if decoder.has(*_HALF_ADDENDS, *_BRAIN_ADDENDS):
        return np.uint32
    if not name:
        return np.uint64 if decoder.has("64") else np.uint32
    wide = decoder.has("64") and name in ("S32", "U32")
    return _DTYPES[name[0] + "64" if wide else name]


def _operation(decoder: Decoder) -> Operation:
    name = decoder.one_of("", *_OPERATIONS)
    if not name:
        raise ValueError(f"atomic operation must be one of CAS, {', '.join(_OPERATIONS)}")
    operation = _OPERATIONS[name]
    if decoder.has(*_ADDENDS.split()) and name != "ADD":
        raise ValueError(f"atomic operation on halves and vectors must be ADD, not {name}")
    if decoder.has(*_HALF_ADDENDS):
        return _add_halves
    if decoder.has(*_BRAIN_ADDENDS):
        return _add_brains
    if name == "ADD" and decoder.has(*_FLOATS):
        flush = decoder.has("FTZ")

        def add(old: np.ndarray, new: np.ndarray) -> np.ndarray:
            total = flushed(flushed(old) + flushed(new)) if flush else old + new
            return canonical(total).view(np.float32)

        return add
    return operation


def _add_halves(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Sums of the low and of the high halves, each rounded once."""
    low_high = (np.ascontiguousarray(words).view(np.float16) for words in (old, new))
    total = np.add(*low_high)
    return np.where(total != total, np.uint16(0x7FFF), total.view(np.uint16)).astype(np.uint16).view(np.uint32)


def _add_brains(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The same of bfloat16."""
    parts = [BRAIN.decoded(words[:, None] >> _HALVES & np.uint32(0xFFFF)) for words in (old, new)]
    bits = BRAIN.encoded(BRAIN.rounded(to_odd(*two_sum(*parts))))
    return bits[:, 0] | bits[:, 1] << _HALVES[1]


def _values(decoder: Decoder, position: int, dtype: type) -> Callable[[Warp, np.ndarray], np.ndarray]:
    operand = decoder.operand(position)
    if not isinstance(operand, Register):
        raise ValueError("operand of an atomic must be a register")
    row, count = operand.number, data_registers(decoder.instruction)
    if count == 1:
        return lambda warp, lanes: warp.registers[row, lanes].view(dtype)
    if operand.is_zero:
        return lambda warp, lanes: np.zeros(len(lanes) * 4 * count // np.dtype(dtype).itemsize, dtype=dtype)
    return lambda warp, lanes: np.ascontiguousarray(warp.registers[row : row + count, lanes].T).view(dtype).reshape(-1)


def _result_writer(decoder: Decoder) -> Callable[[Warp, np.ndarray, np.ndarray], None] | None:
    if decoder.dest is None or decoder.dest.is_zero:
        return None
    row, count = decoder.dest.number, data_registers(decoder.instruction)

    def put(warp: Warp, lanes: np.ndarray, old: np.ndarray) -> None:
        warp.registers[row : row + count, lanes] = old.view(np.uint32).reshape(-1, count).T

    return put


def _update(
    words: np.ndarray, places: np.ndarray, operands: np.ndarray, operation: Operation, wants_old: bool
) -> np.ndarray:
    """Apply the operation lane after lane; returns what each lane found."""
    if len(set(places.tolist())) == len(places):
        old = words[places]
        words[places] = operation(old, operands)
        return old
    if not wants_old and isinstance(operation, np.ufunc):
        operation.at(words, places, operands)
        return operands
    old = np.empty(len(places), dtype=words.dtype)
    for position, place in enumerate(places.tolist()):
        found = words[place : place + 1].copy()
        old[position] = found[0]
        words[place : place + 1] = operation(found, operands[position : position + 1])
    return old


def _compare_and_swap(words: np.ndarray, places: np.ndarray, expected: np.ndarray, new: np.ndarray) -> np.ndarray:
    old = np.empty(len(places), dtype=words.dtype)
    for position, place in enumerate(places.tolist()):
        old[position] = words[place]
        if words[place] == expected[position]:
            words[place] = new[position]
    return old
