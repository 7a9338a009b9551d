"""What becomes of a result, row by row of the table in docs/schemes/bow.md, with cycles derived by hand.

The cast: R4 is written by ``FIRST`` (entered in 2, dispatched in 3, stored in 7) and then by a second instruction of
the SFU, which can enter in 8, when the first has completed, dispatches in 9 and returns ``sfu_latency`` cycles later.
"""

from __future__ import annotations

import pytest

from tests.golden.collectors.bow.scenario import BowRun, busy, run_hinted
from tests.golden.machines import Bow
from tests.golden.scenario import FULL, NOP, Step, op
from warpfile.spec.schemes.bow import WriteClass
from warpfile.spec.trace import Port

NEITHER, FILE, WINDOW, BOTH = WriteClass.NEITHER, WriteClass.FILE, WriteClass.WINDOW, WriteClass.BOTH
FIRST = op((), 4)
SECOND = op((), 4, port=Port.SFU)
SFU = 0b010
PARTIAL = 0xFF

#: Probes of a result on the SFU port, and those of the eviction beside it.
FATE = ("store", "bank_write", "drop", "late", "saved", "evicted", "discard")


def fate(result: BowRun, cycle: int) -> set[str]:
    """What happens in the cycle in which the result of the second instruction is accepted."""
    assert result.fields[cycle]["accepted"] & SFU, f"accepted in {result.when('accepted')}, not in {cycle}"
    return {name for name in FATE if result.fields[cycle][name]}


def state(result: BowRun, cycle: int) -> str:
    """State of the first entry of warp 0."""
    f = result.fields[cycle]
    names = ("evicting", "owed", "dirty", "filling")
    return next((name for name in names if f[name] & 1), "clean" if f["held"] & 1 else "free")


@pytest.mark.parametrize(
    ("write_class", "happens", "after"),
    [
        (NEITHER, {"drop"}, "free"),
        (FILE, {"bank_write"}, "free"),
        (WINDOW, {"store"}, "dirty"),
        (BOTH, {"store"}, "owed"),
    ],
)
def test_a_whole_result_goes_where_its_class_says(write_class: int, happens: set[str], after: str) -> None:
    result = run_hinted([SECOND, NOP], [write_class])
    assert fate(result, 6) == happens
    assert result.fields[6]["class1"] == write_class
    assert state(result, 7) == after


@pytest.mark.parametrize(
    ("write_class", "happens", "after"),
    [
        (NEITHER, {"drop", "saved"}, "free"),
        (FILE, {"bank_write", "saved"}, "free"),
        (WINDOW, {"store", "saved"}, "dirty"),
        (BOTH, {"store", "saved"}, "owed"),
    ],
)
@pytest.mark.parametrize("before", [WINDOW, BOTH])
def test_a_whole_result_replaces_its_dirty_entry(before: int, write_class: int, happens: set[str], after: str) -> None:
    result = run_hinted([FIRST, SECOND, NOP], [before, write_class])
    assert state(result, 11) == ("dirty" if before == WINDOW else "owed")
    assert fate(result, 12) == happens
    assert state(result, 13) == after


@pytest.mark.parametrize("mode", ["through", "back"])
def test_without_hints_every_class_is_both(mode: str) -> None:
    result = run_hinted([SECOND, NOP], [NEITHER], window_writes=mode)
    assert result.fields[6]["class1"] == BOTH
    assert fate(result, 6) == ({"store", "bank_write"} if mode == "through" else {"store"})
    assert state(result, 7) == ("clean" if mode == "through" else "owed")


# With three beats behind it, the second instruction has left the window from 12 on, when its result comes. In 11 the
# last of them finds R4's entry stale: discarded there if only the window was to have it, else on its way from 12.
LATE: list[Step] = [NOP, NOP, NOP]


@pytest.mark.parametrize(
    ("write_class", "happens"),
    [
        (NEITHER, {"drop", "late"}),
        (FILE, {"bank_write", "late"}),
        (WINDOW, {"drop", "late"}),
        (BOTH, {"bank_write", "late"}),
    ],
)
@pytest.mark.parametrize("mask", [FULL, PARTIAL])
def test_a_late_result_without_an_entry_is_written_or_dropped(mask: int, write_class: int, happens: set[str]) -> None:
    result = run_hinted([FIRST, (SECOND, mask), *LATE], [WINDOW, write_class])
    assert result.when("discard") == [11]
    assert fate(result, 12) == happens
    assert state(result, 13) == "free"


@pytest.mark.parametrize(
    ("write_class", "granted", "denied"),
    [
        (NEITHER, {"drop", "late", "evicted"}, {"drop", "late", "saved"}),
        (WINDOW, {"drop", "late", "evicted"}, {"drop", "late", "saved"}),
    ],
)
def test_a_late_result_that_is_dropped_frees_an_entry_on_its_way(
    write_class: int, granted: set[str], denied: set[str]
) -> None:
    steps = [FIRST, SECOND, *LATE]
    for happens, model in ((granted, Bow), (denied, busy(0, 12))):
        result = run_hinted(steps, [BOTH, write_class], model)
        assert state(result, 12) == "evicting"
        assert fate(result, 12) == happens
        assert state(result, 13) == "free"


