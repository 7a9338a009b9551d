"""Forms that compiled code has seldom, in kernels of ``compiled/forms.cu`` and one by one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.emulator import compiled
from tests.emulator.compiled.launching import last_buffer, launch
from tests.emulator.harness import LANE, f32, result, run, words
from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.divergence import divergence
from warpfile.compiler.liveness import general_registers, liveness
from warpfile.compiler.loops import natural_loops
from warpfile.emulator.constants import Constant
from warpfile.emulator.errors import ExecutionError
from warpfile.emulator.run import execute

RNG = np.random.default_rng(7)
TABLE = RNG.integers(-(2**20), 2**20, 8192).astype(np.int32)
SHORTS = RNG.integers(-300, 300, 64).astype(np.int16)
BYTES = RNG.integers(-128, 128, 64).astype(np.int8)
WORDS = RNG.integers(0, 2**16, 64).astype(np.uint16)
PRESENT = {
    "uniform_constants": ["ULDC.S8", "ULDC.U8", "ULDC.U16", "ULDC.U16 UR7, c[0x3][-0x7f2e]"],
    "far_constants": ["LDC.S16", "LDC R5, c[0x3][R0+0x6d68]", "LDC.S8 R7, c[0x3][R10+-0x7f80]"],
    "swept_constants": ["ULDC.64 UR10, c[0x3][UR5]", "ULDC.S8 UR6, c[0x3][UR9+-0x7f80]"],
    "halves": ["I2F.S16 R0, R2.H1", "I2F.F64.U16 R6, R2.H1"],
    "choices": ["FSET.BF.EQ.AND"],
    "guarded_barrier": ["@P0 BAR.SYNC 0x0"],
    "two_conditions": ["@P0 EXIT P1"],
    "called_by_table": ["CALL.REL.NOINC R10 `(called_by_table)"],
    "called_by_choice": ["CALL.REL.NOINC R6 `(called_by_choice)"],
}


@pytest.mark.parametrize("kernel", PRESENT)
def test_the_compiled_kernels_have_the_forms(kernel: str) -> None:
    text = "\n".join(instruction.text for instruction in compiled.listing("forms").functions[kernel].instructions)
    assert all(form in text for form in PRESENT[kernel])


def with_constants(kernel: str, arguments: list[np.ndarray | int], kinds: str) -> dict[str, np.ndarray]:
    """Buffers after a launch of one warp with contents in the constant variables; ``kinds`` are the types."""
    given = launch("forms", kernel, arguments, 32)
    symbols = given.listing.constant_symbols
    contents = {"table": TABLE, "shorts": SHORTS, "bytes": BYTES, "words": WORDS}
    constants = tuple(Constant(symbols[name].offset, array.tobytes()) for name, array in contents.items())
    numbers = (one for one in arguments if isinstance(one, int))
    rows = tuple(
        row if row.init is not None else type(row)(row.name, kind, next(numbers).to_bytes(int(kind[1:]) // 8, "little"))
        for row, kind in zip(given.arguments, kinds.split(), strict=True)
    )
    launched = type(given)(**(vars(given) | {"constants": constants, "arguments": rows}))
    return {name: held.view(np.int32) for name, held in execute(launched).buffers.items()}


def test_constants_at_uniform_places() -> None:
    found = with_constants("uniform_constants", [np.zeros(32, np.int32), 5, 200, 40000], "buffer i8 u8 u16")["a0"]
    wanted = int(TABLE[1]) + int(SHORTS[2]) * int(BYTES[3]) + int(WORDS[0]) + 1000 - 40000
    assert found.tolist() == [wanted + int(BYTES[5]) * int(WORDS[9])] * 32


def test_constants_far_away_and_before() -> None:
    places = RNG.integers(2, 1000, 32).astype(np.int32)
    found = with_constants("far_constants", [places, np.zeros(32, np.int32)], "buffer buffer")["a1"]
    products = TABLE[places + 7000] * SHORTS[places & 63].astype(np.int32)
    assert np.array_equal(found, TABLE[places - 2] + products + BYTES[places & 31])


def test_constants_swept_by_a_uniform_register() -> None:
    values, count = RNG.integers(-9, 9, 96).astype(np.int32), 37
    found = with_constants("swept_constants", [values, np.zeros(32, np.int32), count], "buffer buffer i32")["a1"]
    steps = np.arange(count)
    wanted = [np.sum(TABLE[steps] * values[lane + steps] + BYTES[steps]) for lane in range(32)]
    assert np.array_equal(found, wanted)


def test_halves_of_a_register() -> None:
    pairs = RNG.integers(-(2**15), 2**15, (32, 2)).astype(np.int16)
    found = last_buffer("forms", "halves", [pairs, np.zeros(32, np.float32)], 32)
    x, y = pairs[:, 0].astype(np.float64), pairs[:, 1].astype(np.float64)
    unsigned = pairs.view(np.uint16).astype(np.float64)
    wanted = (np.float32(0.5) * y + x).astype(np.float32) + (unsigned[:, 1] * 0.125 + unsigned[:, 0])
    assert np.array_equal(found, wanted.astype(np.float32))


def test_choices_as_numbers() -> None:
    values = np.resize(np.array([1, 2, 2.5, 3, 7, 7.5, np.nan, np.inf], np.float32), 32)
    found = last_buffer("forms", "choices", [values, np.zeros(32, np.float32)], 32)
    assert found.tolist() == [float((x == 3) * 2 + (x > 7) + (x > 2)) for x in values]


@pytest.mark.parametrize("flags", [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_a_barrier_under_a_guard(flags: tuple[int, int]) -> None:
    given = np.array([*range(100, 164), *flags], dtype=np.int32)
    launched = launch("forms", "guarded_barrier", [given, np.zeros(64, np.int32)], 64)
    outcome = execute(launched)
    wanted = given[np.arange(64) ^ 33] if flags[0] else given[:64]
    assert np.array_equal(outcome.buffers["a1"].view(np.int32), wanted)
    opcodes = [outcome.trace.program[index].opcode for index in outcome.trace.instruction]
    assert opcodes.count("BAR.SYNC") == 2 * sum(flags)  # a barrier that no lane executes holds no warp


def test_exit_with_guard_and_condition() -> None:
    given, n = RNG.integers(-40, 10, 65).astype(np.int32), 20
    blank = np.full(128, -1, np.int32)
    found = last_buffer("forms", "two_conditions", [given, blank, n], 64)
    wanted = blank.copy()
    for i in range(64):
        if (i < n and given[i] > 3) or given[i] == 7 or given[i] < -n:
            continue
        wanted[i] = given[i]
        if not (given[i + 1] > 5 and n > 3 and i < n // 2):
            wanted[i + 64] = 3
    assert np.array_equal(found, wanted)


def called(which: int, x: int) -> int:
    """The three functions of the source."""
    total = sum(i ^ x for i in range(x))
    return x * 3 + 1 if which == 0 else total if which == 1 else 1 if x < 2 else called(2, x - 1) + total


@pytest.mark.parametrize("kernel", ["called_by_table", "called_by_choice"])
def test_indirect_calls(kernel: str) -> None:
    which = RNG.integers(0, 3, 32).astype(np.int32)
    found = last_buffer("forms", kernel, [which, np.zeros(32, np.int32)], 32)
    wanted = np.array([called(one, lane) for lane, one in enumerate(which.tolist())])
    assert np.array_equal(found, wanted + which if kernel == "called_by_choice" else wanted)


@pytest.mark.parametrize("kernel", ["called_by_table", "called_by_choice"])
def test_an_indirect_call_is_no_recursion(kernel: str) -> None:
    """It ends no block, as for nvdisasm, and has no edge; behind every RET anything may be live."""
    function = compiled.listing("forms").functions[kernel]
    cfg = build_cfg(function)
    (call,) = (number for number, one in enumerate(function.instructions) if one.is_indirect_call)
    block = cfg.blocks[cfg.block_of[call]]
    assert (block.index, block.start) == (0, 0) and block.end > call + 1
    assert cfg.has_indirect_calls and cfg.successors[0] == (1,) and not cfg.predecessors[0]
    assert not any(0 in loop.blocks for loop in natural_loops(cfg))
    assert cfg.reachable() >= set(cfg.entries.values())
    found = liveness(cfg)
    for index in (call, *(number for number, one in enumerate(function.instructions) if one.opcode == "RET")):
        assert len(general_registers(found.live_in[index])) == 255
    uniform = [branch.block for branch in divergence(cfg).branches if branch.is_uniform]
    assert not uniform  # arguments of subroutines may come from anywhere


def test_lists_of_second_predicates() -> None:
    """All opcodes to which nvdisasm prints one; a lane acts where guard and condition hold."""
    code = """@P0 EXIT P1
        IADD3 R0, R0, 0x1, RZ
        EXIT !P2
        IADD3 R0, R0, 0x2, RZ"""
    masks = {0: 0x0000FFFF, 1: 0x00FF00FF, 2: 0xF0F0F0F0}
    found = result(code, {0: words(0)}, predicates=masks)
    gone = masks[0] & masks[1]
    wanted = [0 if gone >> lane & 1 else 1 + 2 * (masks[2] >> lane & 1) for lane in range(32)]
    assert found.tolist() == wanted


def test_conditions_of_other_branches() -> None:
    code = """BSSY P1, B0, `(join)
        @P0 BRA P1, `(join)
        IADD3 R0, R0, 0x1, RZ
        join:
        BSYNC P1, B0
        MOV R2, 0x80
        MOV R3, RZ
        RET.REL.NODEC P1, R2 `(k)
        IADD3 R0, R0, 0x2, RZ"""
    masks = {0: 0x0F0F0F0F, 1: 0x00FFFF00}
    found = result(code, {0: words(0)}, predicates=masks)
    taken, returned = masks[0] & masks[1], masks[1]
    wanted = [(1 - (taken >> lane & 1)) + 2 * (1 - (returned >> lane & 1)) for lane in range(32)]
    assert found.tolist() == wanted


def test_a_warpsync_under_a_condition_waits_for_its_lanes() -> None:
    """Lanes outside of P1 need not come: they are in the other side of a branch that exits."""
    code = """@!P1 BRA `(other)
        WARPSYNC P1, R4
        YIELD P1
        MOV R0, R5
        EXIT
        other:
        MOV R0, 0x63"""
    found = result(code, {4: words(0x00FFFF00), 5: LANE}, predicates={1: 0x00FFFF00})
    assert found.tolist() == [lane if 8 <= lane < 24 else 0x63 for lane in range(32)]


@pytest.mark.parametrize("byte", range(4))
def test_predicates_in_a_byte(byte: int) -> None:
    masks = {0: 0xFFFF0000, 3: 0x0F0F0F0F, 6: 0x3}
    mark = f".B{byte}" if byte else ""
    packed = result(f"P2R{mark} R0, PR, R1, 0x48", {1: words(-1)}, predicates=masks)
    bits = [(masks[3] >> lane & 1) << 3 | (masks[6] >> lane & 1) << 6 for lane in range(32)]
    assert packed.tolist() == [0xFFFFFFFF & ~(0x48 << 8 * byte) | value << 8 * byte for value in bits]
    warp = run(f"R2P PR, R1{mark}, 0x41", {1: words(0x41, 0x4100, 0x40_0000, 0x0100_0000)}, masks)
    wanted = {0: [0], 1: [1], 2: [], 3: [3]}[byte], {0: [0], 1: [1], 2: [2], 3: []}[byte]
    for number, lanes in zip((0, 6), wanted, strict=True):
        assert warp.predicates[number] == sum(1 << lane for lane in range(32) if lane % 4 in lanes)
    assert warp.predicates[3] == masks[3]


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("FSET.BF.GT.AND R0, R1, 2, PT", [0, 0x3F800000, 0, 0]),
        ("FSET.GT.AND R0, R1, 2, PT", [0, 0xFFFFFFFF, 0, 0]),
        ("FSET.BF.GEU.AND R0, R1, 2, PT", [0x3F800000, 0x3F800000, 0, 0x3F800000]),
        ("FSET.BF.GT.OR R0, |R1|, 2, P0", [0, 0x3F800000, 0x3F800000, 0]),
        ("FSET.BF.GT.XOR R0, R1, 2, !P0", [0x3F800000, 0, 0x3F800000, 0x3F800000]),
    ],
)
def test_fset(code: str, wanted: list[int]) -> None:
    assert result(code, {1: f32(2, 3, -5, np.nan)}, predicates={0: 0})[:4].tolist() == wanted


BANK = bytes(range(256)) * 256


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("ULDC.U8 UR4, c[0x0][0x83]", 0x83),
        ("ULDC.S8 UR4, c[0x0][0x83]", 0xFFFFFF83),
        ("ULDC.U16 UR4, c[0x0][0x82]", 0x8382),
        ("ULDC.S16 UR4, c[0x0][0x82]", 0xFFFF8382),
        ("ULDC UR4, c[0x0][UR8]", 0x13121110),
        ("ULDC UR4, c[0x0][UR8+0x8]", 0x1B1A1918),
        ("ULDC UR4, c[0x0][UR8+-0x8]", 0x0B0A0908),
        ("ULDC.U8 UR4, c[0x0][UR8+-0x7f80]", 0x90),
        ("ULDC.U8 UR4, c[0x0][-0x7f7d]", 0x83),
        ("ULDC UR4, c[0x0][-0x7f80]", 0x83828180),
        ("MOV R9, c[0x0][-0x7f80]\nR2UR UR4, R9", 0x83828180),
    ],
)
def test_uniform_constants(code: str, wanted: int) -> None:
    warp = run(f"UMOV UR8, 0x10\n{code}\nULDC.64 UR6, c[0x0][UR8]", constants=BANK)
    assert warp.uniforms[4:8, 0].tolist() == [wanted, 0, 0x13121110, 0x17161514]


def test_a_distance_before_the_bank_is_no_place_behind_it() -> None:
    assert run("LDC.U8 R0, c[0x0][R1+-0x8]", {1: LANE + 8}, constants=BANK).registers[0].tolist() == [*range(32)]
    with pytest.raises(ExecutionError, match=r"outside of constant bank 0x0 \(512 bytes\)"):
        run("LDC.U8 R0, c[0x0][R1+-0x8]", {1: LANE}, constants=BANK[:512])
    with pytest.raises(ExecutionError, match=r"ULDC UR4, c\[0x0\]\[UR8\+0x8\]': address 0x\w+ is outside of constant"):
        run("UMOV UR8, 0x200\nULDC UR4, c[0x0][UR8+0x8]", constants=BANK[:512])


def test_lanes_with_a_false_guard_pass_the_barrier() -> None:
    code = """@P0 BAR.SYNC 0x0
        @!P0 EXIT
        MOV R0, 0x1"""
    warp = run(code, predicates={0: 0xFF})
    assert warp.registers[0].tolist() == [1] * 8 + [0] * 24
    assert warp.records.instruction.tolist() == [1, 0, 1, 2, 3]
    assert warp.records.execute.tolist() == [0xFFFFFF00, 0xFF, 0, 0xFF, 0xFF]
