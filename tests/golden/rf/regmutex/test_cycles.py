"""What the page says of the pool, cycle by cycle (docs/schemes/regmutex.md, sections 4 to 8 and 12).

A kernel is taken in cycle 0 and warp k of the first CTA is launched in 1 + k, so that of n warps the first has its head
beat from cycle n + 2 on, the next one a cycle later, if they have two beats at least: one beat is decoded per cycle.
"""

from __future__ import annotations

import pytest

from tests.golden.machines import RegMutex
from tests.golden.rf.regmutex.scenario import ACQ, REL, load, make, paired, run_shared, shared
from tests.golden.scenario import BAR, EXIT, NOP, Run, Step, op
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.rf.regmutex.file import RegMutexFile
from warpfile.golden.run import Stuck
from warpfile.spec.schemes.regmutex import RegMutexConfig
from warpfile.spec.trace import Drain

HOLD: list[Step] = [ACQ, op((), 4), op((4,), 5), REL]


def counted(result: Run, *names: str) -> tuple[int, ...]:
    """Some counters of a run."""
    return tuple(result.model.counters[name] for name in names)


def released(result: Run) -> list[int]:
    """Cycles in which a section is given back, by REL or EXIT."""
    fields = result.fields
    return [cycle for cycle in range(len(fields) - 1) if fields[cycle]["acquired"] & ~fields[cycle + 1]["acquired"]]


BOTH = pytest.mark.parametrize("cfg", [make(), paired(), paired(pair_state="pair")], ids=["pool", "pairs", "pair"])


@BOTH
def test_an_acq_is_refused_waits_and_goes_on_in_the_cycle_after_the_rel(cfg: RegMutexConfig) -> None:
    """The diagram of section 12."""
    result = run_shared(cfg, shared(cfg, [ACQ, NOP, REL], [ACQ, REL]))
    assert result.when("kernel") == [0]
    assert result.when("launch") == [1, 2]
    assert result.when("acquire_ok") == [4, 9]
    assert result.events("acquire_refused") == [(5, 0b10)]
    assert result.issues()[:4] == [(4, 0), (6, 0), (8, 0), (9, 1)]
    assert result.when("release_ok")[0] == 8
    assert result.events("section_waiting") == [(cycle, 0b10) for cycle in (6, 7, 8, 9)]
    first, second = (1, 1) if cfg.pair_state == "pair" else (0b01, 0b10)
    acquired = [f["acquired"] for f in result.fields]
    assert acquired[4:11] == [0, first, first, first, first, 0, second]
    if not cfg.paired:
        assert [f["pool_taken"] for f in result.fields][4:11] == [0b1110, *[0b1111] * 4, 0b1110, 0b1111]
    assert counted(result, "acq_ok", "acq_fail", "acq_try", "rel_ok", "acq_wait_cycles") == (2, 1, 3, 2, 4)


@BOTH
def test_a_rel_in_the_cycle_after_the_refusal_is_not_slept_through(cfg: RegMutexConfig) -> None:
    """What opens is a level: warp 1 is refused in 5 and waits from 6 on, when the REL issues."""
    result = run_shared(cfg, shared(cfg, [ACQ, REL], [ACQ, REL]))
    assert result.events("acquire_refused") == [(5, 0b10)]
    assert result.when("release_ok")[0] == 6
    assert result.when("acquire_ok") == [4, 7]
    assert result.when("section_waiting") == [6, 7]


def test_before_the_kernel_all_sections_are_missing_and_nothing_is_launched() -> None:
    cfg = make()
    result = run_shared(cfg, shared(cfg, [NOP], sections=3))
    assert [f["pool_taken"] for f in result.fields][:2] == [0b1111, 0b1000]
    assert all(f["quiet"] for f in result.fields)


