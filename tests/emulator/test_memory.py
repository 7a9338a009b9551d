"""Loads, stores and atomics of every memory, and their checks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.emulator.harness import LANE, f32, run, words
from warpfile.emulator.constants import launch_bank
from warpfile.emulator.errors import ExecutionError, MemoryFault
from warpfile.emulator.memory import GLOBAL_BASE, GUARD_BYTES, GlobalMemory, Region


def test_shared_addresses_take_scale_and_offset() -> None:
    code = "STS [R2.X4+0x10], R3\nLDS.U R0, [R4+0x10]"
    warp = run(code, {2: LANE, 3: LANE * 7, 4: LANE * 4})
    assert np.array_equal(warp.registers[0], LANE * 7)
    assert warp.store.addresses.table[0].tolist() == [4 * lane + 0x10 for lane in range(32)]


def test_narrow_accesses_extend() -> None:
    code = """STS [RZ], R2
        LDS.U8 R0, [0x3]
        LDS.S8 R1, [0x3]
        LDS.U16 R3, [0x2]
        LDS.S16 R4, [0x2]
        STS.U8 [0x1], R5
        LDS R6, [RZ]"""
    warp = run(code, {2: words(0x80C0FF01), 5: words(0x1234)})
    assert [hex(warp.registers[row][0]) for row in (0, 1, 3, 4, 6)] == [
        "0x80", "0xffffff80", "0x80c0", "0xffff80c0", "0x80c03401",
    ]  # fmt: skip


def test_wide_accesses_take_consecutive_registers() -> None:
    code = "STS.128 [R2], R4\nLDS.128 R8, [R2]\nLDS.64 R12, [R2+0x8]"
    warp = run(code, {2: LANE * 16, 4: LANE, 5: LANE + 1, 6: LANE + 2, 7: LANE + 3}, shared=512)
    assert warp.registers[8:14, 3].tolist() == [3, 4, 5, 6, 5, 6]


def test_local_memory_belongs_to_a_lane() -> None:
    warp = run("STL [R2], R3\nLDL R0, [R2]", {2: words(0x40), 3: LANE})
    assert np.array_equal(warp.registers[0], LANE)


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        (
            "LDS R0, [R2]",
            256,
            r"instruction 0x0000 'LDS R0, \[R2\]', lane 0: address 0x100 is outside of shared memory",
        ),
        ("LDS R0, [R2]", 2, "lane 0: address 0x2 must be a multiple of the access size 4"),
        ("LDS.64 R0, [R2]", 252, "0xfc is outside"),
        ("LDL R0, [R2]", 0x10000, "outside of local memory"),
        ("LDG.E R0, [R2]", 16, "address 0x10 is outside of every buffer"),
    ],
)
def test_wrong_addresses_name_address_instruction_and_lane(code: str, value: int, text: str) -> None:
    with pytest.raises(ExecutionError, match=text):
        run(code, {2: words(value)})


def test_fault_names_the_lane_that_is_wrong() -> None:
    addresses = LANE.copy()
    addresses[:] = 0
    addresses[21] = 0x1000
    with pytest.raises(ExecutionError, match="lane 21: address 0x1000"):
        run("@P0 LDS R0, [R2]", {2: addresses}, {0: 0xFFFFFF00})
    run("@P0 LDS R0, [R2]", {2: addresses}, {0: 0xFF})


def test_buffers_are_apart_by_a_guard_gap() -> None:
    memory = GlobalMemory()
    first, second = memory.add("a", bytes(10)), memory.add("b", bytes(4))
    assert first.base == GLOBAL_BASE and GlobalMemory(0x8000_0000).add("a", bytes(4)).base == 0x8000_0000
    assert second.base >= first.end + GUARD_BYTES
    with pytest.raises(MemoryFault, match="nearest buffer below is a"):
        memory.parts(np.array([first.end], dtype=np.uint64), 4)


def test_buffers_lie_where_a_driver_would_put_them() -> None:
    """Aligned, apart by other gaps each time, in every launch alike, and with no byte of an address to spare."""
    bases = [[memory.add(f"{n}", bytes(256)).base for n in range(20)] for memory in (GlobalMemory(), GlobalMemory())]
    assert bases[0] == bases[1]
    assert all(base % 256 == 0 and base >> 32 == 0x7F3A and base & 0xFFFFFFFF > 1 << 24 for base in bases[0])
    gaps = {after - before - 256 for before, after in pairwise(bases[0])}
    assert len(gaps) > 15 and min(gaps) >= GUARD_BYTES and max(gaps) < 1 << 20


def test_one_access_may_touch_several_buffers() -> None:
    memory = GlobalMemory()
    regions = [memory.add(name, bytes([value] * 4)) for name, value in (("a", 1), ("b", 2))]
    addresses = np.array([regions[1].base, regions[0].base, regions[1].base], dtype=np.uint64)
    found = np.zeros(3, dtype=np.uint32)
    for region, offsets, positions in memory.parts(addresses, 4):
        found[positions] = region.load(offsets, "", 1)
    assert [hex(value) for value in found] == ["0x2020202", "0x1010101", "0x2020202"]


def test_region_end_is_exact_although_it_is_padded() -> None:
    region = Region("r", 0, bytes(6))
    with pytest.raises(MemoryFault):
        region.check(np.array([4], dtype=np.uint64), 4)


@pytest.mark.parametrize(
    ("operation", "memory", "found"),  # lanes 0..31 bring their number; the word starts at 5
    [
        ("ADD", 5 + sum(range(32)), [5, 5, 6, 8]), ("MIN.S32", 0, [5, 0, 0, 0]), ("MAX.S32", 31, [5, 5, 5, 5]),
        ("EXCH", 31, [5, 0, 1, 2]), ("OR", 31, [5, 5, 5, 7]), ("AND", 0, [5, 0, 0, 0]), ("XOR", 5, [5, 5, 4, 6]),
    ],
)  # fmt: skip
def test_atomics_act_in_ascending_lane_order(operation: str, memory: int, found: list[int]) -> None:
    warp = run(f"STS [RZ], R4\nATOMS.{operation} R0, [RZ], R2\nLDS R1, [RZ]", {2: LANE, 4: words(5)})
    assert warp.registers[1][0] == memory
    assert warp.registers[0][:4].tolist() == found


def test_increment_and_decrement_wrap() -> None:
    warp = run("ATOMS.INC R0, [RZ], R2\nATOMS.DEC R1, [0x4], R2", {2: words(2)})
    assert warp.registers[0][:5].tolist() == [0, 1, 2, 0, 1]
    assert warp.registers[1][:5].tolist() == [0, 2, 1, 0, 2]


def test_compare_and_swap() -> None:
    warp = run("ATOMS.CAS R0, [RZ], R2, R3\nATOMS.CAST.SPIN R1, [0x8], R2, R3", {2: LANE, 3: LANE + 1})
    assert warp.registers[0].tolist() == list(range(32))
    assert warp.registers[1].tolist() == [1] * 32


def test_compare_and_swap_tells_by_a_predicate_who_swapped() -> None:
    given = {2: LANE, 3: LANE + 1, 4: np.full(32, 1, np.uint32)}
    warp = run("ISETP.NE.U32.AND P1, PT, R2, R4, PT\n@P1 ATOMS.CAST.SPIN P0, [RZ], R2, R3", given)
    # Lane 0 turns 0 into 1, lane 1 stays away, so that no other lane finds what it compares with.
    assert warp.predicates[0] == 1


def test_float_atomics_flush_with_ftz() -> None:
    warp = run("ATOMS.ADD.F32.FTZ.RN R0, [R4], R2\nLDS R1, [R4]", {2: f32(1.5), 4: words(0)})
    assert warp.registers[1].view(np.float32)[0] == 48.0


def test_indexed_constants() -> None:
    constants = np.arange(0x80, dtype=np.uint32).tobytes()
    warp = run(
        "LDC R0, c[0x0][R2+0x8]\nLDC.64 R4, c[0x0][R2]\nLDC.U8 R6, c[0x0][R2]", {2: LANE * 8}, constants=constants
    )
    assert warp.registers[[0, 4, 5, 6], 3].tolist() == [8, 6, 7, 6]
    with pytest.raises(ExecutionError, match="outside of constant bank 0x0"):
        run("LDC R0, c[0x0][R2]", {2: words(0x1000)})


def test_unknown_constant_bank_says_what_listing_would_show_it() -> None:
    with pytest.raises(ExecutionError, match=r"constant bank 0x3 is not known; the listing must show it"):
        run("MOV R0, c[0x3][0x0]")


def test_generic_addresses_mean_the_memory_of_their_window() -> None:
    constants = launch_bank((1, 1, 1), (32, 1, 1), b"")
    code = """STS [R2.X4], R3
        STL [R4], R3
        IADD3 R6, P0, R4, c[0x0][0x20], RZ
        IADD3.X R7, RZ, c[0x0][0x24], RZ, P0, !PT
        @P1 IADD3 R6, P0, R2, c[0x0][0x18], RZ
        @P1 IADD3.X R7, RZ, c[0x0][0x1c], RZ, P0, !PT
        LD.E.SYS R0, [R6]"""
    registers = {2: words(0), 3: LANE + 100, 4: words(0x80)}
    warp = run(code, registers, {1: 0xF}, constants=constants)
    assert warp.registers[0].tolist() == [100] * 4 + list(range(104, 132))
    with pytest.raises(ExecutionError, match="lane 3: address 0x1000 is outside of shared memory"):
        run("@P0 MOV R6, 0x1000\nLD.E R0, [R6]", {6: words(16), 7: words(0x7E00)}, {0: 0b1000}, constants=constants)
