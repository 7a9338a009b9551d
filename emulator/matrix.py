"""Warp-wide matrix operations, with the fragment layouts that the PTX ISA gives for mma.sync and ldmatrix.

In every layout lane ``4 * group + member`` holds elements of row (or column) ``group``. How tensor cores round sums is
not documented. Code for sm_90 does what an H100 was seen to do, with products of eight terms (docs/hardware.md); other
code sums exactly and rounds once. Traces mark the results as approximate.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpfile.compiler.model import Register
from warpfile.compiler.operand_widths import fragment_registers, matrices
from warpfile.emulator.decode import opcode
from warpfile.emulator.destination import Decoder
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.float32 import canonical
from warpfile.emulator.lanes import LANES, lanes_of
from warpfile.emulator.memory_ops import address_of, at
from warpfile.emulator.narrow import FORMATS
from warpfile.emulator.rounding import fma64
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


Elements = Callable[[np.ndarray], np.ndarray]  #: uint32[registers, lanes] -> values[parts, lanes, elements of a part]


def _spread(parts: np.ndarray, rows: int) -> np.ndarray:
    """Matrix of a fragment: a part is neighbours of a row; further parts are eight rows on, then as many columns."""
    count, _, width = parts.shape
    per_column = rows // 8
    matrix = np.zeros((rows, 4 * width * count // per_column), dtype=parts.dtype)
    for number in range(count):
        first = 4 * width * (number // per_column)
        for step in range(width):
            matrix[_GROUP + 8 * (number % per_column), first + width * _MEMBER + step] = parts[number, :, step]
    return matrix


def _gathered(matrix: np.ndarray) -> np.ndarray:
    """Elements of a product, ``[elements, lanes]``: two neighbours of a row, then those eight rows on."""
    places = [(row, step) for row in range(0, len(matrix), 8) for step in range(2)]
    return np.stack([matrix[_GROUP + row, 2 * _MEMBER + step] for row, step in places])


class _Product:
    """Operands of D = A * B + C whose fragments have the numbers of registers that the shape says."""

    def __init__(self, decoder: Decoder, a: Elements, b: Elements) -> None:
        self.decoder = decoder
        self.counts = fragment_registers(decoder.instruction)
        self.places = [_rows(decoder, position, count) for position, count in enumerate(self.counts)]
        self.elements = (a, b)
        shape = next((mark for mark in decoder.modifiers if mark[:1].isdigit()), None)
        if shape is None:
            raise ValueError("a product must name its shape")
        self.rows = 16 if shape.startswith("16") else 8

    def factors(self, warp: Warp) -> tuple[np.ndarray, np.ndarray]:
        """A and B as matrices."""
        parts = [
            elements(_fragment(warp, place, count))
            for elements, place, count in zip(self.elements, self.places, self.counts, strict=False)
        ]
        return _spread(parts[0], self.rows), _spread(parts[1], 8).T

    def addend(self, warp: Warp) -> np.ndarray:
        """Registers of C."""
        return _fragment(warp, self.places[2], self.counts[2])


def _narrow(kind: str) -> Elements:
    """Values of registers of two halves, or of a single of which tensor cores read the upper bits (TF32)."""

    def elements(registers: np.ndarray) -> np.ndarray:
        if kind == "TF32":
            return (registers & _TF32).view(np.float32).astype(np.float64)[:, :, None]
        halves = np.stack([registers & _LOW, registers >> _HIGH], axis=2)
        return FORMATS[kind].decoded(halves)

    return elements


_CUTTING = 90  #: GPU whose tensor cores cut off the terms of a sum
_KEPT_BITS = 2
_ZERO_EXPONENT, _LOWEST_PLACE = -2000, -1000
_LOW, _HIGH, _TF32 = np.uint32(0xFFFF), np.uint32(16), np.uint32(0xFFFFE000)


@opcode("HMMA", "1684 1688 16816 F32 F16 BF16 TF32")
def hmma(decoder: Decoder) -> Run:
    """HMMA.shape: D(16x8) = A * B + C, halves, bfloat16 or TF32 in, single or half precision out."""
    single = "F32" in decoder.modifiers
    kind = decoder.one_of("F16", "BF16", "TF32")
    product = _Product(decoder, _narrow(kind), _narrow(kind))
    cuts = decoder.function.architecture == _CUTTING
    least = 1 - FORMATS[kind].bias

    def run(warp: Warp, mask: int) -> None:
        (a, b), words = product.factors(warp), product.addend(warp)
        if single:
            addend = words.view(np.float32).astype(np.float64)
        else:
            halves = np.stack([words & _LOW, words >> _HIGH], axis=1).reshape(-1, LANES)
            addend = FORMATS["F16"].decoded(halves)
        if cuts:
            pairs = _gathered(a[:, None, :] * b.T), _gathered(_exponent(a, least)[:, None, :] + _exponent(b.T, least))
            sums = _cut(*pairs, addend, -126 if single else -14)
            sums = _towards_zero(sums) if single else sums
        else:
            sums = _gathered(a @ b) + addend
        if single:
            _write(decoder, warp, mask, canonical(sums.astype(np.float32)))
            return
        totals = sums.astype(np.float16)
        bits = np.where(np.isnan(totals), np.uint16(0x7FFF), totals.view(np.uint16)).astype(np.uint32)
        _write(decoder, warp, mask, bits[0::2] | bits[1::2] << _HIGH)

    return run


def _exponent(values: np.ndarray, least: int) -> np.ndarray:
    """Exponents, of subnormal numbers ``least``, of zero below all others."""
    return np.where(values == 0, _ZERO_EXPONENT, np.maximum(np.frexp(values)[1] - 1, least))


def _cut(products: np.ndarray, exponents: np.ndarray, addend: np.ndarray, least: int) -> np.ndarray:
    """Sums over the last axis and the addend, every term cut off two bits below the last place of the largest one.

    Which is the one whose factors' exponents have the largest sum.
    """
    terms = np.concatenate([products, addend[:, :, None]], axis=2)
    exponents = np.concatenate([exponents, _exponent(addend, least)[:, :, None]], axis=2)
    place = np.maximum(exponents.max(axis=2, keepdims=True) - 23 - _KEPT_BITS, _LOWEST_PLACE)
    total: np.ndarray = np.ldexp(np.trunc(np.ldexp(terms, -place)), place).sum(axis=2)
    return np.where(np.isfinite(terms).all(axis=2), total, terms.sum(axis=2))


def _towards_zero(values: np.ndarray) -> np.ndarray:
    """Doubles cut off to what a single holds."""
    place = np.maximum(np.frexp(values)[1] - 24, -149)
    return np.where(np.isfinite(values), np.ldexp(np.trunc(np.ldexp(values, -place)), place), values)


@opcode("DMMA", "884 8x8x4 16x8x4 16x8x8 16x8x16")
def dmma(decoder: Decoder) -> Run:
    """DMMA.shape: D = A * B + C in double precision, a fused multiply-add after the other [?]."""
    product = _Product(decoder, _doubles, _doubles)
    negated = [getattr(decoder.operand(position), "negate", False) for position in range(3)]

    def run(warp: Warp, mask: int) -> None:
        (a, b), total = product.factors(warp), _doubles(product.addend(warp))[:, :, 0]
        a, b, total = (-one if negate else one for one, negate in zip((a, b, total), negated, strict=True))
        for step in range(a.shape[1]):
            left = _gathered(np.repeat(a[:, step : step + 1], 8, axis=1))
            right = _gathered(np.repeat(b[step : step + 1], len(a), axis=0))
            total = np.stack([fma64(*row) for row in zip(left, right, total, strict=True)])
        words = np.ascontiguousarray(total).view(np.uint32).reshape(len(total), LANES, 2)
        _write(decoder, warp, mask, words.transpose(0, 2, 1).reshape(-1, LANES))

    return run


def _doubles(registers: np.ndarray) -> np.ndarray:
    pairs = registers.reshape(-1, 2, LANES).transpose(0, 2, 1)
    return np.ascontiguousarray(pairs).view(np.float64)


def _integers(bits: int, signed: bool) -> Elements:
    """Elements of ``bits`` side by side in a register, lowest first."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)

    def elements(registers: np.ndarray) -> np.ndarray:
        values = (registers[:, :, None] >> shifts & np.uint32((1 << bits) - 1)).astype(np.int64)
        return values - (values >> bits - 1 << bits) if signed else values

    return elements


