"""The two-level scheduler, cycle by cycle (docs/machine.md, section 4)."""

from __future__ import annotations

import random

import pytest

from tests.golden.machines import Baseline
from tests.golden.scenario import BAR, BRA, NOP, hand_trace, op, run
from tests.golden.test_random import random_config
from warpfile.spec.config import Config
from warpfile.spec.stress import PROFILES, stress_trace
from warpfile.spec.trace import Access, Port, Space

CFG = Config(
    scheduler="two_level",
    active_warps=2,
    warps=4,
    banks=4,
    collect="all",
    bank_ports="1R1W",
    ports=3,
    alu_latency=4,
    hit_latency=30,
    uniform_latency=2,
)


def load(sources: tuple[int, ...], dest: int):  # type: ignore[no-untyped-def]
    """A load from global memory."""
    return op(sources, dest, port=Port.LSU, space=Space.GLOBAL, access=Access.LOAD, bytes=4)


def places(result, cycle: int) -> list[int]:  # type: ignore[no-untyped-def]
    """Warp of every place, -1 where there is none."""
    f, bits = result.fields[cycle], CFG.warp_bits
    count = f["placed"].bit_length()
    return [
        f["place_warp"] >> place * bits & (1 << bits) - 1 if f["placed"] >> place & 1 else -1 for place in range(count)
    ]


def test_warps_get_places_one_per_cycle_in_order() -> None:
    result = run(CFG, hand_trace([NOP] * 4, [NOP] * 4, [NOP] * 4))
    # Warp w is launched in cycle w and ready in the next, and seen in its place in the one after.
    assert result.events("activate")[:2] == [(1, 0b001), (2, 0b010)]
    assert [places(result, cycle) for cycle in range(4)] == [[], [], [0], [0, 1]]
    ready = result.events("ready")
    assert ready[:2] == [(1, 0b001), (2, 0b010)]
    assert (3, 0b100) in ready


def test_a_warp_that_ends_gives_its_place_to_the_next() -> None:
    result = run(CFG, hand_trace([], [NOP] * 8, [NOP]))
    end = result.when("exit")[0]
    # Freed in the cycle after the EXIT, given away in it, taken in the one after that.
    assert result.fields[end + 1]["placed"] == 0b10
    assert (end + 1, 0b100) in result.events("activate")
    assert places(result, end + 2) == [2, 1]
    assert next(cycle for cycle, warp in result.issues() if warp == 2) == end + 2


def test_a_consumer_of_a_load_gives_up_its_place() -> None:
    trace = hand_trace([op((), 4), load((4,), 5), op((5,), 6)])
    result = run(CFG, trace)
    first, loaded = (cycle for cycle, _ in result.issues()[:2])
    # The consumer is decoded in the cycle before its load can issue, so it is the head in the next.
    assert result.events("suspend_long") == [(loaded + 1, 1)]
    dispatched = result.events("dispatch")[1][0]
    assert result.fields[loaded + 2]["draining"] == 1
    # The load's unit is free, and the ALU's result complete, in the cycle after its dispatch.
    assert result.when("releasing") == [dispatched + 2]
    assert result.events("released") == [(dispatched + 2, 1)]
    assert not result.fields[dispatched + 3]["placed"]
    written = result.when("write")[1]
    again = [cycle for cycle, _ in result.events("activate")][1]
    assert (again, result.fields[again + 1]["placed"]) == (written + 1, 1)
    assert result.issues()[2] == (again + 1, 0)
    counters = result.model.counters
    assert (counters["suspends_long"], counters["activations"], counters["releasing_cycles"]) == (1, 2, 1)
    assert first == 2


def test_a_place_is_held_until_short_results_are_complete() -> None:
    cfg = CFG.replace(sfu_latency=20)
    result = run(cfg, hand_trace([load((), 5), op((), 6, port=Port.SFU), op((5,), 7)]))
    short = max(cycle for cycle, ports in result.events("write") if ports == 0b010)
    assert result.when("releasing") == [short + 1 + 1]
    assert result.when("draining")[-1] == short + 1


