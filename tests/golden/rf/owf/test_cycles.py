"""The worked example of docs/schemes/owf.md, section 13, and single rules in cycles."""

from __future__ import annotations

import pytest

from tests.golden.rf.owf.scenario import make, paired, run_paired
from tests.golden.rf.owf.test_random import PartnersAlone
from tests.golden.scenario import BAR, NOP, Run, Step, op
from warpfile.golden.run import Stuck
from warpfile.golden.scheduler.owners_first.scheduler import OwnersFirst
from warpfile.spec.trace import Port, Trace

#: R0 and R1 are private, R2 and R3 are shared. Two CTAs of two warps, each with a barrier.
PROGRAMS: list[list[Step]] = [
    [op((), 2), BAR, op((2,), 0)],
    [op((), 0, port=Port.SFU), op((0,), 3), BAR],
    [op((), 0), op((0,), 2), BAR],
    [op((), 3), op((3,), 1), BAR],
]


def example() -> Run:
    """The run of section 13."""
    return run_paired(make(), paired(*PROGRAMS))


def test_two_ctas_own_one_after_the_other() -> None:
    result = example()
    assert result.when("kernel") == [0] and result.when("launch") == [1, 2, 3, 4]
    assert [cycle for cycle, warp in result.issues() if cycle in result.when("owner_taken")] == [4, 12, 26, 27]
    assert [dict(result.issues())[cycle] for cycle in (4, 12, 26, 27)] == [0, 2, 1, 3]
    owner = [f["owns"] for f in result.fields]
    assert owner[4:6] == [0, 0b0001] and owner[12:14] == [0b0001, 0b0101]
    assert owner[18:20] == [0b0101, 0b0001], "warp 2 ends in 18"
    assert owner[25:29] == [0b0001, 0, 0b0010, 0b1010], "warp 0 ends in 25, and both warps of the other CTA go on"
    waiting = [f["owner_waiting"] for f in result.fields]
    assert waiting[:26] == [*[0] * 6, *[0b1000] * 6, *[0b1010] * 14] and not any(waiting[26:])
    assert result.model.counters["owner_wait_cycles"] == 6 + 2 * 14
    assert not result.when("stray")


def test_a_warp_waits_though_its_own_partner_owns_nothing() -> None:
    """Warp 3 waits from 6 on for warp 0; its partner, warp 2, becomes an owner in 12."""
    fields = example().fields
    assert all(f["owner_waiting"] >> 3 & 1 and not f["owns"] >> 2 & 1 for f in fields[6:13])


def test_private_registers_and_barriers_do_not_wait() -> None:
    assert (8, 1) in example().issues(), "warp 1 executes with its private register while the other CTA owns"


@pytest.mark.plain
def test_a_rule_for_partners_alone_ends_in_a_deadlock_of_two_barriers() -> None:
    """Warp 0 owns and waits for warp 2, which waits for warp 3, which owns and waits for warp 1, which waits for 0."""
    with pytest.raises(Stuck):
        run_paired(make(), paired(*PROGRAMS), PartnersAlone, limit=2_000)


def test_a_beat_that_no_lane_executes_waits_and_makes_an_owner() -> None:
    result = run_paired(make(), paired([(op((), 2), 0)], [NOP], [(op((), 2), 0)], [NOP]))
    assert result.model.counters["owners_taken"] == 2
    assert result.model.counters["shared_accesses"] == 0


def test_a_warp_alone_in_its_pair_owns_like_any_other() -> None:
    result = run_paired(make(), paired([op((), 2)], [op((), 3)]))
    assert result.model.counters["owners_taken"] == 2 and not result.when("owner_waiting")


def test_slots_behind_the_pairs_never_own_or_wait() -> None:
    program: list[Step] = [op((), 3), op((3,), 2)]
    result = run_paired(make(ctas=4), paired(*[program] * 4, members=1, slots=2))
    assert result.model.counters["owners_taken"] == 2
    assert all(not f["owns"] & ~0b11 and not f["owner_waiting"] & ~0b11 for f in result.fields)


def test_partners_have_their_shared_registers_in_one_place_and_private_ones_apart() -> None:
    """P = 2, S = 2, T = 6: slots 0 and 1 have R0 in 0 and 2, and R2 in 4; two banks, so that place 4 is row 2."""
    cfg = make()
    model = run_paired(cfg, paired(*PROGRAMS)).model
    places = [[model.file.place(warp, register) for register in range(4)] for warp in range(4)]

    def at(*numbers: int) -> list[tuple[int, int]]:
        return [(number % 2, number // 2) for number in numbers]

    assert places == [at(0, 1, 4, 5), at(2, 3, 4, 5), at(6, 7, 10, 11), at(8, 9, 10, 11)]


def strayed(trace: Trace) -> Run:
    """Warps of one CTA in slots of two partners, as only a host that errs would put them."""
    cfg = make()
    result = None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(cfg), "home_slots", lambda self, cta, descriptor: ())
        result = run_paired(cfg, trace)
    return result


def test_partners_that_are_owners_at_a_time_set_the_error_flag_for_good() -> None:
    result = strayed(paired([op((), 2), *[NOP] * 9], [op((), 2), *[NOP] * 9]))
    both = [cycle for cycle, f in enumerate(result.fields) if f["owns"] & 3 == 3]
    assert both and result.when("stray") == [*range(both[0] + 1, result.cycles)]


def test_owners_go_first_then_warps_without_a_partner_then_sharers() -> None:
    scheduler = OwnersFirst(make())
    for warp in (3, 2, 1, 0):
        scheduler.launched(warp)
    scheduler.ranks(0b0001, 0b1000)
    assert scheduler.choose(0b1111) == 0
    assert scheduler.choose(0b1110) == 2, "the oldest of those in neither mask"
    assert scheduler.choose(0b1000) == 3
    scheduler.issued(1)
    assert scheduler.choose(0b1110) == 1 and scheduler.choose(0b1111) == 0, "greedy within a rank only"
    scheduler.ranks(0, 0)
    assert scheduler.choose(0b1111) == 1 and scheduler.choose(0b1101) == 3, "without ranks it is gto"
