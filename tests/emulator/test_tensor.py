"""Matrix products of all shapes, with the fragment layouts of the PTX ISA's pages on mma.sync written out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from tests.emulator.harness import LANE, run, words
from warpfile.emulator.errors import ExecutionError

Place = tuple[int, int]


@dataclass(frozen=True)
class Shape:
    """m16n8 or m8n8: ``depth``, bits of a factor's element, rows."""

    depth: int
    bits: int
    rows: int = 16

    @property
    def width(self) -> int:
        """Elements of a register."""
        return max(1, 32 // self.bits)

    def of_a(self, lane: int, number: int) -> Place:
        """Row and column of element ``number`` of a lane."""
        group, member = divmod(lane, 4)
        part, step = divmod(number, self.width)
        upper = self.rows == 16 and part % 2 == 1
        block = part // 2 if self.rows == 16 else part
        return group + 8 * upper, self.width * (member + 4 * block) + step

    def of_b(self, lane: int, number: int) -> Place:
        group, member = divmod(lane, 4)
        part, step = divmod(number, self.width)
        return self.width * (member + 4 * part) + step, group

    def of_c(self, lane: int, number: int) -> Place:
        group, member = divmod(lane, 4)
        return group + 8 * (number // 2), 2 * member + number % 2


def spread(matrix: np.ndarray, place: Callable[[int, int], Place], count: int) -> np.ndarray:
    """``[count, lanes]``: elements of every lane."""
    return np.array([[matrix[place(lane, number)] for lane in range(32)] for number in range(count)], matrix.dtype)


def packed(elements: np.ndarray, bits: int) -> np.ndarray:
    """Registers of elements as integers of that many bits, lowest first."""
    if bits == 64:
        return np.ascontiguousarray(elements).view(np.uint32).reshape(-1, 32, 2).transpose(0, 2, 1).reshape(-1, 32)
    per = 32 // bits
    shifts = np.arange(per, dtype=np.uint64) * np.uint64(bits)
    fields = (elements.astype(np.int64) & (1 << bits) - 1).astype(np.uint64).reshape(-1, per, 32)
    return (fields << shifts[:, None]).sum(axis=1).astype(np.uint32)


def product(opcode: str, shape: Shape, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """What the instruction leaves, as registers; factors and addend are bits or doubles."""
    size = 64 if c.dtype == np.float64 else 32
    fragments = (
        packed(spread(a, shape.of_a, a.size // 32), shape.bits),
        packed(spread(b, shape.of_b, b.size // 32), shape.bits),
        packed(spread(c, shape.of_c, c.size // 32), size),
    )
    registers, first = {}, 0
    starts = []
    for fragment in fragments:
        starts.append(first)
        registers |= {first + number: row for number, row in enumerate(fragment)}
        first += len(fragment) + len(fragment) % 2
    warp = run(f"{opcode} R40, R{starts[0]}, R{starts[1]}, R{starts[2]}", registers)
    return warp.registers[40 : 40 + len(fragments[2])]


def brain(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32).view(np.uint32) >> np.uint32(16)


def single(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32).view(np.uint32)


def half(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float16).view(np.uint16)


@pytest.mark.parametrize(
    ("opcode", "shape", "bits"),
    [
        ("HMMA.1688.F32", Shape(8, 16), half),
        ("HMMA.16816.F32", Shape(16, 16), half),
        ("HMMA.16816.F32.BF16", Shape(16, 16), brain),
        ("HMMA.1688.F32.BF16", Shape(8, 16), brain),
        ("HMMA.1688.F32.TF32", Shape(8, 32), single),
        ("HMMA.1684.F32.TF32", Shape(4, 32), single),
    ],
)
def test_products_of_small_integers_are_exact(opcode: str, shape: Shape, bits: Callable[..., np.ndarray]) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(-8, 9, (16, shape.depth)), rng.integers(-8, 9, (shape.depth, 8))
    c = rng.integers(-99, 99, (16, 8))
    found = product(opcode, shape, bits(a), bits(b), single(c))
    assert np.array_equal(found.view(np.float32), spread(a @ b + c, shape.of_c, 4))


def test_half_precision_sums_of_the_large_shape() -> None:
    rng = np.random.default_rng(4)
    shape, a, b, c = Shape(16, 16), *(rng.integers(-4, 5, size) for size in ((16, 16), (16, 8), (16, 8)))
    registers = dict(enumerate(packed(spread(half(a), shape.of_a, 8), 16)))
    registers |= {4 + n: row for n, row in enumerate(packed(spread(half(b), shape.of_b, 4), 16))}
    registers |= {6 + n: row for n, row in enumerate(packed(spread(half(c), shape.of_c, 4), 16))}
    found = run("HMMA.16816.F16 R10, R0, R4, R6", registers).registers[10:12]
    assert np.array_equal(found, packed(spread(half(a @ b + c), shape.of_c, 4), 16))


@pytest.mark.parametrize(
    ("opcode", "shape", "low", "high"),
    [
        ("IMMA.16816.S8.S8", Shape(16, 8), (-128, 128), (-128, 128)),
        ("IMMA.16832.U8.S8", Shape(32, 8), (0, 256), (-128, 128)),
        ("IMMA.8832.S4.U4", Shape(32, 4, 8), (-8, 8), (0, 16)),
        ("IMMA.16864.U4.S4", Shape(64, 4), (0, 16), (-8, 8)),
    ],
)
def test_products_of_integers(opcode: str, shape: Shape, low: tuple[int, int], high: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    a, b = rng.integers(*low, (shape.rows, shape.depth)), rng.integers(*high, (shape.depth, 8))
    c = rng.integers(-(2**30), 2**30, (shape.rows, 8))
    found = product(opcode, shape, a, b, c)
    assert np.array_equal(found.view(np.int32), spread(a @ b + c, shape.of_c, shape.rows // 4))


def test_sums_of_integers_saturate_where_asked() -> None:
    shape, ones = Shape(32, 8), np.full((16, 32), 127)
    c = np.full((16, 8), 2**31 - 1)
    found = product("IMMA.16832.S8.S8.SAT", shape, ones, ones.T[:, :8], c).view(np.int32)
    assert np.all(found == 2**31 - 1)
    wrapped = product("IMMA.16832.S8.S8", shape, ones, ones.T[:, :8], c).view(np.int32)
    assert np.all(wrapped == 2**31 - 1 + 32 * 127 * 127 - 2**32)


@pytest.mark.parametrize(("opcode", "depth"), [("BMMA.168128.AND.POPC", 128), ("BMMA.168256.XOR.POPC", 256)])
def test_products_of_bits(opcode: str, depth: int) -> None:
    rng, shape = np.random.default_rng(6), Shape(depth, 1)
    a, b = rng.integers(0, 2, (16, depth)), rng.integers(0, 2, (depth, 8))
    combined = a[:, None, :] & b.T[None] if "AND" in opcode else a[:, None, :] ^ b.T[None]
    found = product(opcode, shape, a, b, np.full((16, 8), 5))
    assert np.array_equal(found, spread(combined.sum(axis=2) + 5, shape.of_c, 4))


@pytest.mark.parametrize(("opcode", "shape"), [("DMMA.8x8x4", Shape(4, 64, 8)), ("DMMA.16x8x8", Shape(8, 64))])
def test_products_of_doubles(opcode: str, shape: Shape) -> None:
    rng = np.random.default_rng(7)
    a, b, c = (rng.integers(-99, 99, size).astype(np.float64)
               for size in ((shape.rows, shape.depth), (shape.depth, 8), (shape.rows, 8)))  # fmt: skip
    found = product(opcode, shape, a, b, c)
    assert np.array_equal(found, packed(spread(a @ b + c, shape.of_c, shape.rows // 4), 64))


@pytest.mark.parametrize("transposed", [False, True])
def test_stsm_stores_what_ldsm_loads(transposed: bool) -> None:
    mark = "MT88" if transposed else "M88"
    code = f"STSM.16.{mark}.4 [R2], R4\nLDSM.16.{mark}.4 R8, [R2]\nLDS.128 R12, [R2]"
    given = {4 + n: LANE * 4 + n for n in range(4)}
    warp = run(code, {2: LANE * 16} | given, shared=512)
    for number, row in given.items():
        assert np.array_equal(warp.registers[number + 4], row)
    if not transposed:  # lane 8 * m + r has row r of matrix m, whose halves lanes 4 * r to 4 * r + 3 gave
        wanted = [[4 * (4 * (lane % 8) + n) + lane // 8 for n in range(4)] for lane in range(32)]
        assert warp.registers[12:16].T.tolist() == wanted


def test_a_copy_to_shared_memory_fills_with_zeros() -> None:
    code = "LDGSTS.E [R4], [R2.64], P0\nLDGDEPBAR\nDEPBAR.LE SB0, 0x0\nLDS R0, [R4]"
    base = 0x7F3A_4C20_0000
    registers = {2: words(base) + 4 * LANE, 3: words(base >> 32), 4: 4 * (31 - LANE)}
    warp = run(code, registers, {0: 0xFFFF}, buffer=(np.arange(32, dtype=np.uint32) + 7).tobytes())
    assert warp.registers[0].tolist() == [7 + lane if lane < 16 else 0 for lane in range(32)]
    wide = "LDGSTS.E.BYPASS.128 [R4], [R2.64]\nLDS.128 R8, [R4]"
    registers = {2: words(base), 3: words(base >> 32), 4: 16 * LANE}
    warp = run(wide, registers, buffer=np.arange(4, dtype=np.uint32).tobytes(), shared=512)
    assert warp.registers[8:12, 9].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("code", ["HMMA R16, R8, R0, R16", "IMMA.S8.S8 R4, R2.ROW, R3.COL, R6"])
def test_a_product_without_a_shape_is_refused(code: str) -> None:
    with pytest.raises(ExecutionError, match="a product must name its shape"):
        run(code)