@pytest.mark.parametrize("touching", [op((5,), 7), op((), 5), op((5,), 5)])
def test_reads_and_writes_of_loaded_registers_suspend(touching) -> None:  # type: ignore[no-untyped-def]
    assert len(run(CFG, hand_trace([load((), 5), touching])).events("suspend_long")) == 1


@pytest.mark.parametrize(
    "other",
    [
        load((), 5),
        op((), 5, port=Port.LSU, space=Space.SHARED, access=Access.LOAD, bytes=4),
        op((), 5, port=Port.SFU),
    ],
)
def test_only_results_of_global_and_local_memory_suspend(other) -> None:  # type: ignore[no-untyped-def]
    expected = int(other.space == Space.GLOBAL)
    assert len(run(CFG, hand_trace([other, op((5,), 6)])).events("suspend_long")) == expected


def test_a_barrier_that_is_not_complete_suspends_all_but_the_last() -> None:
    result = run(CFG, hand_trace([BAR, NOP], [NOP] * 6 + [BAR]))
    arrivals = [min(c for c, f in enumerate(result.fields) if f["waiting"] >> w & 1) for w in range(2)]
    assert result.events("suspend_barrier") == [(arrivals[0], 0b01)]
    assert result.model.counters["suspends_barrier"] == 1
    # The barrier opens in the cycle in which the last one is seen to wait; the first is ready from the next.
    assert result.fields[arrivals[1] + 1]["waiting"] == 0
    assert (arrivals[1] + 1, 0b01) in result.events("activate")


def test_a_barrier_of_more_warps_than_places_opens() -> None:
    result = run(CFG.replace(active_warps=1), hand_trace(*[[BAR, NOP, BAR]] * 4))
    assert len(result.when("exit")) == 4
    assert result.model.counters["suspends_barrier"] == 6


def test_a_place_is_kept_at_a_barrier_if_no_other_warp_needs_it() -> None:
    cfg = CFG.replace(suspend_barrier="needed", active_warps=2)
    result = run(cfg, hand_trace([BAR, NOP], [NOP] * 6 + [BAR]))
    assert not result.when("draining") and result.model.counters["activations"] == 2


@pytest.mark.parametrize("places", [1, 2, 3])
def test_warps_at_a_barrier_give_way_one_by_one_to_those_it_waits_for(places: int) -> None:
    """All places are held by warps that wait for the others, which then come, as many as there are more than places."""
    cfg = CFG.replace(suspend_barrier="needed", active_warps=places)
    result = run(cfg, hand_trace(*[[BAR, NOP]] * 4))
    assert len(result.when("exit")) == 4
    assert result.model.counters["suspends_barrier"] == 4 - places
    assert all(mask & mask - 1 == 0 for _, mask in result.events("suspend_barrier"))


ALL = CFG.replace(suspend="outstanding", resume="all")


def test_any_load_that_is_out_sends_its_warp_away_until_all_are_back() -> None:
    trace = hand_trace([load((), 4), load((), 5), op((), 6), op((4,), 7)])
    result = run(ALL, trace)
    first, second = (cycle for cycle, _ in result.issues()[:2])
    # It suspends in the cycle after it issued the first load, and comes back for the second, though that was ready.
    assert [cycle for cycle, _ in result.events("suspend_long")] == [first + 1, second + 1]
    written = result.when("write")
    assert [cycle for cycle, _ in result.events("activate")][1:] == [written[0] + 1, written[1] + 1]
    assert second == written[0] + 2 and result.model.counters["suspends_long"] == 2


def test_a_warp_without_a_place_comes_back_for_its_head_or_for_all_its_loads() -> None:
    trace = hand_trace([load((), 4), TEXTURE, op((4,), 6), op((5,), 7)])
    head, all_ = (run(CFG.replace(resume=resume), trace) for resume in ("head", "all"))
    for result, returns in ((head, (0, 1)), (all_, (1,))):
        loaded = [cycle for cycle, ports in result.events("write") if ports == 0b100]
        assert [cycle for cycle, _ in result.events("activate")][1:] == [loaded[one] + 1 for one in returns]


def test_a_warp_keeps_its_place_at_its_exit_until_its_loads_are_back() -> None:
    result = run(ALL.replace(hit_latency=200), hand_trace([load((), 4)]))
    assert not result.when("suspend_long") and result.model.counters["activations"] == 1
    assert result.when("exit") == [result.when("write")[0] + 1]


