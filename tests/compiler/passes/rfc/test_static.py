"""Dead sources and strand hints against masks found by hand, and against walks along all paths."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from tests.compiler.generated import graph, next_instructions
from tests.compiler.passes.rfc.test_suspend import flows
from warpfile.compiler.cfg import Cfg
from warpfile.compiler.model import Function
from warpfile.compiler.passes.last_reads import dead_sources
from warpfile.compiler.passes.rfc.static import strand_hints
from warpfile.compiler.passes.rfc.suspend import suspend_before
from warpfile.compiler.program import static_instruction
from warpfile.spec.beat import distinct_sources
from warpfile.spec.trace import Kind


def dead(code: str) -> dict[int, list[int]]:
    """By instruction number, the registers that are dead behind it, where it has sources."""
    function = graph(code).function
    return named(function, dead_sources(function))


def strands(code: str) -> tuple[list[int], dict[int, list[int]]]:
    """Numbers of the instructions with ``no_allocate``, and the registers to evict first by instruction number."""
    function = graph(code).function
    unread, masks = strand_hints(function, suspend_before(function))
    return [offset // 16 for offset in sorted(unread)], named(function, masks)


def named(function: Function, masks: dict[int, int]) -> dict[int, list[int]]:
    """Registers that the masks are about."""
    found = {}
    for offset, mask in masks.items():
        sources = distinct_sources(static_instruction(function.instructions[offset // 16]).sources)
        assert mask < 1 << len(sources)
        found[offset // 16] = [register for bit, register in enumerate(sources) if mask >> bit & 1]
    return found


#: The worked example of the scheme: short chains, a load, and two results that are read again behind the suspension.
EXAMPLE = """MOV R1, 0x1
    IADD3 R2, R1, 0x1, RZ
    IADD3 R3, R1, R2, RZ
    IADD3 R4, R3, 0x1, RZ
    IADD3 R5, R4, R9, RZ
    LDG.SYS R6, [R5]
    IADD3 R7, R6, R4, RZ
    IADD3 R8, R3, R4, R9
    IADD3 R8, R6, R7, R8"""


def test_example_with_one_suspension() -> None:
    assert suspend_before(graph(EXAMPLE).function) == {6 * 16}
    assert dead(EXAMPLE) == {1: [], 2: [1, 2], 3: [], 4: [], 5: [5], 6: [], 7: [3, 4, 9], 8: [6, 7, 8]}
    assert strands(EXAMPLE) == (
        [5, 8],
        {1: [], 2: [1, 2], 3: [3], 4: [4, 9], 5: [5], 6: [], 7: [3, 4, 9], 8: [6, 7, 8]},
    )


def test_masks_are_in_order_of_first_occurrence() -> None:
    function = graph("IADD3 R2, R7, R5, R6\nIADD3 R3, R5, R5, RZ").function
    assert dead_sources(function) == {0: 0b101, 16: 0b1}


def test_a_repeated_source_has_one_bit() -> None:
    assert dead_sources(graph("FFMA R5, R6, R6, R7\nMOV R8, R6").function) == {0: 0b10, 16: 0b1}


def test_a_source_before_an_overwrite_is_dead() -> None:
    assert dead("IADD3 R3, R2, 0x1, RZ\nMOV R2, RZ\nIADD3 R4, R2, R3, RZ")[0] == [2]


@pytest.mark.parametrize(("guard", "registers"), [("", [2]), ("@PT ", [2]), ("@P0 ", []), ("@!PT ", [])])
def test_a_guarded_write_ends_nothing(guard: str, registers: list[int]) -> None:
    assert dead(f"IADD3 R3, R2, 0x1, RZ\n{guard}MOV R2, RZ\nIADD3 R4, R2, R3, RZ")[0] == registers


def test_a_guarded_reader_keeps_a_source_alive_and_may_be_the_last() -> None:
    found = dead("IADD3 R3, R2, 0x1, RZ\n@P0 IADD3 R4, R2, 0x1, RZ")
    assert found == {0: [], 1: [2]}


def test_a_source_that_its_own_instruction_overwrites_is_as_dead_as_the_result() -> None:
    assert dead("IADD3 R2, R2, 0x1, RZ\nIADD3 R3, R2, 0x1, RZ")[0] == []
    assert dead("IADD3 R2, R2, 0x1, RZ\nIADD3 R3, R4, 0x1, RZ")[0] == [2]


def test_a_store_can_be_the_last_reader() -> None:
    assert dead("STG.E.64.SYS [R2], R4\nIADD3 R6, R3, R4, RZ")[0] == [2, 5]


def test_every_register_of_a_wide_operand_has_its_own_bit() -> None:
    assert dead("DADD R2, R4, R6\nIADD3 R8, R5, 0x1, RZ\nIADD3 R8, R6, R7, RZ")[0] == [4]


def test_a_value_of_the_next_turn_is_not_dead() -> None:
    code = "top:\nIADD3 R3, R2, R4, RZ\nIADD3 R4, R3, R5, RZ\n@P0 BRA `(top)\nNOP"
    assert dead(code) == {0: [4], 1: [3]}


def test_one_side_of_a_branch_that_reads_a_value_keeps_it_alive_before_the_branch_only() -> None:
    code = """IADD3 R3, R2, R4, RZ
        @P0 BRA `(other)
        IADD3 R5, R4, 0x1, RZ
        EXIT
        other:
        IADD3 R5, R2, R3, RZ"""
    # On its own side a value is dead for the thread; whether it is for the warp, the warp's lanes decide.
    assert dead(code) == {0: [], 2: [4], 4: [2, 3]}


def test_nothing_is_live_at_an_exit_but_behind_a_guarded_one() -> None:
    assert dead("IADD3 R3, R1, 0x1, RZ\nEXIT\nIADD3 R4, R1, R3, RZ")[0] == [1]
    assert dead("IADD3 R3, R1, 0x1, RZ\n@P0 EXIT\nIADD3 R4, R1, R3, RZ")[0] == []


@pytest.mark.parametrize("guard", ["", "@P0 "])
def test_everything_is_live_before_a_call(guard: str) -> None:
    code = """IADD3 R3, R2, 0x1, RZ
        {guard}CALL.REL.NOINC `(sub)
        IADD3 R5, R4, 0x1, RZ
        EXIT
        sub:
        MOV R2, RZ
        EXIT"""
    assert dead(code.format(guard=guard)) == {0: [], 2: [4]}


def test_everything_is_live_before_a_return_and_the_return_reads_no_dead_register() -> None:
    code = "CALL.REL.NOINC `(sub)\nEXIT\nsub:\nIADD3 R3, R2, 0x1, RZ\nRET.REL.NODEC R20 `(k)"
    assert dead(code) == {2: [], 3: []}


def test_an_overwrite_before_a_return_ends_a_value() -> None:
    code = "CALL.REL.NOINC `(sub)\nEXIT\nsub:\nIADD3 R3, R2, 0x1, RZ\nMOV R2, RZ\nRET.REL.NODEC R20 `(k)"
    assert dead(code)[2] == [2]


@pytest.mark.parametrize("jump", ["CALL.ABS.NOINC R10", "BRX R10 -0x10", "@P0 BRX R10 -0x10"])
def test_everything_is_live_where_control_goes_to_code_outside_of_the_listing(jump: str) -> None:
    assert dead(f"IADD3 R3, R2, 0x1, RZ\n{jump}\nIADD3 R4, R5, 0x1, RZ") == {0: [], 1: [], 2: [5]}


def test_an_opaque_opcode_may_read_what_it_names_and_has_no_mask() -> None:
    assert dead("IADD3 R3, R2, R20, RZ\nFUTURE R0, R2") == {0: [20]}


def test_the_end_of_a_strand_makes_registers_worth_evicting() -> None:
    code = "IADD3 R3, R2, 0x1, RZ\nMEMBAR.SC.GPU\nIADD3 R4, R2, R3, RZ\nIADD3 R5, R4, R2, RZ"
    assert dead(code) == {0: [], 2: [3], 3: [4, 2]}
    assert strands(code) == ([0, 3], {0: [2], 2: [3], 3: [4, 2]})


def test_what_a_suspending_instruction_reads_comes_from_behind_the_flush() -> None:
    code = "IADD3 R3, R2, 0x1, RZ\nLDG.SYS R4, [R8]\nIADD3 R5, R4, R3, RZ\nIADD3 R6, R3, R5, RZ"
    assert strands(code) == ([0, 1, 3], {0: [2], 1: [8], 2: [4], 3: [3, 5]})


def test_strands_end_behind_a_barrier_whose_own_reads_come_before() -> None:
    code = "MOV R2, 0x1\nMOV R3, 0x2\nMOV R4, 0x3\nBAR.SYNC R2, R3\nIADD3 R5, R4, R2, RZ"
    assert strands(code) == ([2, 4], {3: [2, 3], 4: [4, 2]})


@pytest.mark.parametrize("jump", ["CALL.ABS.NOINC R10", "BRX R10 -0x10", "RET.REL.NODEC R10 `(k)"])
def test_a_strand_goes_on_in_code_outside_of_the_listing(jump: str) -> None:
    assert strands(f"MOV R2, RZ\n{jump}") == ([], {1: []})


def test_an_arrival_ends_no_strand() -> None:
    assert strands("MOV R4, 0x3\nBAR.ARV 0x1, 0x40\nIADD3 R5, R4, 0x1, RZ")[0] == [2]


def test_without_suspensions_strand_hints_are_about_last_reads() -> None:
    function = graph(EXAMPLE).function
    assert strand_hints(function, frozenset()) == ({8 * 16}, dead_sources(function))


def test_a_wide_result_is_kept_if_one_of_its_registers_is_read() -> None:
    assert strands("DADD R2, R4, R6\nIADD3 R8, R3, 0x1, RZ")[0] == [1]


def test_a_guarded_write_does_not_stand_for_the_result_before() -> None:
    assert strands("MOV R2, 0x1\n@P0 MOV R2, 0x2\nIADD3 R3, R2, 0x1, RZ")[0] == [2]
    assert strands("MOV R2, 0x1\nMOV R2, 0x2\nIADD3 R3, R2, 0x1, RZ")[0] == [0, 2]


def test_a_strand_goes_round_a_loop() -> None:
    assert strands("top:\nIADD3 R2, R3, 0x1, RZ\nMOV R3, R2\n@P0 BRA `(top)\nNOP") == ([], {0: [3], 1: [2]})
    cut = "top:\nIADD3 R2, R3, 0x1, RZ\nMOV R3, R2\nBAR.SYNC 0x0\n@P0 BRA `(top)\nNOP"
    assert strands(cut) == ([1], {0: [3], 1: [2]})


def test_instructions_without_general_destination_are_not_in_no_allocate() -> None:
    code = "ISETP.LT.AND P0, PT, R2, 0x1, PT\nSTS [R3], R2\nUMOV UR4, 0x1\nFUTURE R4, R5"
    assert strands(code)[0] == []


def is_read_by_walking(cfg: Cfg, index: int, register: int, suspends: frozenset[int], broken: str = "") -> bool:
    """Definition: some path reads the register before it surely overwrites it, and before its strand ends.

    ``broken`` names a rule that is left out.
    """
    instructions, follow = cfg.function.instructions, next_instructions(cfg)

    def ends_behind(place: int) -> bool:
        return static_instruction(instructions[place]).kind is Kind.BARRIER and broken != "barrier"

    cuts = suspends is not EVER
    work = [] if cuts and ends_behind(index) else list(follow[index])
    seen = set[int]()
    while work:
        place = work.pop()
        if place in seen or (cuts and instructions[place].offset in suspends and broken != "flush"):
            continue
        seen.add(place)
        static = static_instruction(instructions[place])
        if register in static.sources:
            return True
        is_guarded = instructions[place].is_guarded and broken != "guard"
        if (is_guarded or register not in static.dests) and not (cuts and ends_behind(place)):
            work += follow[place]
    return False


EVER: frozenset[int] = frozenset((-1,))  #: in the place of suspension points: nothing ends a strand


def masks_by_walking(cfg: Cfg, suspends: frozenset[int], broken: str = "") -> dict[int, int]:
    masks = {}
    for index, instruction in enumerate(cfg.function.instructions):
        if sources := distinct_sources(static_instruction(instruction).sources):
            flags = [not is_read_by_walking(cfg, index, register, suspends, broken) for register in sources]
            masks[instruction.offset] = sum(flag << bit for bit, flag in enumerate(flags))
    return masks


def unread_by_walking(cfg: Cfg, suspends: frozenset[int]) -> set[int]:
    unread = set()
    for index, instruction in enumerate(cfg.function.instructions):
        dests = static_instruction(instruction).dests
        if dests and not any(is_read_by_walking(cfg, index, register, suspends) for register in dests):
            unread.add(instruction.offset)
    return unread


@settings(max_examples=100, deadline=None)
@given(flows())
def test_hints_are_what_walking_the_paths_finds(code: str) -> None:
    cfg = graph(code)
    assert dead_sources(cfg.function) == masks_by_walking(cfg, EVER)
    suspends = suspend_before(cfg.function)
    assert strand_hints(cfg.function, suspends) == (unread_by_walking(cfg, suspends), masks_by_walking(cfg, suspends))


@settings(max_examples=50, deadline=None)
@given(flows())
def test_what_is_dead_for_good_is_dead_in_its_strand(code: str) -> None:
    function = graph(code).function
    evicted = strand_hints(function, suspend_before(function))[1]
    assert all(mask & ~evicted[offset] == 0 for offset, mask in dead_sources(function).items())


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        ("guard", "IADD3 R3, R2, 0x1, RZ\n@P0 MOV R2, RZ\nIADD3 R4, R2, R3, RZ"),
        ("flush", "IADD3 R3, R2, 0x1, RZ\nMEMBAR.SC.GPU\nIADD3 R4, R2, R3, RZ"),
        ("barrier", "IADD3 R3, R2, 0x1, RZ\nBAR.SYNC 0x0\nIADD3 R4, R2, R3, RZ"),
    ],
)
def test_walking_the_paths_notices_a_missing_rule(broken: str, code: str) -> None:
    cfg = graph(code)
    suspends = suspend_before(cfg.function)
    assert masks_by_walking(cfg, suspends, broken) != masks_by_walking(cfg, suspends)