@pytest.mark.parametrize("scheduler", ["gto", "lrr", "oldest"])
@pytest.mark.parametrize("fair", [0, 1])
def test_all_warps_contend_for_one_section(scheduler: str, fair: int) -> None:
    cfg = make(scheduler=scheduler, fair=fair)
    result = run_shared(cfg, shared(cfg, *[HOLD * 3] * 4))
    assert counted(result, "acq_ok", "rel_ok", "acq_nop", "rel_nop") == (12, 12, 0, 0)
    assert all(f["acquired"].bit_count() <= 1 for f in result.fields)
    assert result.model.operands_checked == 12


def test_with_fair_sections_go_round_in_the_order_of_the_refusals() -> None:
    cfg = make(scheduler="gto", fair=1)
    result = run_shared(cfg, shared(cfg, *[[ACQ, *[NOP] * 9, REL] * 2] * 3))
    fields, order = result.fields, [f["issue_warp"] for f in result.fields if f["acquire_ok"]]
    refused = [f["acquire_refused"].bit_length() - 1 for f in fields if f["acquire_refused"]]
    assert order == [0, *refused] and sorted(order) == [0, 0, 1, 1, 2, 2]
    # By greed alone the warp that gives back takes the section again.
    greedy = run_shared(make(scheduler="gto"), shared(cfg, *[[ACQ, *[NOP] * 9, REL] * 2] * 3))
    assert [f["issue_warp"] for f in greedy.fields if f["acquire_ok"]] == [0, 0, 1, 1, 2, 2]


def test_with_fair_a_fresh_acq_is_refused_while_another_warp_waits() -> None:
    cfg = make(fair=1, scheduler="gto")
    # Warp 0 gives back and asks again at once, while warp 1 waits.
    result = run_shared(cfg, shared(cfg, [ACQ, *[NOP] * 6, REL, ACQ, REL], [ACQ, *[NOP] * 4, REL]))
    rel = result.when("release_ok")[0]
    assert result.events("acquire_refused")[1] == (rel + 1, 0b01), "by greed it is warp 0 that is chosen"
    assert result.issues()[[cycle for cycle, _ in result.issues()].index(rel) + 1] == (rel + 2, 1)


def test_with_a_section_for_every_warp_no_acq_fails() -> None:
    cfg = make()
    result = run_shared(cfg, shared(cfg, *[HOLD * 2] * 4, sections=4))
    assert counted(result, "acq_ok", "acq_fail", "acq_wait_cycles") == (8, 0, 0)
    assert not any(f["pool_taken"] >> 4 for f in result.fields)


def test_the_lowest_free_section_is_taken() -> None:
    cfg = make()
    hold: list[Step] = [ACQ, *[NOP] * 30, REL]
    result = run_shared(cfg, shared(cfg, [ACQ, NOP, NOP, REL, *[NOP] * 3, ACQ, REL], hold, hold, sections=4))
    held = [f["sections_held"] for f in result.fields if f["acquired"] == 0b111]
    assert held and set(held) == {0 | 1 << 2 | 2 << 4}, "warp 0 has section 0, also after its second ACQ"
    again = result.when("acquire_ok")[3]
    assert [f["pool_taken"] for f in result.fields][again : again + 2] == [0b0110, 0b0111]


def test_an_acq_of_a_warp_that_has_a_section_changes_nothing() -> None:
    cfg = make()
    result = run_shared(cfg, shared(cfg, [ACQ, ACQ, op((), 4), ACQ, op((4,), 5), REL]))
    first, *again = result.when("acquire_ok") + result.when("acquire_again")
    assert len(again) == 2
    taken = [f["pool_taken"] for f in result.fields]
    assert set(taken[first + 1 : result.when("release_ok")[0] + 1]) == {0b1111}
    assert counted(result, "acq_nop", "acq_ok", "acq_try") == (2, 1, 3)


