"""The worked example: a multiply-add, an addition and a move through one caching unit, cycle by cycle."""

from __future__ import annotations

import pytest

from tests.golden.collectors.malekeh.scenario import hinted, malekeh_config, run_malekeh
from tests.golden.collectors.malekeh.view import UnitView, units_of
from tests.golden.scenario import Run, hand_trace, op

# Bank of a register: its number modulo two. One unit of eight entries.
CFG = malekeh_config(banks=2, bank_skew="none", collectors=1, alu_latency=4, alu_interval=1, wait_control="fixed")
# Near: R4, and R1 as a source of the first; R1 and R5 in the last. Far: everything else.
TRACE = hinted(hand_trace([op((1, 2, 3), 4), op((4, 1), 5), op((5,), 1)]), [0x011, 0x000, 0x011, 0])


@pytest.fixture(scope="module")
def example() -> Run:
    return run_malekeh(CFG, TRACE)


def kept(example: Run, cycle: int) -> dict[int, str]:
    """The registers of the unit at the beginning of a cycle, in the order of its entries, and whether they are near."""
    view: UnitView = units_of(CFG, example.fields[cycle])[0]
    return {view.registers[entry]: view.kind(entry) for entry in view.used}


def test_every_step_happens_in_its_cycle(example: Run) -> None:
    # Misses: bank 0 grants R2 first, then bank 1 R1 and R3, one fill per cycle; the last arrives in 6.
    assert example.issues() == [(2, 0), (12, 0), (18, 0), (26, 0)]
    assert example.events("grant") == [(3, 0b010), (4, 0b001), (5, 0b100), (19, 0b001)]
    assert example.when("dispatch") == [7, 13, 21]  # two hits: the cycle after the issue
    assert example.when("write") == [11, 17, 25]
    assert example.events("cache_empty") == [(11, 1)]
    assert example.events("far") == [(17, 1)]
    assert example.events("cache_hit") == [(25, 1)]
    assert not example.when("invalidate")


def test_the_unit_keeps_what_the_example_says(example: Run) -> None:
    assert kept(example, 3) == {1: "near", 2: "far", 3: "far"}
    assert kept(example, 12) == {1: "near", 2: "far", 3: "far", 4: "near"}
    assert kept(example, 13) == {1: "far", 2: "far", 3: "far", 4: "far"}
    assert kept(example, 18) == kept(example, 13)
    assert kept(example, 19) == {1: "far", 2: "far", 3: "far", 4: "far", 5: "near"}
    assert kept(example, 26) == {1: "near", 2: "far", 3: "far", 4: "far", 5: "near"}


def test_the_order_of_use_follows(example: Run) -> None:
    view = units_of(CFG, example.fields[26])[0]
    order = sorted(range(8), key=view.rank.__getitem__)
    # e5..e7 never used; R2, R3 by the multiply-add; R4 and R1 (its result last) and R5.
    assert order == [5, 6, 7, 1, 2, 3, 4, 0]


def test_the_counts_are_those_of_the_example(example: Run) -> None:
    counters = example.model.counters
    expected = {"sources": 6, "source_hits": 2, "bank_reads": 4, "bank_writes": 3, "cached_results": 2}
    expected |= {"cached_empty": 1, "cached_hits": 1, "uncached_far": 1, "replaced_empty": 4, "invalidations": 0}
    expected |= {"taken_empty": 1, "taken_own": 2, "near_lost": 0, "wait_bubbles": 0, "busy_bubbles": 0}
    expected |= {"issued_preferred": 3, "issued_others": 1}
    assert {name: counters[name] for name in expected} == expected
