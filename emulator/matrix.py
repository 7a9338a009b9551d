"""Warp-wide matrix operations, with the fragment layouts that the PTX ISA gives for mma.sync and ldmatrix.

In every layout lane ``4 * group + member`` holds elements of row (or column) ``group``. How tensor cores round sums is
not documented; these round once, and traces mark the results as approximate.
"""

from __future__ import annotations

import numpy as np

from warpfile.compiler.model import Register
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.float32 import canonical
from warpfile.emulator.lanes import LANES, lanes_of
from warpfile.emulator.memory_ops import address_of, at
from warpfile.emulator.warp import Run, Warp

_LANE = np.arange(LANES)
_GROUP, _MEMBER = _LANE // 4, _LANE % 4
_ROW_BYTES = 16


def _rows(decoder: Decoder, position: int, count: int) -> slice | None:
    """Registers of a fragment; None for RZ."""
    operand = decoder.operand(position)
    if not isinstance(operand, Register):
        raise ValueError(f"source {position + 1} must be a register")
    return None if operand.is_zero else slice(operand.number, operand.number + count)


def _fragment(warp: Warp, rows: slice | None, count: int) -> np.ndarray:
    return np.zeros((count, LANES), np.uint32) if rows is None else warp.registers[rows]


def _write(decoder: Decoder, warp: Warp, mask: int, values: np.ndarray) -> None:
    if decoder.dest is not None and not decoder.dest.is_zero:
        first = decoder.dest.number
        np.copyto(warp.registers[first : first + len(values)], values, where=lanes_of(mask))


def _spread(registers: np.ndarray, dtype: type, shape: tuple[int, int], transposed: bool = False) -> np.ndarray:
    """Matrix of a fragment whose registers hold neighbours of a row; further registers are eight rows on."""
    values: np.ndarray = np.ascontiguousarray(registers.T).view(dtype).reshape(LANES, len(registers), -1)
    matrix = np.zeros(shape, dtype=values.dtype)
    width = values.shape[2]
    for number in range(len(registers)):
        for step in range(width):
            matrix[_GROUP + 8 * number, width * _MEMBER + step] = values[:, number, step]
    return matrix.T if transposed else matrix


@opcode("HMMA", "1688 F32 F16")
def hmma(decoder: Decoder) -> Run:
    """HMMA.1688: D(16x8) = A(16x8) * B(8x8) + C, halves in, single or half precision out."""
    single = "F32" in decoder.modifiers
    count = 4 if single else 2
    rows = [_rows(decoder, position, size) for position, size in enumerate((2, 1, count))]

    def run(warp: Warp, mask: int) -> None:
        a = _spread(_fragment(warp, rows[0], 2), np.float16, (16, 8)).astype(np.float64)
        b = _spread(_fragment(warp, rows[1], 1), np.float16, (8, 8), transposed=True).astype(np.float64)
        c = _fragment(warp, rows[2], count)
        columns = (2 * _MEMBER, 2 * _MEMBER + 1)
        product = a @ b
        parts = [product[_GROUP + 8 * half, column] for half in range(2) for column in columns]
        if single:
            sums = [part + word.view(np.float32) for part, word in zip(parts, c, strict=True)]
            _write(decoder, warp, mask, np.stack([canonical(total.astype(np.float32)) for total in sums]))
            return
        halves = np.ascontiguousarray(c.T).view(np.float16).T
        totals = np.stack([part + half for part, half in zip(parts, halves, strict=True)], axis=1).astype(np.float16)
        bits = np.where(np.isnan(totals), np.uint16(0x7FFF), totals.view(np.uint16))
        _write(decoder, warp, mask, np.ascontiguousarray(bits).view(np.uint32).T)

    return run


