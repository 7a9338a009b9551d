"""Parallel copies executed one move after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from warpfile.compiler.passes.regmutex.copies import parallel_copy
from warpfile.spec.trace import StaticInstruction


def executed(code: Sequence[StaticInstruction], count: int = 12) -> list[int]:
    """Registers after the code; register k holds 1 << k before."""
    registers = [1 << number for number in range(count)]
    for one in code:
        if one.opcode == "MOV":
            registers[one.dest] = registers[one.sources[0]]
        else:
            registers[one.dest] = registers[one.sources[0]] ^ registers[one.sources[1]]
    return registers


def arrived(moves: Mapping[int, int], code: Sequence[StaticInstruction]) -> bool:
    after = executed(code)
    return all(after[dest] == 1 << source for dest, source in moves.items())


@given(st.dictionaries(st.integers(0, 7), st.integers(0, 7)), st.sets(st.integers(0, 11)))
def test_values_arrive_and_nothing_else_changes_but_dead_registers(moves: dict[int, int], dead: set[int]) -> None:
    after = executed(code := parallel_copy(0, moves, dead))
    assert arrived(moves, code)
    assert all(after[k] == 1 << k for k in range(12) if k not in moves and k not in dead)


def test_a_move_left_out_is_noticed() -> None:
    moves = {0: 1, 1: 2, 3: 1}
    code = parallel_copy(0, moves, ())
    assert arrived(moves, code)
    assert not any(arrived(moves, code[:k] + code[k + 1 :]) for k in range(len(code)))


def test_a_cycle_goes_over_the_lowest_dead_register() -> None:
    code = parallel_copy(0, {0: 1, 1: 0}, (1, 5, 9))
    assert [(one.dest, one.sources) for one in code] == [(5, (0,)), (0, (1,)), (1, (5,))]


def test_a_cycle_without_a_dead_register_is_exchanged() -> None:
    code = parallel_copy(0, {0: 1, 1: 0}, ())
    assert [one.opcode for one in code] == ["LOP3.LUT"] * 3
    assert len(parallel_copy(0, {0: 1, 1: 2, 2: 0}, ())) == 6


def test_what_stays_is_not_moved() -> None:
    assert parallel_copy(0, {3: 3, 4: 4}, ()) == []