@opcode("IMMA", "8816 8832 16816 16832 16864 S8 U8 S4 U4 SAT", marks="ROW COL")
def imma(decoder: Decoder) -> Run:
    """IMMA.shape: D = A * B + C, bytes or 4-bit integers in, 32-bit integers out."""
    kinds = [mark for mark in decoder.modifiers if mark in ("S8", "U8", "S4", "U4")]
    if len(kinds) != 2 or kinds[0][1] != kinds[1][1]:
        raise ValueError("IMMA must name the types of both factors, S8 or U8, or S4 or U4")
    product = _Product(decoder, *(_integers(int(kind[1]), kind[0] == "S") for kind in kinds))
    saturate = decoder.has("SAT")

    def run(warp: Warp, mask: int) -> None:
        a, b = product.factors(warp)
        totals = _gathered(a @ b) + product.addend(warp).view(np.int32)
        if saturate:
            totals = np.clip(totals, -(1 << 31), (1 << 31) - 1)
        _write(decoder, warp, mask, totals.astype(np.int32).view(np.uint32))

    return run


@opcode("BMMA", "88128 168128 168256 XOR AND POPC", marks="ROW COL")
def bmma(decoder: Decoder) -> Run:
    """BMMA.shape.op.POPC: D = C + bits set in the rows of A op the columns of B."""
    product = _Product(decoder, _integers(1, False), _integers(1, False))
    combine = np.bitwise_and if decoder.has("AND") else np.bitwise_xor

    def run(warp: Warp, mask: int) -> None:
        a, b = product.factors(warp)
        counts = combine(a[:, None, :], b.T[None, :, :]).sum(axis=2)
        _write(decoder, warp, mask, (_gathered(counts) + product.addend(warp)).astype(np.uint32))

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
    count, transposed = matrices(decoder.instruction), decoder.has("MT88")

    def act(warp: Warp, addresses: np.ndarray, lanes: np.ndarray) -> None:
        found = warp.shared.load(_row_offsets(warp, addresses, lanes, count), "", 4).view(np.uint16)
        pairs = _turned(found.reshape(count, 8, 8), transposed).view(np.uint32)
        _write(decoder, warp, 0xFFFFFFFF, pairs[:, _GROUP, _MEMBER])

    return at(decoder, address_of(decoder, decoder.operand(0)), act)