def _fields(words: np.ndarray, bits: int, signed: bool) -> np.ndarray:
    """8 x n matrix of a fragment with one register: ``bits`` wide elements, neighbours of a row side by side."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    values = (words[:, None] >> shifts & np.uint32((1 << bits) - 1)).astype(np.int64)
    if signed:
        values -= (values >> bits - 1) << bits
    return values.reshape(8, -1)


_INTEGER_SHAPES = {"8816": ("S8", "U8"), "8832": ("S4", "U4")}


@opcode("IMMA", "8816 8832 S8 U8 S4 U4 SAT", marks="ROW COL")
def imma(decoder: Decoder) -> Run:
    """IMMA.8816: D(8x8) = A(8x16) * B(16x8) + C, bytes in, 32-bit integers out; .8832: 4-bit integers in, depth 32."""
    allowed = _INTEGER_SHAPES[decoder.one_of("8816", *_INTEGER_SHAPES)]
    kinds = [mark for mark in decoder.modifiers if mark in allowed]
    if len(kinds) != 2:
        raise ValueError(f"IMMA must name the types of both factors, {' or '.join(allowed)}")
    rows = [_rows(decoder, position, size) for position, size in enumerate((1, 1, 2))]
    saturate = decoder.has("SAT")

    def run(warp: Warp, mask: int) -> None:
        a, b = (
            _fields(_fragment(warp, place, 1)[0], int(kind[1]), kind[0] == "S")
            for place, kind in zip(rows, kinds, strict=False)
        )
        b = b.T
        c = _fragment(warp, rows[2], 2).view(np.int32)
        product = a @ b
        totals = np.stack([product[_GROUP, 2 * _MEMBER + step] + c[step] for step in range(2)])
        if saturate:
            totals = np.clip(totals, -(1 << 31), (1 << 31) - 1)
        _write(decoder, warp, mask, totals.astype(np.int32).view(np.uint32))

    return run


@opcode("BMMA", "88128 XOR AND POPC", marks="ROW COL")
def bmma(decoder: Decoder) -> Run:
    """BMMA.88128.op.POPC: D(8x8) = C + bits set in the rows of A op the columns of B, 128 bits each."""
    rows = [_rows(decoder, position, size) for position, size in enumerate((1, 1, 2))]
    combine = np.bitwise_and if decoder.has("AND") else np.bitwise_xor

    def run(warp: Warp, mask: int) -> None:
        a, b = (_fields(_fragment(warp, place, 1)[0], 1, False) for place in rows[:2])
        counts = combine(a[:, None, :], b[None, :, :]).sum(axis=2)
        c = _fragment(warp, rows[2], 2)
        totals = np.stack([counts[_GROUP, 2 * _MEMBER + step] + c[step] for step in range(2)])
        _write(decoder, warp, mask, totals.astype(np.uint32))

    return run


@opcode("MOVM", "16 MT88")
def movm(decoder: Decoder) -> Run:
    """MOVM.16.MT88: transpose an 8x8 matrix of halves."""
    place = _rows(decoder, 0, 1)

    def run(warp: Warp, mask: int) -> None:
        matrix = np.ascontiguousarray(_fragment(warp, place, 1)[0]).view(np.uint16).reshape(8, 8)
        _write(decoder, warp, mask, np.ascontiguousarray(matrix.T).view(np.uint32).reshape(1, LANES))

    return run


@opcode("LDSM", "16 M88 MT88 2 4")
def ldsm(decoder: Decoder) -> Run:
    """LDSM.16.{M88,MT88}[.2,.4]: 8x8 matrices of halves; lane 8 * m + r gives the address of row r of matrix m."""
    count = int(decoder.one_of("1", "2", "4"))
    transposed = decoder.has("MT88")

    def act(warp: Warp, addresses: np.ndarray, lanes: np.ndarray) -> None:
        if len(lanes) < LANES:
            raise ExecutionError(f"{warp.name}: LDSM must be executed by all lanes")
        offsets = warp.shared.check(addresses[: 8 * count], _ROW_BYTES)
        matrices = warp.shared.load(offsets, "", 4).view(np.uint16).reshape(count, 8, 8)
        if transposed:
            matrices = matrices.transpose(0, 2, 1)
        pairs = np.ascontiguousarray(matrices).view(np.uint32)
        _write(decoder, warp, 0xFFFFFFFF, pairs[:, _GROUP, _MEMBER])

    return at(decoder, address_of(decoder, decoder.operand(0)), act)
