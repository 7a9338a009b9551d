"""Single programs: where ACQ and REL stand, which names registers get, what is refused."""

from __future__ import annotations

import pytest

from tests.compiler.generated import graph
from tests.compiler.passes.regmutex.crowded import SCATTERED, SHORT
from tests.compiler.passes.regmutex.harness import plan_for, with_base
from tests.compiler.passes.regmutex.interpreter import judged
from tests.compiler.passes.regmutex.test_soundness import records_of
from warpfile.compiler.model import Function
from warpfile.compiler.passes.regmutex.layout import Rewriting

PEAK = """MOV R3, 0x1
    MOV R4, 0x2
    MOV R5, 0x3
    MOV R6, 0x4
    IADD3 R2, R3, R4, R5
    IADD3 R2, R2, R6, RZ
    NOP"""
SIDES = """S2R R0, SR_LANEID
    ISETP.LT.AND P0, PT, R0, 0x4, PT
    MOV R2, 0x1
    BSSY B0, `(behind)
    @P0 BRA `(other)
    {first}
    BRA `(meet)
    other:
    {second}
    meet:
    BSYNC B0
    behind:
    IADD3 R2, R2, R0, RZ
    STS [RZ], R2"""


def code(text: str, **parts: str) -> Function:
    return graph(text.format(**parts)).function


def pseudo(found: Rewriting) -> dict[object, list[str]]:
    """ACQ and REL by the instruction that they stand before, or by the edge."""
    places = {**found.before, **found.edges}
    kept = {place: [one.text for one in program if one.text in ("ACQ", "REL")] for place, program in places.items()}
    return {place: texts for place, texts in kept.items() if texts}


def check(text: str, base: int) -> Rewriting:
    """The rewriting of a program that finds what it reads, whichever side runs first."""
    function = graph(text).function
    for taken_first in (False, True):
        assert not judged(with_base(function, base, [records_of(text, taken_first)])).wrong
    return plan_for(function, base).rewriting


def test_a_peak_in_straight_code_is_bracketed() -> None:
    assert pseudo(check(PEAK, 4)) == {3: ["ACQ"], 5: ["REL"]}
    assert pseudo(check(PEAK, 6)) == {}


def test_a_peak_in_the_second_side_only_is_bracketed_there() -> None:
    found = pseudo(check(SIDES.format(first="NOP", second=PEAK), 5))
    assert found == {9: ["ACQ"], 12: ["REL"]}  # R2 is kept for lanes elsewhere


def test_peaks_in_both_sides_give_the_section_back_where_they_rejoin() -> None:
    found = pseudo(check(SIDES.format(first=PEAK, second=PEAK), 5))
    assert found == {7: ["ACQ"], 15: ["ACQ"], (3, 4): ["REL"]}


BEHIND = "IADD3 R2, R2, R0, RZ\n    IADD3 R2, R2, R7, R8\n    IADD3 R2, R2, R9, R10"


def test_a_side_keeps_the_section_that_its_rejoin_block_needs() -> None:
    text = SIDES.format(first="MOV R7, 0x1\n    MOV R8, 0x2\n    MOV R9, 0x3\n    MOV R10, 0x4", second="NOP")
    found = pseudo(check(text.replace("IADD3 R2, R2, R0, RZ", BEHIND), 5))
    assert [texts for texts in found.values() if "REL" in texts] == [["REL"]]
    assert all(place == (0, 0) or place == -1 or place > 12 for place, texts in found.items() if "REL" in texts)


def test_a_divergent_loop_exit_waits_for_the_lanes_in_the_loop() -> None:
    text = f"""S2R R0, SR_LANEID
        MOV R2, 0x1
        BSSY B0, `(behind)
        top:
        {PEAK}
        IADD3 R0, R0, 0x7, RZ
        ISETP.LT.AND P0, PT, R0, 0x20, PT
        @P0 BRA `(top)
        BSYNC B0
        behind:
        STS [RZ], R2"""
    found = pseudo(check(text, 4))
    assert list(found.values()) == [["ACQ"], ["REL"]]


def test_a_loop_takes_the_section_once_per_trip_or_once_if_hoisted() -> None:
    text = f"""MOV R1, RZ
        MOV R2, 0x1
        top:
        {PEAK}
        IADD3 R1, R1, 0x1, RZ
        ISETP.LT.AND P0, PT, R1, 0x4, PT
        @P0 BRA `(top)
        STS [RZ], R2"""
    records, function = records_of(text, False), graph(text).function
    counts = [judged(with_base(function, 4, [records], hoist=hoist)).counts["ACQ"] for hoist in (0, 1)]
    assert counts == [4, 1]


def test_stretches_become_one_across_a_small_gap() -> None:
    text = f"{PEAK}\n    NOP\n    {PEAK}"
    records, function = records_of(text, False), graph(text).function
    counts = [judged(with_base(function, 4, [records], merge_gap=gap)).counts["ACQ"] for gap in (0, 20)]
    assert counts == [2, 1]


