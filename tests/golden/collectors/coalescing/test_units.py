"""Look-ups, requests and joined sources, cycle by cycle (docs/schemes/corf.md, section 9)."""

from __future__ import annotations

import pytest

from tests.golden.rf.packed.scenario import Valued, get, make, nops, put, run_packed, sides, tell, valued
from tests.golden.scenario import Run
from warpfile.golden.collectors.coalescing.joins import join
from warpfile.golden.rf.renaming import UNMAPPED, Mapped
from warpfile.spec.schemes.packed import LEFT, RIGHT, PackedConfig

#: Enough instructions for all results before them to be in place.
REST = nops(24)


def since(result: Run, probe: str, start: int) -> list[tuple[int, int]]:
    """Cycles behind ``start`` in which a probe is not zero, and what it is."""
    return [(cycle - start, value) for cycle, value in result.events(probe) if cycle >= start]


def last_issue(result: Run) -> int:
    """Cycle of the last issue but the EXIT's."""
    return result.issues()[-2][0]


def reading(cfg: PackedConfig, writes: list[Valued], *sources: int) -> tuple[Run, int]:
    """A run that ends with a read of some registers, and the cycle in which that issues."""
    result = run_packed(cfg, valued([*writes, *REST, get(*sources)]))
    return result, last_issue(result)


def test_sources_are_looked_up_in_the_cycle_of_the_issue_and_asked_for_in_the_next() -> None:
    """As early as in the baseline; R1 is in bank 1, R2 in bank 0."""
    result, t = reading(make(), [put(1, 1), put(2, 2)], 1, 2)
    unit = (result.fields[t]["allocate"]).bit_length() - 1
    slot = [1 << 3 * unit + k for k in range(3)]
    assert since(result, "look_up", t) == [(0, slot[0] | slot[1])]
    assert since(result, "request", t) == since(result, "grant", t) == [(1, slot[0]), (2, slot[1])]
    assert since(result, "lacking", t) == [(cycle, 1 << unit) for cycle in (1, 2, 3)]
    assert since(result, "offer", t) == [(4, 1)]


def test_a_memory_answers_two_sources_and_the_unit_waits_for_the_third() -> None:
    result, t = reading(make(), [put(1, 1), put(3, 2), put(5, 3)], 1, 3, 5)
    unit = result.fields[t]["allocate"].bit_length() - 1
    assert since(result, "look_up", t) == [(0, 0b011 << 3 * unit), (1, 0b100 << 3 * unit)]
    assert since(result, "look_up_wait", t) == [(0, 0b100 << 3 * unit)]
    assert since(result, "request", t)[0] == (2, 1 << 3 * unit)


def test_with_sides_sources_are_looked_up_in_all_memories() -> None:
    """Four of seven entries are in memory 0, and all registers in one bank."""
    result, t = reading(make("corf_plus", source_slots=8), [put(r, 0x12345678) for r in range(7)], *range(7))
    assert [cycle for cycle, _ in since(result, "look_up", t)] == [0, 1]
    grants = since(result, "grant", t)
    assert [cycle for cycle, _ in grants] == [2, 3, 4, 5, 6, 7, 8], "from the cycle after the last look-up on"


def test_a_register_that_was_never_written_is_zero_without_a_read() -> None:
    result, t = reading(make(), [put(1, 1)], 7, 1, 9)
    unit = result.fields[t]["allocate"].bit_length() - 1
    # R7, R1 and R9 are in one memory: two answers in t + 1, the third in t + 2.
    assert since(result, "zero", t) == [(1, 0b001 << 3 * unit), (2, 0b100 << 3 * unit)]
    assert since(result, "grant", t) == [(2, 0b010 << 3 * unit)]
    assert since(result, "offer", t) == [(4, 1)]


def test_a_unit_of_which_nothing_is_anywhere_is_ready_behind_the_answers() -> None:
    result, t = reading(make(), [], 7, 8)
    assert since(result, "offer", t) == [(2, 1)] and not since(result, "request", t)
    assert result.model.counters["unmapped_reads"] == 2 and not result.model.operands_checked


def test_older_units_ask_the_table_first() -> None:
    """Two warps, both of memory 0: the first beat needs both ports again in the cycle in which the second comes."""
    cfg = make(register_names=16, scheduler="lrr")
    reads = [get(0, 2, 4)] * 3
    writes = [put(register, 1) for register in (0, 2, 4)]
    other = [put(register, 1) for register in (0, 2, 4)]
    result = run_packed(cfg, valued([*writes, *REST, *reads], [], [*other, *REST, *reads]))
    waits = result.model.counters["look_up_waits"]
    assert waits >= 6 and result.model.operands_checked == 18
    for f in result.fields:
        if f["allocate"] and f["look_up"]:
            unit = f["allocate"].bit_length() - 1
            new = f["look_up"] >> 3 * unit & 7
            others = f["look_up_wait"] & ~(7 << 3 * unit)
            assert not (new and others), "the offered beat comes last"


@pytest.mark.parametrize(("scheme", "joins"), [("packing", 0), ("first_fit", 1), ("corf", 1), ("corf_plus", 1)])
def test_two_sources_of_a_row_come_with_one_access(scheme: str, joins: int) -> None:
    """R1 and R3 share the first row of a bank."""
    result, t = reading(make(scheme), [put(1, 1), put(3, 0x1234)], 1, 3)
    assert result.model.counters.get("coalesced", 0) == joins
    assert since(result, "offer", t) == [(4 - joins, 1)]
    assert result.model.counters["bank_reads"] == 2 - joins and result.model.operands_checked == 2


def test_the_lowest_of_three_takes_the_lowest_that_fits() -> None:
    """R1, R3, R5 in one row: the first two come together, the third by itself."""
    result, t = reading(make("first_fit"), [put(1, 1), put(3, 1), put(5, 1)], 1, 3, 5)
    unit = result.fields[t]["allocate"].bit_length() - 1
    # The third is looked up a cycle later, as all are in one memory.
    assert since(result, "grant", t) == [(2, 1 << 3 * unit), (3, 4 << 3 * unit)]
    assert since(result, "joined", t) == [(2, 2 << 3 * unit)]


def test_sides_let_sources_of_different_rows_come_together() -> None:
    codes = {1: RIGHT, 2: LEFT, 3: RIGHT}
    writes = [tell(sides(0, codes)), put(1, 0x123456), put(2, 1), put(3, 0x1234)]
    result, _ = reading(make("corf_plus"), writes, 2, 3, 1)
    assert result.model.counters["coalesced"] == 1 and result.model.counters["bank_reads"] == 2
    assert result.model.operands_checked == 3


@pytest.mark.parametrize(
    ("rule", "others", "found"),
    [
        ("row", [Mapped(0, 2, 2)], 1),
        ("row", [Mapped(1, 2, 2)], -1),
        ("row", [Mapped(0, 3, 2), Mapped(0, 2, 8)], 2),
        ("planes", [Mapped(0, 3, 2)], 1),
        ("planes", [Mapped(0, 3, 3), Mapped(0, 5, 6)], 2),
        ("planes", [Mapped(1, 3, 2)], -1),
    ],
)
def test_a_slot_joins_the_lowest_that_its_rule_allows(rule: str, others: list[Mapped], found: int) -> None:
    mapped = [UNMAPPED] * 3 + [Mapped(0, 2, 1), *others]
    assert join(rule, mapped, 3, (1 << len(others) + 1) - 1) == (found + 3 if found >= 0 else -1)
    assert join(rule, mapped, 3, 1) == -1, "others are granted or nowhere"
