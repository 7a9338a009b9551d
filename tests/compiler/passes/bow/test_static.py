"""Write classes rule by rule, each with a class derived by hand."""

from __future__ import annotations

import pytest

from tests.emulator.harness import listing
from warpfile.compiler import parse
from warpfile.compiler.model import Function
from warpfile.compiler.passes.bow.static import REGISTER_FILE, WINDOW, write_classes

NOWHERE, BOTH = 0, WINDOW | REGISTER_FILE

#: The listing of BOW's worked example, lines 2 to 14.
BTREE = """LDS R3, [R8]
    MOV R2, 0x18
    IMAD R1, R0, R2, RZ
    IMAD R1, R0, R2, R1
    SHF.L.U32 R1, R1, 0x2, RZ
    IMAD R0, R0, R2, R1
    IADD3 R0, R0, 0x1, RZ
    IADD3 R0, R9, R0, RZ
    IADD3 R1, R0, 0x4, RZ
    LDS R2, [R1]
    ISETP.EQ.AND P1, PT, R2, RZ, PT
    ISETP.LT.AND P2, PT, R2, RZ, PT
    ISETP.NE.AND P0, PT, R3, R1, PT"""


def function(code: str) -> Function:
    return parse(listing(code), "t").functions["k"]


def classes(code: str, window: int = 3, source_slots: int = 3, any_progress: bool = False) -> dict[int, int]:
    """Classes by position in the code."""
    found = write_classes(function(code), window=window, source_slots=source_slots, any_progress=any_progress)
    return {offset // 16: value for offset, value in found.items()}


def first(*lines: str, window: int = 3, source_slots: int = 3) -> int:
    """Class of the first instruction."""
    return classes("\n".join(lines), window, source_slots)[0]


READ = "ISETP.EQ.AND P6, PT, R2, RZ, PT"
SET = "MOV R2, 0x1"


def test_worked_example() -> None:
    assert list(classes(BTREE).values()) == [REGISTER_FILE] + [WINDOW] * 7 + [BOTH, WINDOW]


def test_worked_example_with_a_shorter_window() -> None:
    assert list(classes(BTREE, window=2).values()) == [REGISTER_FILE, BOTH] + [WINDOW] * 6 + [BOTH, WINDOW]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((SET, "NOP", READ), WINDOW),
        ((SET, "NOP", "NOP", READ), REGISTER_FILE),
        ((SET, "NOP", READ, "NOP", READ, "NOP", READ), WINDOW),
        ((SET, READ, "NOP", "NOP", READ), BOTH),
        ((SET, "NOP"), NOWHERE),
        ((SET, SET, "NOP", "NOP", READ), NOWHERE),
        ((SET, "IADD3 R2, R2, 0x1, RZ", "NOP", "NOP", READ), WINDOW),
        ((SET, "NOP", "NOP", "IADD3 R2, R2, 0x1, RZ"), REGISTER_FILE),
    ],
)
def test_distances_along_a_line(lines: tuple[str, ...], expected: int) -> None:
    assert first(*lines) == expected


@pytest.mark.parametrize(
    "idle", ["NOP", "@P0 NOP", "BAR.SYNC 0x0", "BSSY B0, `(end)", "MEMBAR.SC.CTA", "STG.E [R6], R5"]
)
def test_every_instruction_takes_a_place_in_the_window_and_time_takes_none(idle: str) -> None:
    assert first(SET, idle, READ, "end:") == WINDOW
    assert first(SET, idle, "NOP", READ, "end:") == REGISTER_FILE


def test_a_guarded_reader_does_not_keep_the_value_in_the_window() -> None:
    assert first(SET, "NOP", READ, "NOP", READ) == WINDOW
    assert first(SET, "NOP", f"@P0 {READ}", "NOP", READ) == BOTH
    assert first(SET, f"@P0 {READ}", READ) == WINDOW


def test_a_guarded_definition_is_in_the_register_file() -> None:
    assert first(f"@P0 {SET}", READ) == BOTH
    assert first(f"@P0 {SET}", "NOP") == REGISTER_FILE


def test_a_guarded_redefinition_needs_the_old_value_in_the_register_file() -> None:
    redefine = "@P0 MOV R2, 0x2"
    assert first(SET, redefine, READ) == BOTH
    assert first(SET, READ, redefine, "NOP", READ) == BOTH
    assert first(SET, "NOP", "NOP", redefine, READ) == REGISTER_FILE
    # The redefined value is not used: no later read needs lanes of the old one.
    assert first(SET, READ, redefine) == WINDOW


def test_a_wide_result_takes_what_any_half_needs() -> None:
    wide, high = "IMAD.WIDE R2, R4, R5, RZ", "ISETP.EQ.AND P6, PT, R3, RZ, PT"
    assert first(wide, READ, high) == WINDOW
    assert first(wide, READ) == WINDOW
    assert first(wide, READ, "NOP", high) == BOTH
    assert first(wide, "NOP") == NOWHERE


