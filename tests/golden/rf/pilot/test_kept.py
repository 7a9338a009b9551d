"""The kernel's list is kept where the pilot has missed a register of it (docs/schemes/pilot.md, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import pytest

from tests.golden.rf.pilot.scenario import listed, pilot_config, pilot_layout, run_pilot
from tests.golden.rf.pilot.test_kernels import CFG, ended, kernel, stepped
from tests.golden.scenario import NOP, Run, Step, hand_trace, op
from warpfile.spec.schemes.pilot import State

HOT = (9, 4)  #: of a kernel whose pilot names R8 most


def example(*pilot: Step, hot: Sequence[int] = HOT, **changes: Any) -> Run:
    """A pilot, a warp that stays, and ten that follow onto the pilot's slot; twelve registers."""
    cfg = pilot_config(ctas=2, **changes)
    warps = [[*[op((8,))] * 9, *pilot], [op((11,))] * 900, *[[NOP] * 3] * 10]
    return run_pilot(cfg, listed(cfg, hand_trace(*warps, ctas=range(len(warps))), hot))


def states(result: Run) -> list[State]:
    return [State(state) for state, _ in groupby(f["pilot_state"] for f in result.fields)]


def is_kept(result: Run) -> bool:
    """Whether the list is; everything that shows it must agree."""
    shown = [cycle for cycle, f in enumerate(result.fields) if f.get("list_kept", 0)]
    sorting = [cycle for cycle, f in enumerate(result.fields) if f["pilot_state"] == State.SORT]
    assert len(sorting) == 12
    counters = result.model.counters
    assert counters["lists_kept"] == len(shown)
    assert shown in ([], sorting[-1:])
    assert bool(shown) == (State.REMAP not in states(result)) == (not counters["warps_new_map"])
    return bool(shown)


def test_of_a_pilot_that_has_accessed_the_whole_list_the_map_is_taken() -> None:
    result = example(op((4,), 9))  # as source and as destination
    assert not is_kept(result)
    assert result.model.file.homes.tables[1].pairs == [(1, 8), (2, 4), (3, 9)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "pilot",
    [
        (NOP,),
        (op((4,)),),  # R9 is missing
        (op((9,)),),  # R4 is
        (op((9,)), (op((4,)), 0)),  # no lane reads R4
    ],
)
def test_of_another_one_the_list_is_kept(pilot: tuple[Step, ...]) -> None:
    assert is_kept(example(*pilot))
    assert not is_kept(example(*pilot, pilot_map="always"))


def test_the_last_register_of_the_kernel_is_scanned_in_time() -> None:
    assert is_kept(example(NOP, hot=(11, 8)))
    assert not is_kept(example(op((11,)), hot=(11, 8)))


def test_a_list_that_is_kept_goes_on_to_be_used() -> None:
    result = example(NOP)
    assert result.model.file.homes.tables[1].pairs == []  # type: ignore[attr-defined]
    assert {f["versions"] | f["current_version"] for f in result.fields} == {0}
    assert states(result) == [State.IDLE, State.LOAD, State.PROFILE, State.SORT, State.RUN]


def test_nothing_moves_where_the_list_is_kept() -> None:
    result = example(NOP, remap="migrate")
    assert states(result) == [State.IDLE, State.LOAD, State.PROFILE, State.SORT, State.RUN]
    assert (result.model.counters["lists_kept"], result.model.counters["migrate_stall"]) == (1, 0)


def test_without_a_list_there_is_nothing_to_keep() -> None:
    result = example(NOP, profile="pilot")
    assert "list_kept" not in result.fields[0]
    assert State.REMAP in states(result)


def test_the_marker_is_no_member_of_a_list() -> None:
    """A list of markers names nothing that the pilot could miss."""
    cfg = pilot_config(ctas=2)
    result = run_pilot(cfg, listed(cfg, hand_trace([NOP], [op((8,))] * 40, ctas=[0, 1])))
    assert State.REMAP in states(result)
    assert result.model.counters["lists_kept"] == 0


def test_a_kernel_that_is_taken_in_the_last_cycle_of_sort_keeps_nothing() -> None:
    """The pilot of ``ended`` has missed R4; its last cycle of SORT is six behind."""
    cfg = CFG.replace(pilot_map="checked")
    layout = pilot_layout(cfg)
    shown = [stepped(ended(6, cfg), layout, offer) for offer in (None, kernel(cfg, 3, 5))]
    assert [(f["pilot_state"], f["kernel"], f["list_kept"]) for f in shown] == [(State.SORT, 0, 1), (State.SORT, 1, 0)]


def test_what_one_pilot_has_missed_the_next_one_has_not() -> None:
    cfg = CFG.replace(pilot_map="checked")
    machine, layout = ended(6, cfg), pilot_layout(cfg)
    stepped(machine, layout, kernel(cfg, cfg.marker, cfg.marker))
    phases = machine.file.phases
    while stepped(machine, layout)["pilot_state"] == State.LOAD:
        pass
    phases._enter(int(State.SORT))
    seen = [stepped(machine, layout) for _ in range(10)]
    assert {f["list_kept"] for f in seen} == {0}
    assert State.REMAP in {f["pilot_state"] for f in seen}