def test_a_rel_of_a_warp_without_a_section_changes_nothing_and_waits_for_nothing() -> None:
    cfg = make(hit_latency=50)
    result = run_shared(cfg, shared(cfg, [load(3), REL, NOP], sections=2))
    assert result.when("release_again")[0] < result.when("write")[0]
    assert not result.when("section_draining") and not result.when("stray")
    assert counted(result, "rel_nop", "rel_ok") == (1, 0)


@BOTH
def test_an_exit_gives_back_what_its_warp_is_known_to_have(cfg: RegMutexConfig) -> None:
    last: list[Step] = [REL] if cfg.pair_state == "pair" else []
    result = run_shared(cfg, shared(cfg, [ACQ, NOP, *last], [ACQ, NOP, NOP, NOP, *last]))
    gone = result.when("release_ok" if last else "exit")[0]
    acquired = [f["acquired"] for f in result.fields]
    assert acquired[gone] == 1 and not acquired[gone + 1]
    assert result.when("acquire_ok")[1] == gone + 1 + bool(last and result.issues()[-1][0] == gone + 1)
    assert counted(result, "rel_ok") == (2 if last else 0,)


def test_one_bit_per_pair_keeps_the_section_beyond_an_exit() -> None:
    cfg = paired(pair_state="pair")
    result = run_shared(cfg, shared(cfg, [ACQ, NOP], [NOP] * 9, [ACQ, REL]))
    assert result.fields[-1]["acquired"] == 0b01


def test_an_exit_of_some_lanes_gives_nothing_back() -> None:
    cfg = make()
    leaves: Step = (EXIT, 0xFF)
    result = run_shared(cfg, shared(cfg, [ACQ, op((), 4), leaves, op((4,), 5), REL]))
    exits, rel = result.when("exit"), result.when("release_ok")
    assert len(exits) == 1 and exits[0] > rel[0]
    assert all(f["acquired"] for f in result.fields[result.when("acquire_ok")[0] + 1 : rel[0] + 1])
    assert not result.when("stray")


@pytest.mark.parametrize("scheduler", ["gto", "lrr"])
def test_barriers_right_behind_a_rel_and_right_before_an_acq(scheduler: str) -> None:
    cfg = make(scheduler=scheduler)
    program: list[Step] = [*HOLD, BAR, ACQ, op((), 4), REL, BAR, BAR, *HOLD]
    result = run_shared(cfg, shared(cfg, *[program] * 4))
    assert counted(result, "acq_ok", "rel_ok") == (12, 12)


@pytest.mark.parametrize("cycles", [1, 2, 4])
@pytest.mark.parametrize("kind", ["pool", "pairs", "pair"])
def test_a_rel_waits_for_a_load_into_the_section(kind: str, cycles: int) -> None:
    mode = {"sharing": "pool" if kind == "pool" else "pairs", "pair_state": "pair" if kind == "pair" else "warp"}
    cfg = make(bank_cycles=cycles, hit_latency=20, **mode)
    result = run_shared(cfg, shared(cfg, [ACQ, load(5), REL, NOP], [NOP]))
    (write,) = result.when("write")
    assert result.when("release_ok") == [write + cycles], "pending until the store is over"
    draining = result.when("section_draining")
    assert draining == [*range(draining[0], write + cycles)] and len(draining) > 10
    assert counted(result, "rel_drain_stall") == (len(draining),)
    base = run_shared(cfg, shared(cfg, [ACQ, load(3), REL, NOP], [NOP]))
    assert not base.when("section_draining") and base.when("release_ok")[0] < base.when("write")[0]


def test_a_rel_waits_for_the_dispatch_of_its_readers() -> None:
    cfg = make()
    result = run_shared(cfg, shared(cfg, [ACQ, op((), 4), op((4, 4), 1), REL]))
    assert result.when("release_ok")[0] == result.when("dispatch")[-1] + 1
    assert not result.when("section_draining")


