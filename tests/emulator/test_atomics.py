"""Atomics of all spaces, scopes and types on edge values, against Python's own arithmetic lane after lane."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.emulator.harness import LANE, f32, run, words
from warpfile.emulator.constants import launch_bank
from warpfile.emulator.memory import GLOBAL_BASE, SHARED_WINDOW

M32, M64 = 2**32 - 1, 2**64 - 1
BASE = {2: words(GLOBAL_BASE), 3: words(GLOBAL_BASE >> 32)}
EDGES = [0, 1, 2**31 - 1, 2**31, M32, 5, 2**31 + 1, 7]
WIDE_EDGES = [0, 1, 2**63 - 1, 2**63, M64, 2**32, M32, 2**63 + 5]


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> width - 1 else value


def lanes(values: list[int]) -> np.ndarray:
    return words(*values)


def apply(operation: Callable[[int, int], int], start: int, values: list[int]) -> tuple[list[int], int]:
    """What every lane finds, and what is left."""
    found = []
    for value in values:
        found.append(start)
        start = operation(start, value)
    return found, start


OPERATIONS: list[tuple[str, Callable[[int, int], int]]] = [
    ("ADD", lambda old, new: (old + new) & M32),
    ("MIN", min),
    ("MAX", max),
    ("MIN.S32", lambda old, new: min(old, new, key=lambda value: signed(value, 32))),
    ("MAX.S32", lambda old, new: max(old, new, key=lambda value: signed(value, 32))),
    ("AND", lambda old, new: old & new),
    ("OR", lambda old, new: old | new),
    ("XOR", lambda old, new: old ^ new),
    ("EXCH", lambda old, new: new),
    ("INC", lambda old, new: 0 if old >= new else old + 1),
    ("DEC", lambda old, new: new if old == 0 or old > new else old - 1),
]


@pytest.mark.parametrize("scope", ["GPU", "SYS", "CTA", "SM"])
@pytest.mark.parametrize(("name", "operation"), OPERATIONS)
def test_words_of_global_memory(name: str, operation: Callable[[int, int], int], scope: str) -> None:
    values = (EDGES * 4)[:32]
    found, left = apply(operation, 3, values)
    code = f"ATOMG.E.{name}.STRONG.{scope} PT, R0, [R2], R4\nLDG.E R1, [R2]"
    warp = run(code, BASE | {4: lanes(values)}, buffer=(3).to_bytes(4, "little"))
    assert warp.registers[0].tolist() == found
    assert warp.registers[1][0] == left
    warp = run(
        f"RED.E.{name}.STRONG.{scope} [R2], R4\nLDG.E R1, [R2]", BASE | {4: lanes(values)}, buffer=bytes([3, 0, 0, 0])
    )
    assert warp.registers[1][0] == left


WIDE: list[tuple[str, Callable[[int, int], int]]] = [
    ("ADD.64", lambda old, new: (old + new) & M64),
    ("MIN.64", min),
    ("MAX.64", max),
    ("MIN.S64", lambda old, new: min(old, new, key=lambda value: signed(value, 64))),
    ("MAX.S64", lambda old, new: max(old, new, key=lambda value: signed(value, 64))),
    ("XOR.64", lambda old, new: old ^ new),
    ("EXCH.64", lambda old, new: new),
]


@pytest.mark.parametrize(("name", "operation"), WIDE)
def test_double_words(name: str, operation: Callable[[int, int], int]) -> None:
    values = (WIDE_EDGES * 4)[:32]
    found, left = apply(operation, 9, values)
    registers = BASE | {4: lanes([v & M32 for v in values]), 5: lanes([v >> 32 for v in values])}
    code = f"ATOMG.E.{name}.STRONG.GPU PT, R6, [R2], R4\nLDG.E.64 R8, [R2]"
    warp = run(code, registers, buffer=(9).to_bytes(8, "little"))
    pairs = warp.registers[6].astype(np.uint64) | warp.registers[7].astype(np.uint64) << np.uint64(32)
    assert pairs.tolist() == found
    assert int(warp.registers[9][0]) << 32 | int(warp.registers[8][0]) == left


def test_compare_and_swap_of_both_widths() -> None:
    warp = run("ATOMG.E.CAS.STRONG.GPU PT, R0, [R2], R4, R5", BASE | {4: LANE, 5: LANE + 1}, buffer=bytes(4))
    assert warp.registers[0].tolist() == list(range(32))
    registers = BASE | {4: LANE, 5: words(0), 6: LANE + 1, 7: words(0)}
    warp = run("ATOMG.E.CAS.64.STRONG.GPU PT, R8, [R2], R4, R6", registers, buffer=bytes(8))
    assert warp.registers[8].tolist() == list(range(32))


def test_floats() -> None:
    warp = run("RED.E.ADD.F32.FTZ.RN.STRONG.GPU [R2], R4\nLDG.E R0, [R2]", BASE | {4: f32(0.25)}, buffer=bytes(4))
    assert warp.registers[0].view(np.float32)[0] == 8.0
    warp = run("ATOMG.E.ADD.F32.FTZ.RN.STRONG.GPU PT, R0, [R2], R4", BASE | {4: words(1)}, buffer=bytes(4))
    assert warp.registers[0].tolist() == [0] * 32  # denormals are flushed
    bits = int(np.float64(0.1).view(np.uint64))
    registers = BASE | {4: words(bits & M32), 5: words(bits >> 32)}
    warp = run("RED.E.ADD.F64.RN.STRONG.GPU [R2], R4\nLDG.E.64 R6, [R2]", registers, buffer=bytes(8))
    total = 0.0
    for _ in range(32):
        total += 0.1
    assert np.ascontiguousarray(warp.registers[6:8].T).view(np.float64)[0, 0] == total


def test_pairs_of_halves() -> None:
    pair = words(0x3C00 | 0x4000 << 16)  # 1.0, 2.0
    code = "ATOMG.E.ADD.F16x2.RN.STRONG.GPU PT, R0, [R2], R4\nLDG.E R1, [R2]"
    warp = run(code, BASE | {4: pair}, buffer=bytes(4))
    assert warp.registers[1][:1].view(np.float16).tolist() == [32.0, 64.0]


def test_vectors_are_added_word_by_word() -> None:
    given = BASE | {4: f32(1.0), 5: f32(0.5), 6: f32(2.0), 7: f32(4.0)}
    warp = run("REDG.E.ADD.F32x4.FTZ.RN.STRONG.GPU [R2], R4\nLDG.E.128 R8, [R2]", given, buffer=bytes(16))
    assert warp.registers[8:12, 0].copy().view(np.float32).tolist() == [32.0, 16.0, 64.0, 128.0]
    code = "@P0 ATOMG.E.ADD.F32x2.FTZ.RN.STRONG.GPU PT, R8, [R2], R4\nLDG.E.64 R10, [R2]"
    before = np.array([3.0, 5.0], np.float32).tobytes()
    warp = run(code, given, {0: 0b11}, buffer=before)
    assert warp.registers[8:10, :2].T.copy().view(np.float32).tolist() == [[3.0, 5.0], [4.0, 5.5]]
    assert warp.registers[10:12, 0].copy().view(np.float32).tolist() == [5.0, 6.0]
    halves = given | {4: words(0x3C00 | 0x4000 << 16), 5: words(0x4200)}  # 1.0, 2.0; 3.0, 0.0
    warp = run("REDG.E.ADD.F16x4.RN.STRONG.GPU [R2], R4\nLDG.E.64 R8, [R2]", halves, buffer=bytes(8))
    assert warp.registers[8:10, 0].copy().view(np.float16).tolist() == [32.0, 64.0, 96.0, 0.0]


def test_reductions_of_sm_90_with_a_descriptor() -> None:
    code = "REDG.E.MAX.S32.STRONG.GPU desc[UR4][R2.64], R4\nLDG.E R0, desc[UR4][R2.64]"
    assert run(code, BASE | {4: LANE - 40}, buffer=words(-20)[:1].tobytes()).registers[0][0] == words(-9)[0]


def test_lanes_of_an_address_are_counted() -> None:
    warp = run("@P0 ATOMS.POPC.INC.32 RZ, [R2+URZ]\nLDS R0, [0x4]", {2: 4 * (LANE % 2)}, {0: 0xFF})
    assert warp.registers[0][0] == 4


def test_pairs_of_bfloat16() -> None:
    pair = words(0x3F80 | 0x4000 << 16)  # 1.0, 2.0
    warp = run("REDG.E.ADD.BF16x2.RN.STRONG.GPU [R2], R4\nLDG.E R1, [R2]", BASE | {4: pair}, buffer=bytes(4))
    assert warp.registers[1][0] == 0x4200 | 0x4280 << 16  # 32.0, 64.0


def test_generic_atomics_choose_the_memory_by_window() -> None:
    constants = launch_bank((1, 1, 1), (32, 1, 1), b"")
    is_shared = LANE % 2 == 0
    low = np.where(is_shared, np.uint32(SHARED_WINDOW & M32), np.uint32(GLOBAL_BASE & M32))
    high = np.where(is_shared, np.uint32(SHARED_WINDOW >> 32), np.uint32(GLOBAL_BASE >> 32))
    code = """ATOM.E.ADD.STRONG.GPU PT, R0, [R2], R4
        QSPC.E.S P0, RZ, [R2]
        QSPC.E.G P1, RZ, [R2]
        QSPC.E.L P2, RZ, [R2]
        ST.E [R2+0x4], R5
        LDS R6, [RZ]
        LDS R7, [0x4]
        LD.E R8, [R2+0x4]"""
    registers = {2: low, 3: high, 4: words(1), 5: LANE}
    warp = run(code, registers, constants=constants, buffer=bytes(8))
    assert warp.registers[6][0] == 16
    assert warp.registers[0].tolist() == [lane // 2 for lane in range(32)]
    assert warp.predicates[:3] == [0x55555555, 0xAAAAAAAA, 0]
    assert warp.registers[7][0] == 0
    assert warp.registers[8].tolist() == [0, 1] * 16  # of stores to one address the lowest lane wins