def test_the_lowest_free_name_of_the_base_set_is_taken() -> None:
    """Live are 2, 4, 5 and 9 of a base set of six: 9 moves to 0 (R1 is always live)."""
    text = """MOV R2, 0x1
        MOV R4, 0x1
        MOV R5, 0x1
        MOV R3, 0x1
        MOV R0, 0x1
        MOV R9, 0x1
        IADD3 R2, R3, R0, R2
        IADD3 R2, R2, R4, R5
        IADD3 R2, R2, R9, RZ"""
    found = check(text, 6)
    moves = [one.text for one in found.inserted if one.opcode == "MOV"]
    assert moves == ["MOV R0, R9"]


def test_a_wide_group_moves_as_a_whole_to_an_aligned_place() -> None:
    text = """MOV R0, 0x0
        MOV R2, 0x1
        MOV R3, 0x1
        MOV R4, 0x1
        MOV R5, 0x1
        MOV R8, 0x5
        MOV R9, 0x6
        IADD3 R2, R2, R3, R4
        IADD3 R2, R2, R5, RZ
        NOP
        STS.64 [R0], R8
        STS [RZ], R2"""
    found = check(text, 6)
    moves = [one.text for one in found.inserted if one.opcode == "MOV"]
    assert moves == ["MOV R4, R8", "MOV R5, R9"]


def test_a_wide_group_without_room_keeps_the_section() -> None:
    text = """MOV R0, 0x0
        MOV R2, 0x1
        MOV R4, 0x1
        MOV R3, 0x1
        MOV R8, 0x5
        MOV R9, 0x6
        IADD3 R2, R2, R3, RZ
        NOP
        STS.64 [R0], R8
        IADD3 R2, R2, R4, RZ
        STS [RZ], R2"""
    found = check(text, 6)
    assert list(pseudo(found).values())[-1] == ["REL"]


def moves(found: Rewriting) -> dict[int, list[str]]:
    """Code that begins with an ACQ, by the instruction that it stands before."""
    return {place: [one.text for one in program] for place, program in found.before.items() if program[0].text == "ACQ"}


def test_only_what_blocks_a_pair_moves_and_only_where_its_stretch_begins() -> None:
    """No even name and the next are free: R0, R2, R3, R4, R7 and R9 are taken. The pair's own are R4 and R5."""
    found = check(SCATTERED.format(first=SHORT, top="", again=""), 5)
    assert moves(found) == {6: ["ACQ"], 10: ["ACQ", "MOV R6, R4"]}


def test_all_get_their_own_names_where_a_stretch_with_a_loop_begins() -> None:
    again = "ISETP.LT.AND P0, PT, R2, 0x1, PT\n    @P0 BRA `(top)\n    "
    found = check(SCATTERED.format(first=SHORT, top="top:\n    ", again=again), 5)
    assert moves(found) == {6: ["ACQ"], 10: ["ACQ", "MOV R6, R3", "MOV R8, R4"]}


def test_a_stretch_ends_where_the_section_was_taken() -> None:
    """Instructions 10 and 11 lead to the load; 9 is between both stretches."""
    plan = plan_for(graph(SCATTERED.format(first=SHORT, top="", again="")).function, 5)
    assert plan.stretches is not None
    assert plan.stretches.stretch(12) == {10, 11, 12}


def test_a_barrier_in_a_stretch_is_refused() -> None:
    text = PEAK.replace("IADD3 R2, R3", "BAR.SYNC 0x0\n    IADD3 R2, R3")
    with pytest.raises(
        ValueError, match="less than 4 for k, with a base set of 4: the code needs 5 registers at a barr"
    ):
        plan_for(graph(text).function, 4)


def test_a_barrier_directly_behind_and_before_stretches_is_fine() -> None:
    text = f"{PEAK.removesuffix('NOP')}BAR.SYNC 0x0\n    {PEAK}"
    found = pseudo(check(text, 4))
    assert list(found.values()) == [["ACQ"], ["REL"]] * 2


def test_code_that_may_wait_for_another_warp_is_refused() -> None:
    text = f"top:\n    {PEAK}\n    ATOMG.E.CAS.STRONG.GPU PT, R3, [R2], R4, R5\n    ISETP.NE.AND P0, PT, R3, RZ, PT\n"
    with pytest.raises(ValueError, match="may wait for another warp"):
        plan_for(graph(f"{text}    @P0 BRA `(top)").function, 4)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("@P0 BAR.SYNC 0x0", "is not for all lanes"),
        ("WARPSYNC R2", "is not for all lanes"),
        ("BRX R2 -0x10", "leads to code that is not known"),
        ("TEX.SCR.LL R2, R4, R6, R8, 0x0, 2D", "operands"),
    ],
)
def test_code_of_which_too_little_is_known_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        plan_for(graph(f"{PEAK}\n    {text}").function, 4)


def test_one_bit_per_pair_refuses_sides_that_both_take_the_section() -> None:
    with pytest.raises(ValueError, match="pair_state must be warp for this code: an ACQ at 0x50 may find the section"):
        plan_for(code(SIDES, first=PEAK, second=PEAK), 5, sharing="pairs", pair_state="pair")
    plan_for(code(SIDES, first="NOP", second=PEAK), 5, sharing="pairs", pair_state="pair")