def test_a_refused_warp_is_chosen_by_greed_and_then_held() -> None:
    """Behind the barrier, which warp 1 reached last, all warps have beats."""
    cfg = make(scheduler="gto")
    warps: list[list[Step]] = [[ACQ, BAR, *[NOP] * 9, REL], [*[NOP] * 6, BAR, NOP, ACQ, REL], [BAR, *[NOP] * 9]]
    result = run_shared(cfg, shared(cfg, *warps))
    ((refusal, mask),) = result.events("acquire_refused")
    before, now = result.fields[refusal - 1], result.fields[refusal]
    assert mask == 0b10 and before["issue"] and before["issue_warp"] == 1, "it issued last"
    assert now["clear"] & 0b111 == 0b111 and not now["issue"], "an older warp could have issued"
    assert result.fields[refusal + 1]["issue_warp"] == 0
    assert counted(result, "acq_fail", "acq_ok") == (1, 2)
    assert result.model.counters["issue_room"] >= 1


def test_the_last_warp_of_an_odd_number_has_its_section_alone() -> None:
    cfg = paired(warps=5, ctas=5)
    result = run_shared(cfg, shared(cfg, *[HOLD * 2] * 5, ctas=list(range(5))))
    refused = {mask.bit_length() - 1 for _, mask in result.events("acquire_refused")}
    assert refused and 4 not in refused
    assert counted(result, "acq_ok") == (10,)


def test_a_partner_that_is_gone_has_nothing() -> None:
    cfg = paired()
    result = run_shared(cfg, shared(cfg, [ACQ, op((), 4)], [*[NOP] * 20, ACQ, op((), 4), op((4,), 5), REL]))
    assert counted(result, "acq_ok", "acq_fail") == (2, 0)
    assert result.when("acquire_ok")[1] > result.when("exit")[0]


def test_pairs_do_not_wait_for_each_other() -> None:
    cfg = paired()
    result = run_shared(cfg, shared(cfg, [ACQ, *[NOP] * 9, REL], [NOP], [ACQ, *[NOP] * 9, REL], [NOP]))
    assert counted(result, "acq_ok", "acq_fail") == (2, 0)
    assert max(f["acquired"] for f in result.fields) == 0b101


def test_a_slot_that_is_launched_again_has_nothing_of_the_warp_before() -> None:
    cfg = make(warps=2)
    warps: list[list[Step]] = [[ACQ, op((), 4), op((4,), 5)]] * 7
    result = run_shared(cfg, shared(cfg, *warps, ctas=list(range(7))))
    assert counted(result, "acq_ok", "rel_ok") == (7, 0)
    for f in result.fields:
        assert not (f["acquired"] | f["section_waiting"]) & ~f["resident"]


@pytest.mark.parametrize("step", [op((4,), 1), op((), 4), op((3,), 4, dest_count=2)])
def test_an_access_without_a_section_is_an_error_for_ever(step: Step) -> None:
    cfg = make()
    result = run_shared(cfg, shared(cfg, [NOP, step, NOP, ACQ, REL]))
    issue = result.issues()[1][0]
    assert result.when("stray") == [*range(issue + 1, result.cycles)]
    assert counted(result, "stray_cycles") == (result.cycles - issue - 1,)
    assert not run_shared(cfg, shared(cfg, [NOP, (op((4,), 1), 0)])).when("stray"), "unless no lane executes it"


def test_a_result_without_a_section_is_accepted_beside_its_bank_and_lost() -> None:
    cfg = make(banks=1, bank_cycles=4)
    stray = run_shared(cfg, shared(cfg, [op((), 0), op((), 4)]))
    first, second = stray.when("write")
    assert second == first + 1, "the bank is busy"
    sound = run_shared(cfg, shared(cfg, [op((), 0), op((), 1)]))
    assert sound.when("write")[1] == sound.when("write")[0] + 4
    assert not stray.when("extended_write") and counted(stray, "base_accesses", "extended_accesses") == (1, 0)


def test_without_bits_of_its_own_an_access_is_never_an_error() -> None:
    cfg = paired(pair_state="pair")
    result = run_shared(cfg, shared(cfg, [op((), 4), op((4,), 5)]))
    assert not result.when("stray") and result.model.operands_checked == 1


