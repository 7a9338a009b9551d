"""Registers that are read together, and how often: loops, calls, wide operands, what was executed."""

from __future__ import annotations

import pytest

from tests.compiler.generated import graph
from tests.compiler.passes.packed.code import executed as run_of
from warpfile.compiler.passes.packed.affinity import executed, expected
from warpfile.compiler.passes.packed.frequency import MOST, frequencies


def weights(code: str) -> dict[tuple[int, int], int]:
    return dict(expected(graph(code).function))


def test_every_two_distinct_sources_of_an_instruction_belong_together() -> None:
    assert weights("IADD3 R9, R3, R2, R1\nFFMA R9, R2, R2, R3\nFADD R9, R4, R4\nMOV R9, R5") == {
        (1, 2): 1, (1, 3): 1, (2, 3): 2,
    }  # fmt: skip


def test_wide_operands_are_taken_register_by_register() -> None:
    assert weights("STG.E.64.SYS [R2.64], R4") == {(a, b): 1 for a in range(2, 6) for b in range(a + 1, 6)}


def test_guards_destinations_and_rz_do_not_matter() -> None:
    assert weights("@P0 IADD3 R2, R2, R3, RZ\n@!PT IADD3 RZ, R3, RZ, R2") == {(2, 3): 2}


def test_unknown_opcodes_read_nothing_together() -> None:
    assert weights("FROB R1, R2, R3") == {}


LOOP = """MOV R1, {start}
    top:
    IADD3 R9, R2, R3, RZ
    {inner}
    IADD3 R1, R1, 0x1, RZ
    ISETP.LT.AND P0, PT, R1, {bound}, PT
    @P0 BRA `(top)
    IADD3 R9, R4, R5, RZ"""
INNER = "inner:\nIADD3 R9, R6, R7, RZ\n@P1 BRA `(inner)"


@pytest.mark.parametrize(("start", "bound", "trips"), [("RZ", "0x7", 7), ("0x2", "0x7", 5), ("RZ", "R8", 10)])
def test_loops_count_as_often_as_they_run_or_ten_times(start: str, bound: str, trips: int) -> None:
    found = weights(LOOP.format(start=start, bound=bound, inner=INNER))
    assert [found[2, 3], found[6, 7], found[4, 5]] == [trips, 10 * trips, 1]


def test_weights_of_deep_loops_stop_growing() -> None:
    labels = [f"L{depth}" for depth in range(12)]
    code = "\n".join([*(f"{one}:\nNOP" for one in labels), "IADD3 R9, R2, R3, RZ"])
    code += "\n" + "\n".join(f"@P0 BRA `({one})" for one in reversed(labels))
    assert weights(code) == {(2, 3): MOST}


CALLS = """top:
    CALL.REL.NOINC `(sub)
    @P0 BRA `(top)
    CALL.REL.NOINC `(sub)
    EXIT
    sub:
    IADD3 R9, R2, R3, RZ
    {call}
    RET.REL.NODEC R20 `(k)
    other:
    IADD3 R9, R4, R5, RZ
    {back}
    RET.REL.NODEC R20 `(k)"""


def called(**lines: str) -> list[int]:
    found = weights(CALLS.format(**{"call": "NOP", "back": "NOP"} | lines))
    return [found[2, 3], found[4, 5]]


def test_routines_run_as_often_as_all_calls_of_them() -> None:
    twice = "CALL.REL.NOINC `(other)\nCALL.REL.NOINC `(other)"
    assert called(call=twice) == [11, 22]
    assert called(call="inside:\nCALL.REL.NOINC `(other)\n@P1 BRA `(inside)") == [11, 110]


def test_recursive_routines_and_routines_without_a_caller_run_once() -> None:
    assert called(back="CALL.REL.NOINC `(other)") == [11, 1]
    assert called(call="CALL.REL.NOINC `(other)", back="CALL.REL.NOINC `(sub)") == [1, 1]
    assert called(call="CALL.REL.NOINC `(other)", back="CALL.REL.NOINC `(other)") == [11, 1]


def test_the_kernel_runs_once() -> None:
    assert set(frequencies(graph("@P0 BRA `(a)\nNOP\na:\nNOP"))) == {1}


def test_what_was_executed_counts_as_often_as_warps_did() -> None:
    code = LOOP.format(start="RZ", bound="0x7", inner="@!PT IADD3 R9, R6, R7, RZ")
    assert executed(run_of(code)) == {(2, 3): 14, (6, 7): 14, (4, 5): 2}
    code = "@!PT EXIT\nIADD3 R9, R2, R3, RZ\nEXIT\nIADD3 R9, R4, R5, RZ"
    assert executed(run_of(code)) == {(2, 3): 2}
