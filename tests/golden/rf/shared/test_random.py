"""Random programs of loads that meet, on random machines, every cycle under the eye of the watcher."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.golden.rf.shared.scenario import random_case, run_shared, watch_shared

#: A row is found as long as there are no more registers than rows.
NEVER = {"error_cycles", "start_cycles"}
#: Few seeds that meet all events between them.
SEEDS = (8, 27, 34, 74)


def test_random_programs_keep_every_invariant_and_meet_every_event() -> None:
    total: Counter[str] = Counter()
    for seed in SEEDS:
        print(f"seed {seed}")
        machine = watch_shared(*random_case(seed))
        assert machine.operands_checked
        total.update(machine.counters)
    print(total)
    assert {name for name, count in total.items() if not count} == NEVER


def test_a_table_that_finds_nothing_keeps_every_invariant() -> None:
    counters = watch_shared(*random_case(13)).counters
    assert counters["misses"] and not any(counters[hits] for hits in ("hits_perfect", "hits_single", "hits_double"))


@pytest.mark.parametrize("suspend", ["pending", "outstanding"])
def test_random_programs_run_under_a_scheduler_with_places(suspend: str) -> None:
    places = {"scheduler": "two_level", "suspend": suspend, "resume": "all", "notice_latency": 1, "miss_latency": 40}
    for seed in range(4):
        told_of = {"active_warps": 1 + seed % 3, "long_from": ("issue", "miss")[seed % 2]}
        cfg, trace, _ = random_case(seed, **places | told_of)
        counters = run_shared(cfg, trace).model.counters
        assert counters["kills_done"] and not counters["error_cycles"]


@pytest.mark.regress
@pytest.mark.parametrize("start", range(300, 1300, 100))
def test_many_random_programs_keep_every_invariant(start: int) -> None:
    for seed in range(start, start + 100):
        print(f"seed {seed}")
        watch_shared(*random_case(seed))