@pytest.mark.parametrize("write_class", [FILE, BOTH])
def test_a_late_result_takes_the_bank_from_its_own_entry(write_class: int) -> None:
    steps = [FIRST, SECOND, *LATE]
    for cycle, model in ((12, Bow), (14, busy(0, 12, 13))):
        result = run_hinted(steps, [BOTH, write_class], model)
        assert result.fields[cycle]["evict"] == 1
        assert fate(result, cycle) == {"bank_write", "late", "saved"}
        assert state(result, cycle) == "evicting"
        assert state(result, cycle + 1) == "free"
        assert not result.when("evicted")


@pytest.mark.parametrize("write_class", WriteClass)
def test_lanes_are_merged_into_an_entry_on_its_way(write_class: int) -> None:
    steps = [FIRST, (SECOND, PARTIAL), *LATE]
    granted = run_hinted(steps, [BOTH, write_class])
    assert fate(granted, 12) == {"store", "late", "evicted"}
    assert granted.when("evicted") == [12, 13]
    denied = run_hinted(steps, [BOTH, write_class], busy(0, 12))
    assert fate(denied, 12) == {"store", "late", "saved"}
    assert denied.when("evicted") == [13]
    assert state(granted, 13) == state(denied, 13) == "evicting"


@pytest.mark.parametrize(
    ("write_class", "after"), [(NEITHER, "free"), (FILE, "free"), (WINDOW, "dirty"), (BOTH, "owed")]
)
def test_a_whole_result_meets_its_entry_on_its_way(write_class: int, after: str) -> None:
    # The second instruction is beat 3 here: it finds R4's entry stale and sends it away, while the bank is busy.
    steps = [FIRST, NOP, NOP, SECOND, NOP]
    effect = {NEITHER: {"drop"}, FILE: {"bank_write"}, WINDOW: {"store"}, BOTH: {"store"}}[WriteClass(write_class)]
    granted = run_hinted(steps, [BOTH, 0, 0, write_class], busy(0, 9, 10, 11))
    assert fate(granted, 12) == effect | ({"saved"} if write_class == FILE else {"evicted"})
    assert (state(granted, 12), state(granted, 13)) == ("evicting", after)
    if write_class != FILE:
        denied = run_hinted(steps, [BOTH, 0, 0, write_class], busy(0, 9, 10, 11, 12))
        assert fate(denied, 12) == effect | {"saved"}
        assert state(denied, 13) == after


@pytest.mark.parametrize(
    ("write_class", "happens", "after"),
    [(WINDOW, {"store", "saved", "discard"}, "free"), (BOTH, {"store", "saved"}, "evicting")],
)
def test_a_result_comes_in_the_cycle_in_which_its_entry_expires(
    write_class: int, happens: set[str], after: str
) -> None:
    result = run_hinted([FIRST, SECOND, *LATE], [BOTH, write_class], sfu_latency=2)
    assert result.issues()[4] == 11
    assert fate(result, 11) == happens
    assert state(result, 12) == after


@pytest.mark.parametrize("write_class", WriteClass)
@pytest.mark.parametrize("mode", ["hints", "back"])
def test_lanes_are_merged_into_an_entry_in_the_window(mode: str, write_class: int) -> None:
    # R4 is read in the beat before, so it is clean from 5 on; its writer enters in 6, behind the reader's dispatch.
    steps: list[Step] = [op((4,), 8), (SECOND, PARTIAL)]
    result = run_hinted(steps, [FILE, write_class], window_writes=mode)
    assert state(result, 10) == "clean"
    assert fate(result, 10) == {"store"}
    assert state(result, 11) == "owed"
    again = run_hinted([FIRST, (SECOND, PARTIAL)], [WINDOW, write_class])
    assert fate(again, 12) == {"store", "saved"}
    assert state(again, 13) == "owed"


def test_lanes_are_written_through() -> None:
    result = run_hinted([op((4,), 8), (SECOND, PARTIAL)], [], window_writes="through")
    assert fate(result, 10) == {"store", "bank_write"}
    assert state(result, 11) == "clean"


@pytest.mark.parametrize("write_class", WriteClass)
def test_lanes_without_an_entry_are_written_whatever_the_class(write_class: int) -> None:
    result = run_hinted([(SECOND, PARTIAL), NOP], [write_class])
    assert fate(result, 6) == {"bank_write"}
    assert state(result, 7) == "free"


def test_a_result_without_room_goes_to_its_bank() -> None:
    # The only entry is dirty with R4 when the second result comes, in 6 + 2.
    steps = [op((), 4), NOP, op((), 6, port=Port.SFU)]
    result = run_hinted(steps, [BOTH, 0, WINDOW], window_entries=1, source_slots=1)
    assert fate(result, 8) == {"bank_write"}
    assert state(result, 9) == "owed"


def test_a_result_takes_a_clean_entry_without_further_readers() -> None:
    steps = [op((2,), 6, port=Port.SFU), NOP]
    result = run_hinted(steps, [BOTH], window_entries=1, source_slots=1)
    assert state(result, 7) == "clean"
    assert fate(result, 8) == {"store"}
    assert state(result, 9) == "owed"
    assert not result.when("victim")


def test_a_result_leaves_a_clean_entry_alone_that_somebody_reads() -> None:
    # The load port is taken, so that beat 1 keeps its pin on R2 until 20.
    steps = [op((2,), 6, port=Port.SFU), op((2,), port=Port.SFU)]
    result = run_hinted(steps, [BOTH], window_entries=1, source_slots=1, sfu_interval=15)
    assert fate(result, 8) == {"bank_write"}
    assert result.when("dispatch") == [5, 20]
