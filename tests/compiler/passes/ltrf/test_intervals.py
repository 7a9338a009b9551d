"""Formation of intervals and strands: worked examples, and what must hold for any control flow."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from tests.compiler.generated import graph
from tests.compiler.passes.ltrf.checker import faults, mergeable, strand_faults
from tests.compiler.passes.ltrf.random_code import random_code
from warpfile.compiler.passes.ltrf.code import Code, code_of
from warpfile.compiler.passes.ltrf.intervals import intervals
from warpfile.compiler.passes.ltrf.strands import strands
from warpfile.compiler.passes.ltrf.units import NONE, Units

LIMITS = (6, 8, 16)


def registers(*numbers: int) -> int:
    return sum(1 << number for number in numbers)


def blocks(sets: list[int], edges: set[tuple[int, int]]) -> Code:
    """Blocks of one instruction each."""
    return Code(tuple(sets), tuple(range(len(sets))), frozenset(edges), frozenset({0}), frozenset({0}))


IF_ELSE = blocks([registers(0, 1), registers(2, 3), registers(4, 5), registers(0)], {(0, 1), (0, 2), (1, 3), (2, 3)})
NESTED = blocks([registers(0), registers(1), registers(2)], {(0, 1), (1, 2), (2, 1), (2, 0)})


def test_sides_of_a_branch_join_by_the_union_of_both() -> None:
    assert intervals(IF_ELSE, 4).of == (0, 0, 1, 2)
    assert intervals(IF_ELSE, 6).of == (0, 0, 0, 0)


def test_nested_loops_become_one_interval_if_their_registers_fit() -> None:
    assert intervals(NESTED, 3).of == (0, 0, 0)
    assert intervals(NESTED, 2).of == (0, 1, 1)
    assert intervals(NESTED, 1).of == (0, 1, 2)


def test_a_block_is_cut_where_the_registers_no_longer_fit() -> None:
    code = Code((registers(0, 1), registers(2), registers(3), registers(0)), (0,), frozenset(), frozenset({0}),
                frozenset({0}))  # fmt: skip
    found = intervals(code, 3)
    assert found.of == (0, 0, 1, 1)
    assert found.sets == (registers(0, 1, 2), registers(0, 3))


def test_what_would_be_cut_before_its_first_instruction_does_not_join() -> None:
    code = blocks([registers(0, 1), registers(2, 3), registers(1)], {(0, 1), (0, 2)})
    assert intervals(code, 3).of == (0, 1, 0)


def test_code_that_nothing_reaches_is_in_no_interval() -> None:
    assert intervals(blocks([1, 2, 4], {(0, 2), (1, 2)}), 8).of == (0, NONE, 0)


CALLS = """MOV R2, 0x1
    CALL.REL.NOINC `(leaf)
    MOV R3, R2
    EXIT
    leaf:
    IADD3 R2, R2, R4, RZ
    RET.REL.NODEC R20 `(k)"""


def test_a_call_is_alone_and_fetches_nothing_if_it_names_no_register() -> None:
    code = code_of(graph(CALLS).function)
    found = intervals(code, 8)
    assert found.of == (0, 1, 2, 2, 3, 3, NONE)
    assert found.silent == {1}
    assert found.sets == (registers(2), 0, registers(2, 3), registers(2, 4, 20, 21))


@pytest.mark.parametrize("limit", LIMITS)
def test_an_instruction_wider_than_an_interval_is_refused_in_one_line(limit: int) -> None:
    code = blocks([registers(*range(limit)), registers(*range(limit + 1))], {(0, 1)})
    message = f"interval_registers must be at least {limit + 1}, the registers of instruction 1, not {limit}"
    for form in (intervals, strands):
        with pytest.raises(ValueError, match=message):
            form(code, limit)
    assert len(intervals(code, limit + 1).heads) == 1


def test_intervals_of_any_code_have_one_entry_and_few_registers_and_cannot_be_merged() -> None:
    counts: Counter[str] = Counter()
    for seed in range(4000):
        rng = random.Random(seed)
        code, limit = random_code(rng), rng.choice(LIMITS)
        found = intervals(code, limit)
        assert not list(faults(code, found, limit)), seed
        assert not list(mergeable(code, found, limit)), seed
        merged = len({found.of[start] for start in code.starts} - {NONE}) < sum(
            found.of[start] != NONE for start in code.starts
        )
        counts.update(
            unreached=NONE in found.of, cut=any(head not in code.starts for head in found.heads), merged=merged
        )
    assert min(counts.values()) > 400


def test_strands_of_any_code_end_at_waits_and_backward_branches() -> None:
    longer = 0
    for seed in range(1000):
        rng = random.Random(seed)
        code, limit = random_code(rng), rng.choice(LIMITS)
        found = strands(code, limit)
        assert not list(faults(code, found, limit)), seed
        assert not list(strand_faults(code, found)), seed
        longer += len(found.heads) > len(intervals(code, limit).heads)
    assert longer > 500


def broken(units: Units, rng: random.Random) -> Units:
    """One fault in units: a register lost or too many, a boundary moved, or two units in one."""
    live = [index for index, unit in enumerate(units.of) if unit != NONE]
    unit = rng.randrange(len(units.heads))
    sets, of = list(units.sets), list(units.of)
    kind = rng.choice(("more", "less", "moved"))
    if kind == "more":
        sets[unit] |= 1 << 200
    elif kind == "less" and sets[unit]:
        sets[unit] &= sets[unit] - 1
    else:
        of[rng.choice(live)] = len(units.heads)
        return replace(units, of=tuple(of), heads=(*units.heads, live[0]), sets=(*sets, 0))
    return replace(units, sets=tuple(sets))


def test_broken_units_are_found() -> None:
    for seed in range(100):
        rng = random.Random(seed)
        code = random_code(rng)
        assert list(faults(code, broken(intervals(code, 8), rng), 8)), seed


def test_intervals_that_could_be_merged_are_found() -> None:
    single = replace(intervals(NESTED, 1), sets=(1, 2, 4))
    assert list(mergeable(NESTED, single, 2)) == [] or list(mergeable(NESTED, single, 3))
    apart = blocks([registers(0), registers(1)], {(0, 1)})
    assert list(mergeable(apart, Units((0, 1), (0, 1), (1, 2), False, frozenset()), 2)) == [(0, 1)]


def test_an_interval_is_no_strand() -> None:
    code = replace(NESTED, waits=frozenset({0}))
    assert list(strand_faults(code, intervals(code, 8)))
    assert not list(strand_faults(code, strands(code, 8)))
    assert strands(code, 8).of == (0, 1, 1)
