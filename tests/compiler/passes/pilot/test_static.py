"""Occurrences in code and lists of hot registers against counts by hand and against the text of generated programs."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compiler.generated import graph, structured
from warpfile.compiler import parse
from warpfile.compiler.passes.pilot.static import hottest, occurrences


def counted(code: str, *, loops: bool = False) -> dict[int, int]:
    return dict(occurrences(graph(code).function, loops=loops))


def test_reads_and_writes_of_every_register_of_a_wide_operand_count() -> None:
    assert counted("IMAD.WIDE R4, R4, R6, R8") == {4: 2, 5: 1, 6: 1, 8: 1, 9: 1}
    assert counted("LDG.E.128.SYS R8, [R2.64]") == {2: 1, 3: 1, 8: 1, 9: 1, 10: 1, 11: 1}


def test_a_register_that_an_instruction_names_twice_counts_twice() -> None:
    assert counted("FFMA R5, R6, R6, R5") == {5: 2, 6: 2}


def test_guarded_instructions_count_and_what_is_no_general_register_does_not() -> None:
    code = "@P0 MOV R2, R3\nIADD3 R2, RZ, 0x5, RZ\nISETP.LT.AND P0, PT, RZ, UR4, PT\nBAR.SYNC 0x0"
    assert counted(code) == {2: 2, 3: 1}


CALLS = """MOV R2, 0x1
    {call}
    EXIT
    sub:
    MOV R3, R2
    {inner}
    RET.REL.NODEC R8 `(k)
    inner:
    MOV R4, R3
    RET.REL.NODEC R8 `(k)"""


def test_callees_of_callees_count_once_however_often_they_are_called() -> None:
    calls = CALLS.format(call="CALL.REL.NOINC `(sub)\nCALL.REL.NOINC `(sub)", inner="CALL.REL.NOINC `(inner)")
    assert counted(calls) == {2: 2, 3: 2, 4: 1, 8: 2, 9: 2}


LINKED = """\t.section\t.text.k,"ax",@progbits
\t.type\tk,@function
k:
        /*0000*/   {call} ;
        /*0010*/   EXIT ;
\t.type\tother,@function
other:
        /*0020*/   MOV R5, R6 ;
        /*0030*/   RET.REL.NODEC R8 `(k) ;
"""


@pytest.mark.parametrize(
    ("call", "wanted"),
    [
        ("MOV R2, 0x1", {2: 1}),
        ("CALL.REL.NOINC `(other)", {5: 1, 6: 1, 8: 1, 9: 1}),
        ("CALL.REL.NOINC R2 `(k)", {2: 1, 3: 1, 5: 1, 6: 1, 8: 1, 9: 1}),
    ],
)
def test_routines_count_if_they_may_be_called(call: str, wanted: dict[int, int]) -> None:
    assert dict(occurrences(parse(LINKED.format(call=call), "t").functions["k"])) == wanted


def test_a_loop_counts_ten_times_if_loops_count() -> None:
    code = "MOV R2, RZ\ntop:\nIADD3 R3, R2, 0x1, RZ\ninner:\n@P1 MOV R4, R3\n@P0 BRA `(inner)\n@P2 BRA `(top)"
    assert counted(code) == {2: 2, 3: 2, 4: 1}
    assert counted(code, loops=True) == {2: 11, 3: 110, 4: 100}


def test_hot_registers_are_the_largest_counts_and_of_equals_the_lower_numbers() -> None:
    counts = Counter({2: 50, 8: 40, 0: 40, 5: 7, 9: 7, 1: 3})
    assert hottest(counts, 4) == (2, 0, 8, 5)
    assert hottest(counts, 1) == (2,)


def test_there_are_fewer_hot_registers_than_places_if_fewer_are_used() -> None:
    assert hottest(Counter({7: 1, 3: 1, 4: 0}), 4) == (3, 7)
    assert hottest({}, 4) == ()


@settings(max_examples=60, deadline=None)
@given(structured(), st.integers(1, 6))
def test_counts_are_the_names_in_the_text(code: str, most: int) -> None:
    wanted = Counter(int(number) for number in re.findall(r"\bR(\d+)\b", code))
    found = occurrences(graph(code).function)
    assert found == wanted
    hot = hottest(found, most)
    assert len(hot) == min(most, len(wanted))
    colder = [register for register in wanted if register not in hot]
    ranks = [(-wanted[register], register) for register in hot]
    assert ranks == sorted(ranks)
    assert all((-wanted[register], register) > ranks[-1] for register in colder)