@pytest.mark.parametrize("drain", [Drain.NONE, Drain.DISPATCHED])
def test_an_operand_that_disagrees_with_its_drain_class_is_an_error(drain: Drain) -> None:
    cfg = make()
    wrong = op(port=ACQ.port, kind=ACQ.kind, operand=int(drain != Drain.NONE), drain=drain, inserted=True)
    result = run_shared(cfg, shared(cfg, [NOP, wrong, NOP, REL]))
    # The operand comes a cycle after the issue; the flag is set behind that.
    assert result.when("stray")[0] == result.issues()[1][0] + 2
    assert counted(result, "acq_ok", "rel_nop") == ((1, 0) if drain == Drain.NONE else (0, 2))


def test_a_quad_may_straddle_both_sets() -> None:
    """Bs = 6 and Es = 2: R4 and R5 of warp 1 are in places 10 and 11, R6 and R7 in 24 and 25, behind four base sets."""
    cfg = make(source_slots=4)
    program: list[Step] = [ACQ, op((), 4, dest_count=4), op((4, 5, 6, 7), 0), REL]
    result = run_shared(cfg, shared(cfg, program, program, sets=(6, 2)))
    assert result.model.operands_checked == 8
    assert counted(result, "extended_accesses", "base_accesses") == (8, 10)
    rows = result.model.file.banks.rows
    written = [place for place in range(cfg.banks * cfg.rows) if rows[place % 2][place // 2] != -1]
    assert written == [0, 4, 5, 6, 10, 11, 24, 25]


@pytest.mark.parametrize("choice", ["always", "needed"])
def test_under_places_a_waiter_lets_the_holder_run(choice: str) -> None:
    cfg = make(scheduler="two_level", active_warps=1, suspend_barrier=choice, warps=2, hit_latency=30)
    # Warp 0 loses the only place by its load; warp 1 gets it and is refused.
    result = run_shared(cfg, shared(cfg, [ACQ, load(4), op((4,), 5), REL], [NOP, ACQ, op((), 4), op((4,), 5), REL]))
    (refusal, mask), *more = result.events("acquire_refused")
    assert mask == 0b10 and not more
    assert counted(result, "acq_ok", "rel_ok") == (2, 2)
    ((leave, place),) = [event for event in result.events("suspend_barrier") if event[0] > refusal][:1]
    assert place == 1
    if choice == "always":
        assert leave == refusal + 1
    else:
        assert result.fields[leave]["ready"] == 0b01, "the holder is ready and has no place"
    rel = result.when("release_ok")[0]
    waits = [f["ready"] >> 1 & 1 for f in result.fields]
    assert not any(waits[leave + 3 : rel + 1]), "a waiter is not ready before there is a section for it"


class KeepsPlaces(RegMutexFile):
    """Its waiters do not yield."""

    def gate(self, heads: Heads) -> None:
        """Hold and refuse alone."""
        super().gate(heads)
        self.yields = 0


def test_a_waiter_that_keeps_the_last_place_stops_everybody() -> None:
    cfg = make(scheduler="two_level", active_warps=1, warps=2, hit_latency=30)
    trace = shared(cfg, [ACQ, load(4), op((4,), 5), REL], [NOP, ACQ, op((), 4), op((4,), 5), REL])
    with pytest.raises(Stuck):
        run_shared(cfg, trace, type("Built", (RegMutex,), {"file_kind": KeepsPlaces}), limit=500)


def test_a_held_rel_keeps_its_place() -> None:
    cfg = make(scheduler="two_level", active_warps=1, warps=2, hit_latency=30)
    result = run_shared(cfg, shared(cfg, [ACQ, load(4), REL], [NOP]))
    assert result.when("section_draining")
    assert not result.when("suspend_long") and not result.when("suspend_barrier")