def test_a_marked_beat_sends_its_warp_away_whatever_it_needs() -> None:
    # Without a hint every beat is marked; unlike with outstanding, a warp without a beat stays.
    strands = CFG.replace(suspend="strands", resume="all", branch_delay=8)
    branches = hand_trace([load((), 4), BRA, op((), 6)])
    result = run(strands, branches)
    issued = [cycle for cycle, _ in result.issues()]
    assert result.events("suspend_long") == [(issued[0] + 1, 1)]
    returned = result.when("write")[0]
    assert issued[1] == returned + 2
    kept = run(strands, hand_trace([load((), 4)]))
    assert not kept.when("suspend_long")


MISS = CFG.replace(long_from="miss", notice_latency=7)
TEXTURE = op((), 5, port=Port.LSU, space=Space.TEXTURE, access=Access.LOAD, bytes=4)


def test_a_load_that_hits_suspends_no_warp() -> None:
    result = run(MISS, hand_trace([load((), 5), op((5,), 6)]))  # without addresses it hits
    assert not result.when("suspend_long") and result.model.counters["activations"] == 1


def test_a_load_that_misses_suspends_from_the_cycle_after_its_notice() -> None:
    result = run(MISS, hand_trace([TEXTURE, op((5,), 6)]))
    dispatched = result.when("dispatch")[0]
    assert result.when("suspend_long") == [dispatched + 7 + 1]
    result = run(MISS.replace(notice_latency=30), hand_trace([TEXTURE, op((5,), 6)]))
    assert result.when("suspend_long") == [result.when("dispatch")[0] + 30 + 1]


def test_a_notice_with_the_result_makes_nothing_long() -> None:
    result = run(MISS.replace(texture_latency=7), hand_trace([TEXTURE, op((5,), 6)]))
    assert result.when("write")[0] == result.when("dispatch")[0] + 7 and not result.when("suspend_long")


def test_a_place_drains_until_every_load_has_missed_or_is_back() -> None:
    result = run(MISS, hand_trace([TEXTURE, load((), 4), op((5,), 6)]))
    assert result.when("suspend_long") == [result.when("dispatch")[0] + 7 + 1]
    hit = result.when("write")[0]
    assert result.when("draining")[-1] == hit + 1 and result.when("releasing") == [hit + 2]


def test_a_notice_that_would_come_after_the_result_is_refused() -> None:
    said = "notice_latency must be at most hit_latency, 30, and texture_latency, 200, not 31, if long_from is miss"
    with pytest.raises(ValueError, match=said):
        MISS.replace(notice_latency=31)
    assert not CFG.replace(notice_latency=31).sees_misses


def test_a_place_is_kept_during_a_load_if_no_other_warp_needs_it() -> None:
    cfg = CFG.replace(suspend_load="needed", active_warps=2)
    result = run(cfg, hand_trace([load((), 5), op((5,), 6)], [load((), 5), op((5,), 6)]))
    assert not result.when("draining") and result.model.counters["activations"] == 2
    back = [cycle for cycle, ports in result.events("write") if ports == 0b100]
    assert [cycle for cycle, _ in result.issues()[2:4]] == [back[0] + 1, back[1] + 1]


@pytest.mark.parametrize("places", [1, 2, 3])
def test_warps_that_wait_for_loads_give_way_one_by_one_to_those_that_are_ready(places: int) -> None:
    cfg = CFG.replace(suspend_load="needed", active_warps=places, hit_latency=200)
    result = run(cfg, hand_trace(*[[load((), 5), op((5,), 6)]] * 4))
    assert len(result.when("exit")) == 4
    suspended = result.events("suspend_long")
    # Once all loads are out, the last that came keep their places until the first one's is back.
    back = result.when("write")[0]
    assert len([cycle for cycle, _ in suspended if cycle <= back]) == 4 - places
    assert all(mask & mask - 1 == 0 for _, mask in suspended)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"suspend": "outstanding"}, "resume must be all, not head, if suspend is outstanding"),
        ({"suspend": "strands"}, "resume must be all, not head, if suspend is strands"),
        ({"suspend": "always", "suspend_load": "needed"}, "suspend_load must be always, not needed, if suspend is"),
    ],
)
def test_what_would_suspend_for_ever_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        CFG.replace(**changes)