@opcode("STSM", "16 M88 MT88 2 4")
def stsm(decoder: Decoder) -> Run:
    """STSM.16.{M88,MT88}[.2,.4] [address], R: the counterpart of LDSM."""
    count, transposed = matrices(decoder.instruction), decoder.has("MT88")
    place = _rows(decoder, 1, count)

    def act(warp: Warp, addresses: np.ndarray, lanes: np.ndarray) -> None:
        offsets = _row_offsets(warp, addresses, lanes, count)
        pairs = _fragment(warp, place, count).reshape(count, 8, 4)
        rows = _turned(np.ascontiguousarray(pairs).view(np.uint16), transposed).view(np.uint32)
        warp.shared.store(offsets, rows.reshape(-1, 4), "", 4)

    return at(decoder, address_of(decoder, decoder.operand(0)), act)


def _row_offsets(warp: Warp, addresses: np.ndarray, lanes: np.ndarray, count: int) -> np.ndarray:
    if len(lanes) < LANES:
        raise ExecutionError(f"{warp.name}: LDSM and STSM must be executed by all lanes")
    return warp.shared.check(addresses[: 8 * count], _ROW_BYTES)


def _turned(given: np.ndarray, transposed: bool) -> np.ndarray:
    return np.ascontiguousarray(given.transpose(0, 2, 1) if transposed else given)
