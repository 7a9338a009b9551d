"""Warps whose next load is there go first (docs/schemes/larf.md, section 19: flags and choice)."""

from __future__ import annotations

import pytest

from tests.golden.rf.shared.bench import Bench, flagging
from warpfile.golden.scheduler.las.scheduler import Las
from warpfile.schemes import find
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.shared import FLUSH, LOAD, PLAIN, STORE
from warpfile.spec.structure import BANK_RAM, RENAMING_RAM


def made(**changes: int) -> Las:
    """A scheduler of eight warps."""
    return Las(flagging(**changes))


def told(las: Las, *warps: int) -> None:
    """One cycle each, in which the file reports a warp and none issues."""
    for warp in warps:
        las.begin(1 << warp)
        las.edge()


def issues(las: Las, eligible: int) -> int:
    """One cycle in which the file reports no warp and a beat without an access issues."""
    las.begin(0)
    warp = las.choose(eligible)
    las.issued(warp)
    las.edge()
    return warp


def beat(kind: int) -> Beat:
    """A beat with this access."""
    return Bench(flagging()).access(kind, [0] * 32).entry.beat


def test_flagged_warps_go_first_and_all_have_one_pointer() -> None:
    las = made()
    assert [issues(las, 0xFF) for _ in range(3)] == [0, 1, 2]
    told(las, 1, 6)
    assert [issues(las, 0xFF) for _ in range(3)] == [6, 1, 6], "round robin from 3 on, among 1 and 6"
    assert issues(las, 0b10011101) == 7, "none of them is eligible: round robin from 7 on"
    assert issues(las, 0b10011111) == 1
    assert las.counters == {"las_issues": 4}


def test_a_flag_is_there_from_the_cycle_after_the_pulse_on() -> None:
    las = made()
    las.begin(1 << 5)
    assert las.choose(0xFF) == 0
    las.edge()
    assert las.begin(0) and las.choose(0xFF) == 5


def test_after_the_limit_one_other_warp_issues() -> None:
    las = made(flag_limit=3)
    told(las, 0, 1)
    assert [issues(las, 0b1111) for _ in range(9)] == [0, 1, 0, 2, 0, 1, 0, 2, 0]


def test_at_the_limit_flagged_warps_go_on_until_another_one_is_eligible() -> None:
    las = made(flag_limit=2)
    told(las, 0, 1)
    assert [issues(las, 0b0011) for _ in range(5)] == [0, 1, 0, 1, 0]
    assert issues(las, 0b1111) == 2
    assert issues(las, 0b1111) == 0


def test_cycles_without_an_issue_are_not_counted() -> None:
    las = made(flag_limit=2)
    told(las, 0)
    assert [issues(las, 0b11) for _ in range(2)] == [0, 0]
    for _ in range(3):
        las.begin(0)
        las.edge()
    assert issues(las, 0b11) == 1


@pytest.mark.parametrize(("kind", "flagged"), [(LOAD, 0), (PLAIN, 8), (STORE, 8), (FLUSH, 8)])
def test_a_load_that_may_be_shared_clears_the_flag_and_that_wins(kind: int, flagged: int) -> None:
    for flagged_before in (False, True):
        las = made()
        told(las, *[3] if flagged_before else [])
        las.begin(1 << 3)
        las.issued(3)
        las.leaves(3, beat(kind))
        las.edge()
        assert las.flagged == flagged


@pytest.mark.parametrize("event", ["launched", "exited"])
def test_a_warp_comes_without_a_flag_and_leaves_without_one(event: str) -> None:
    las = made()
    told(las, 3, 4)
    las.begin(1 << 3)
    getattr(las, event)(3)
    las.edge()
    assert las.flagged == 1 << 4


def test_it_goes_with_a_file_that_tells_of_loads_alone() -> None:
    with pytest.raises(ValueError, match="las wants to know whose next load is in the register file"):
        find("baseline+las").configuration("tiny")
    assert not find("larf").configuration("tiny", scheduler="lrr").gives.lookahead
    assert find("larf+las").configuration("tiny").gives.lookahead


def test_what_is_read_for_its_sake_is_counted_where_banks_are() -> None:
    plain, told = find("larf"), find("larf+las")
    assert told.accesses["bank_read"] == (*plain.accesses["bank_read"], "las_reads")
    assert told.accesses["crossbar"] == (*plain.accesses["crossbar"], "las_reads")
    assert told.rams[BANK_RAM] == ((*plain.rams[BANK_RAM][0], "las_reads"), plain.rams[BANK_RAM][1])
    assert told.rams[RENAMING_RAM] == plain.rams[RENAMING_RAM]