def test_a_barrier_completed_by_an_exit_suspends_those_that_waited() -> None:
    result = run(CFG, hand_trace([BAR, NOP], [NOP] * 8))
    assert result.model.counters["suspends_barrier"] == 1
    end = result.when("exit")[0]
    assert result.fields[end]["waiting"] and result.issues()[-1][0] > end


def test_without_suspension_places_are_kept() -> None:
    cfg = CFG.replace(suspend="never", active_warps=4)
    result = run(cfg, hand_trace([load((), 5), op((5,), 6), BAR, NOP], [NOP, BAR]))
    assert not result.when("draining") and result.model.counters["activations"] == 2


def test_the_preemptive_policy_suspends_every_marked_beat_once() -> None:
    result = run(CFG.replace(suspend="always"), hand_trace([NOP, op((), 4), op((4,), 5)]))
    # The first beat arrives in a place that its warp was just given; the others, and the EXIT, find it used up.
    assert result.model.counters["suspends_long"] == 3
    assert result.model.counters["activations"] == 4


def test_greedy_stays_at_its_place_and_round_robin_takes_the_one_after() -> None:
    cfg = CFG.replace(active_choice="round_robin", buffer_depth=4)
    held = type("Held", (Baseline,), {"step": hold_until(20)})
    greedy = run(cfg.replace(active_choice="greedy"), hand_trace([NOP] * 3, [NOP] * 3), held)
    turns = run(cfg, hand_trace([NOP] * 3, [NOP] * 3), held)
    assert [warp for _, warp in greedy.issues()] == [0] * 4 + [1] * 4
    assert [warp for _, warp in turns.issues()] == [1, 0] * 4
    assert [turns.fields[cycle]["current"] for cycle, _ in turns.issues()] == [0, 1, 0, 1, 0, 1, 0, 1]


STARVED = CFG.replace(active_warps=1, starved_after=4, branch_delay=30)


def test_a_place_without_a_beat_is_given_up_to_a_warp_that_has_one() -> None:
    result = run(STARVED, hand_trace([BRA, NOP], [NOP] * 3))
    assert result.issues()[0] == (3, 0)
    # Empty from cycle 4 on; cycles 4 to 7 are the four without a beat.
    assert result.events("suspend_starved") == [(8, 1)]
    assert (result.when("draining"), result.events("released")[0]) == ([9], (10, 1))
    assert result.events("activate")[:2] == [(1, 0b01), (11, 0b10)]
    assert result.issues()[1] == (12, 1)
    assert result.model.counters["suspends_starved"] == 1


def test_it_is_kept_as_long_as_no_other_warp_has_a_beat() -> None:
    alone = run(STARVED, hand_trace([BRA, NOP]))
    assert not alone.events("suspend_starved")


def hold_until(cycle: int):  # type: ignore[no-untyped-def]
    """A ``step`` that lets no warp issue before a cycle, so that all buffers are full then."""

    def step(self, stimulus):  # type: ignore[no-untyped-def]
        self.file.hold = -1 if self.cycle < cycle else 0
        return Baseline.step(self, stimulus)

    return step


FRAME = ("launch", "resident", "buffered", "clear", "waiting", "room", "issue", "issue_warp", "exit", "grant", "write")


@pytest.mark.parametrize("seed", range(12))
def test_round_robin_over_places_for_all_is_round_robin_over_warps(seed: int) -> None:
    rng = random.Random(seed)
    trace = stress_trace(seed, profile=rng.choice(list(PROFILES)), warps_per_cta=4, ctas=1, length=60)
    lrr = random_config(rng).replace(scheduler="lrr")
    places = lrr.replace(scheduler="two_level", active_warps=lrr.warps, active_choice="round_robin", suspend="never")
    expected, found = run(lrr, trace), run(places, trace)
    assert [[f[name] for name in FRAME] for f in found.fields] == [[f[name] for name in FRAME] for f in expected.fields]
