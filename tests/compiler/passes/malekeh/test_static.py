"""Near hints against distances counted by hand, and against their definition on generated control flow."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.generated import graph, next_instructions, programs, structured
from warpfile.compiler.cfg import Cfg
from warpfile.compiler.passes.malekeh.static import NearHint, near_hints
from warpfile.compiler.program import static_instruction
from warpfile.spec.beat import distinct_sources

FAR = None
_LIMIT = 12


def distances_of(code: str) -> dict[int, tuple[list[int | None], list[int | None]]]:
    """By instruction number: of its distinct sources and of its destinations, the least threshold that makes it near.

    That is the distance itself; ``FAR`` where it is above all thresholds tried.
    """
    function = graph(code).function
    by_threshold = {threshold: near_hints(function, threshold=threshold) for threshold in range(1, _LIMIT + 1)}

    def least(offset: int, field: str, count: int) -> list[int | None]:
        masks = [(threshold, getattr(hints[offset], field)) for threshold, hints in by_threshold.items()]
        return [next((t for t, mask in masks if mask >> bit & 1), FAR) for bit in range(count)]

    found = {}
    for offset in by_threshold[1]:
        static = static_instruction(function.instructions[offset // 16])
        sources = least(offset, "sources", len(distinct_sources(static.sources)))
        found[offset // 16] = sources, least(offset, "dests", static.dest_count)
    return found


def test_a_distance_counts_the_instructions_to_the_next_read() -> None:
    found = distances_of("IADD3 R2, R3, R4, RZ\nNOP\nIADD3 R5, R2, R3, RZ\nIADD3 R6, R2, RZ, RZ")
    assert found == {0: ([2, FAR], [2]), 2: ([1, FAR], [FAR]), 3: ([FAR], [FAR])}


def test_a_distance_equal_to_the_threshold_is_near() -> None:
    function = graph("MOV R2, 0x1\nNOP\nIADD3 R5, R2, RZ, RZ").function
    assert near_hints(function, threshold=1)[0] == NearHint(sources=0, dests=0)
    assert near_hints(function, threshold=2)[0] == NearHint(sources=0, dests=1)


def test_an_overwrite_ends_the_distance() -> None:
    found = distances_of("IADD3 R2, R3, RZ, RZ\nMOV R2, 0x1\nIADD3 R4, R2, RZ, RZ")
    assert found[0][1] == [FAR]
    assert found[1][1] == [1]


def test_a_source_that_its_own_instruction_overwrites_is_far_and_the_result_has_its_own_distance() -> None:
    found = distances_of("IADD3 R2, R2, R3, RZ\nNOP\nIADD3 R2, R2, R3, RZ")
    assert found[0] == ([FAR, 2], [2])


def test_an_instruction_reads_before_it_overwrites() -> None:
    found = distances_of("MOV R2, 0x1\nIADD3 R2, R2, 0x1, RZ")
    assert found[0][1] == [1]


@pytest.mark.parametrize(("guard", "distance"), [("@P0 ", 2), ("@!PT ", 2), ("@PT ", FAR), ("", FAR)])
def test_a_guarded_write_overwrites_nothing(guard: str, distance: int | None) -> None:
    found = distances_of(f"MOV R2, 0x1\n{guard}MOV R2, 0x2\nIADD3 R3, R2, RZ, RZ")
    assert found[0][1] == [distance]
    assert found[1][1] == [1]


def test_the_source_of_a_guarded_instruction_outlives_its_own_write() -> None:
    found = distances_of("@P0 IADD3 R2, R2, 0x1, RZ\nIADD3 R3, R2, RZ, RZ")
    assert found[0] == ([1], [1])


def test_a_guarded_read_counts() -> None:
    assert distances_of("MOV R2, 0x1\n@P0 IADD3 R3, R2, RZ, RZ\nIADD3 R4, R2, RZ, RZ")[0][1] == [1]


def test_the_nearest_side_of_a_branch_counts() -> None:
    code = """MOV R2, 0x1
        @P0 BRA `(other)
        NOP
        IADD3 R3, R2, R5, RZ
        BRA `(end)
        other:
        MOV R2, 0x2
        NOP
        IADD3 R4, R2, RZ, RZ
        end:
        IADD3 R6, R5, R2, RZ"""
    found = distances_of(code)
    assert found[0][1] == [3]  # this side: 1, 2, 3; the other one overwrites it
    assert found[3] == ([2, 2], [FAR])
    assert found[5][1] == [2]
    assert found[7] == ([1], [FAR])


def test_a_back_edge_counts_with_the_length_of_the_loop() -> None:
    found = distances_of("MOV R2, 0x1\ntop:\nIADD3 R3, R3, R2, RZ\nNOP\n@P0 BRA `(top)\nNOP")
    assert found[0][1] == [1]
    assert found[1] == ([FAR, 3], [3])  # R3 is overwritten by the instruction itself, its result is read next time


def test_wide_operands_have_one_bit_per_register() -> None:
    function = graph("LDG.E.128.SYS R4, [R2]\nIADD3 R9, R3, R5, RZ\nIADD3 R10, R7, RZ, RZ").function
    assert near_hints(function, threshold=1)[0] == NearHint(sources=0b10, dests=0b0010)
    assert near_hints(function, threshold=2)[0] == NearHint(sources=0b10, dests=0b1010)


def test_a_wide_overwrite_ends_all_its_registers() -> None:
    found = distances_of("DADD R2, R6, R8\nLDG.E.64.SYS R2, [R10]\nDADD R4, R2, R6")
    assert found[0] == ([2, 2, FAR, FAR], [FAR, FAR])


def test_a_repeated_source_has_one_bit() -> None:
    function = graph("FFMA R5, R6, R6, R7\nFADD R8, R7, RZ").function
    assert near_hints(function, threshold=1)[0] == NearHint(sources=0b10, dests=0)


def test_distances_are_followed_into_callees_and_back() -> None:
    code = """MOV R8, 0x20
        CALL.REL.NOINC `(sub)
        IADD3 R3, R2, R5, RZ
        EXIT
        sub:
        IADD3 R2, R4, 0x1, RZ
        RET.REL.NODEC R8 `(k)"""
    found = distances_of(code)
    assert found[0][1] == [3]  # MOV, CALL, IADD3, RET reads R8
    assert found[4][1] == [2]  # IADD3, RET, IADD3 behind the call


@pytest.mark.parametrize(("guard", "distance"), [("", FAR), ("@P0 ", 2)])
def test_no_distance_is_known_across_code_outside_of_the_listing(guard: str, distance: int | None) -> None:
    found = distances_of(f"IADD3 R2, R5, RZ, RZ\n{guard}CALL.ABS.NOINC R4\nIADD3 R3, R2, R4, RZ")
    assert found[0] == ([1], [distance])  # the call itself reads R4 and R5
    assert found[1] == ([1 if guard else FAR, FAR], [])


@pytest.mark.parametrize("end", ["EXIT", "RET.REL.NODEC R8 `(k)", "BRX R8 -0x10", "KILL"])
def test_nothing_follows_the_end_of_a_warp_or_a_jump_to_somewhere(end: str) -> None:
    assert distances_of(f"MOV R2, 0x1\n{end}\nIADD3 R3, R2, RZ, RZ")[0][1] == [FAR]


def test_lanes_go_on_behind_a_guarded_exit() -> None:
    assert distances_of("MOV R2, 0x1\n@P0 EXIT\nIADD3 R3, R2, RZ, RZ")[0][1] == [2]


def test_an_opaque_opcode_has_no_hint_but_may_read_what_it_names() -> None:
    found = distances_of("MOV R4, 0x1\nMOV R20, 0x1\nFUTURE R0, R4\nIADD3 R3, R20, RZ, RZ")
    assert sorted(found) == [0, 1, 3]
    assert found[0][1] == [2]
    assert found[1][1] == [2]


def test_instructions_without_general_registers_have_no_hint() -> None:
    function = graph("NOP\nISETP.LT.AND P0, PT, RZ, 0x1, PT\n@P0 BRA `(end)\nUMOV UR4, 0x1\nend:").function
    assert near_hints(function, threshold=4) == {}


def test_threshold_must_be_positive() -> None:
    with pytest.raises(ValueError, match="threshold must be at least 1, not 0"):
        near_hints(graph("NOP").function, threshold=0)


def is_near_by_walking(cfg: Cfg, index: int, register: int, threshold: int) -> bool:
    """Definition: some path of at most ``threshold`` steps reads the register before anything surely overwrites it."""
    instructions, follow = cfg.function.instructions, next_instructions(cfg)
    places = set(follow[index])
    for _ in range(threshold):
        if any(register in static_instruction(instructions[place]).sources for place in places):
            return True
        places = {
            target
            for place in places
            if instructions[place].is_guarded or register not in static_instruction(instructions[place]).dests
            for target in follow[place]
        }
    return False


def wanted_hints(cfg: Cfg, threshold: int) -> dict[int, NearHint]:
    found = {}
    for index, instruction in enumerate(cfg.function.instructions):
        static = static_instruction(instruction)
        lost = () if instruction.is_guarded else static.dests
        near = {r: is_near_by_walking(cfg, index, r, threshold) for r in {*static.sources, *static.dests}}
        sources = [near[register] and register not in lost for register in distinct_sources(static.sources)]
        dests = [near[register] for register in static.dests]
        if near:
            masks = (sum(flag << bit for bit, flag in enumerate(flags)) for flags in (sources, dests))
            found[instruction.offset] = NearHint(*masks)
    return found


@settings(max_examples=100, deadline=None)
@given(st.one_of(programs(), structured()), st.integers(1, 9))
def test_near_hints_are_what_walking_the_paths_finds(code: str, threshold: int) -> None:
    cfg = graph(code)
    assert near_hints(cfg.function, threshold=threshold) == wanted_hints(cfg, threshold)


LOOP = "top:\nIADD3 R3, R2, 0x1, RZ\n@P0 IADD3 R2, R4, 0x1, RZ\n@P1 IADD3 R4, R3, R5, RZ\n@P1 BRA `(top)\nNOP"
LINE = "MOV R2, 0x1\nMOV R3, 0x2\nMOV R4, 0x3\nNOP\nIADD3 R5, R3, R2, RZ\nIADD3 R6, R4, R2, RZ"


@pytest.mark.parametrize("code", [LOOP, LINE])
@pytest.mark.parametrize("other", [2, 4])
def test_walking_the_paths_tells_neighbouring_thresholds_apart(code: str, other: int) -> None:
    cfg = graph(code)
    assert near_hints(cfg.function, threshold=3) == wanted_hints(cfg, 3) != wanted_hints(cfg, other)