def test_distances_count_beats() -> None:
    store = "STS.128 [R20], R4"  # sources R20 R4 R5, then R6 R7
    assert first(SET, store, READ, source_slots=8) == WINDOW
    assert first(SET, store, READ, source_slots=3) == REGISTER_FILE
    assert first("MOV R5, 0x1", store, window=2) == WINDOW
    assert first("MOV R7, 0x1", store, window=2) == REGISTER_FILE
    assert first("MOV R7, 0x1", store, window=2, source_slots=8) == WINDOW
    # The link that starts in the first beat has the second one in it.
    later = "ISETP.EQ.AND P6, PT, R4, R7, PT"
    assert first("MOV R4, 0x1", store, later, window=2) == BOTH
    assert first("MOV R7, 0x1", "NOP", store, later) == REGISTER_FILE
    assert first("MOV R7, 0x1", store, later) == WINDOW


def branch(condition: str, window: int = 5) -> dict[int, int]:
    """R2 is read in the block that a branch skips to, four beats behind its definition."""
    return classes(
        f"""ISETP.LT.AND P0, PT, {condition}, 0x4, PT
        MOV R2, 0x1
        BSSY B0, `(behind)
        @P0 BRA `(other)
        MOV R3, 0x1
        IADD3 R3, R3, 0x2, RZ
        BRA `(end)
        other:
        ISETP.EQ.AND P6, PT, R2, RZ, PT
        end:
        BSYNC B0
        behind:
        NOP""",
        window,
    )


def test_a_read_on_the_other_side_of_a_divergent_branch_finds_the_register_file_only() -> None:
    assert branch("R0")[1] == REGISTER_FILE
    assert branch("UR4")[1] == WINDOW
    assert branch("UR4", window=3)[1] == REGISTER_FILE


def test_a_redefinition_in_an_influence_region_leaves_out_lanes() -> None:
    # R3 is read and redefined by one instruction; in torn code the new value is partial, and forces rf = 1.
    assert (branch("UR4")[4], branch("R0")[4]) == (WINDOW, BOTH)


def loop(limit: str, window: int) -> tuple[int, int]:
    """Classes of a counter before and in its loop, where it is read twice, two beats apart over the back edge."""
    found = classes(
        f"""MOV R2, RZ
        top:
        IADD3 R2, R2, 0x1, RZ
        ISETP.LT.AND P0, PT, R2, {limit}, PT
        @P0 BRA `(top)""",
        window,
    )
    return found[0], found[1]


def test_a_chain_goes_on_over_a_back_edge() -> None:
    assert loop("UR4", 3) == (WINDOW, WINDOW)
    assert loop("UR4", 2) == (WINDOW, BOTH)


def test_a_divergent_loop_needs_the_register_file() -> None:
    assert loop("R0", 3)[1] == BOTH


@pytest.mark.parametrize(
    "point",
    ["BSYNC B0", "BREAK B0", "WARPSYNC 0xffffffff", "YIELD", "@P0 EXIT", "@P0 KILL", "FUTURE R9", "CALL.ABS.NOINC R4"],
)
def test_behind_a_hazard_point_a_read_needs_the_register_file(point: str) -> None:
    assert first(SET, "NOP", READ) == WINDOW
    assert first(SET, point, READ) == REGISTER_FILE
    assert first(SET, READ, point, READ) == BOTH


def test_a_barrier_is_a_hazard_where_the_warp_may_come_in_parts() -> None:
    torn = "ISETP.LT.AND P0, PT, R0, 0x4, PT\n@P0 BRA `(other)\nNOP\nother:\n"
    assert classes(f"{torn}{SET}\nNOP\n{READ}")[3] == WINDOW
    assert classes(f"{torn}{SET}\nBAR.SYNC 0x0\n{READ}")[3] == REGISTER_FILE


def test_with_any_progress_torn_code_has_no_distances() -> None:
    torn = f"ISETP.LT.AND P0, PT, R0, 0x4, PT\n@P0 BRA `(other)\nNOP\nother:\n{SET}\n{READ}"
    assert classes(torn)[3] == WINDOW
    assert classes(torn, any_progress=True)[3] == REGISTER_FILE
    assert classes(f"{SET}\n{READ}", any_progress=True)[0] == WINDOW


CALL = """MOV R2, 0x1
    MOV R3, 0x1
    ISETP.EQ.AND P6, PT, R3, RZ, PT
    CALL.REL.NOINC `(sub)
    NOP
    EXIT
    sub:
    IADD3 R4, R2, 0x1, RZ
    RET.REL.NODEC R8 `(k)"""


def test_values_are_followed_into_a_callee() -> None:
    found = classes(CALL, window=7)
    assert (found[0], found[1]) == (REGISTER_FILE, WINDOW)
    assert classes(CALL.replace("NOP", READ.replace("R2", "R4")))[6] == REGISTER_FILE
    assert found[6] == NOWHERE


def test_what_may_be_live_at_an_unknown_place_is_in_the_register_file() -> None:
    assert first(SET, READ, "RET.REL.NODEC R8 `(k)") == BOTH
    assert first(SET, READ, "BRX R8 -0x10") == BOTH


def test_an_opaque_opcode_may_read_and_write_what_it_names() -> None:
    assert first(SET, "FUTURE R4, R2") == REGISTER_FILE
    assert classes(f"{SET}\nFUTURE R4, R2")[1] == BOTH


def test_instructions_without_general_destination_have_no_class() -> None:
    assert set(classes(f"{READ}\n{SET}\nMOV RZ, R3\nUMOV UR4, 0x1")) == {1}


def test_arguments_are_checked() -> None:
    with pytest.raises(ValueError, match="window and source_slots must be at least 1, not 0 and 3"):
        classes(SET, window=0)
