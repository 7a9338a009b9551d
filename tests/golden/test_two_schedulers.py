"""Two schedulers over one operand stage: who may issue side by side, and what both of them share."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.golden.machines import layout_of
from tests.golden.scenario import NOP, Step, hand_trace, op
from warpfile.golden.dual_issue import Schedulers, TwoSchedulers
from warpfile.golden.run import observations
from warpfile.golden.scheduler.policy import Gto, Lrr
from warpfile.output.display import silent
from warpfile.pages.evidence.study import Point, Run, studied
from warpfile.pages.schedulers import scheduled, single
from warpfile.schemes import find
from warpfile.schemes.part import load_object
from warpfile.spec.config import Config
from warpfile.spec.dual_issue import EXITS, ISSUED, WARP, SchedulersEnvironment
from warpfile.spec.trace import Port
from warpfile.spec.workload import prepare

PORTS: dict[str, object] = {"ports": 4, "write_back_ports": 4}
CFG = Config(banks=4, collect="all", collectors=4, buffer_depth=4, scheduler="gto", retake="same").replace(**PORTS)

#: What is observed in a cycle, and the warps that issue in it, the one first whose scheduler chose first.
Cycle = tuple[dict[str, int], list[int]]


def cycles(*warps: Sequence[Step], cfg: Config = CFG, model: type[TwoSchedulers] = TwoSchedulers) -> list[Cycle]:
    """Every cycle of a run; the warps are one CTA, warp w in slot w."""
    scheme, layout = find("baseline"), layout_of("baseline", cfg)
    machine = model(cfg, layout, *(load_object(part.golden) for part in scheme.parts(cfg)))
    seen = []
    for word in observations(machine, SchedulersEnvironment(cfg, prepare(cfg, hand_trace(*warps)), layout), 1_000):
        fields, second = layout.unpack(word & (1 << layout.width) - 1), word >> layout.width
        issued = [fields["issue_warp"]] * fields["issue"]
        assert issued or not second, "a second beat issues without a first"
        seen.append((fields, issued + [second >> WARP] * (second >> ISSUED & 1)))
        assert second >> ISSUED & 1 or not second >> EXITS & 1
    return seen


def issues(*warps: Sequence[Step], cfg: Config = CFG, model: type[TwoSchedulers] = TwoSchedulers) -> list[list[int]]:
    """The warps that issue in every cycle, from the first issue to the last one."""
    found = [issued for _, issued in cycles(*warps, cfg=cfg, model=model)]
    first, last = (next(at for at in order if found[at]) for order in (range(len(found)), range(len(found) - 1, 0, -1)))
    return found[first : last + 1]


def check_sides(issued: list[list[int]]) -> None:
    """Two beats of a cycle are of different schedulers."""
    assert all(len({warp % 2 for warp in warps}) == len(warps) for warps in issued)


def test_warps_of_both_schedulers_issue_side_by_side_and_exits_one_by_one() -> None:
    # Two warps are launched in cycles 0 and 1, so that their first beats issue in cycle 3, the turn of scheduler 1.
    assert issues([NOP] * 3, [NOP] * 3) == [[1, 0], [0, 1], [1, 0], [0], [1]]


def test_warps_of_one_scheduler_do_not() -> None:
    # Slots 0 and 2: two beats arrive in every cycle, one leaves. The EXIT of slot 1 goes beside the first.
    assert issues([NOP] * 6, [], [NOP] * 6) == [[0, 1], *[[0]] * 6, *[[2]] * 7]


class Mixed(TwoSchedulers):
    """The second one chooses among all warps."""

    def _pick(self, candidates: int) -> int:
        warp = super()._pick(candidates)
        if warp >= 0:
            self._rest = candidates & ~(1 << warp)
        return warp


@pytest.mark.plain
def test_a_scheduler_that_takes_the_others_warps_is_noticed() -> None:
    warps = [[NOP] * 6, [NOP], [NOP] * 6]
    check_sides(issues(*warps))
    with pytest.raises(AssertionError):
        check_sides(issues(*warps, model=Mixed))


@pytest.mark.parametrize(("retake", "taken"), [("same", [(3, 1), (6, 0), (9, 1)]), ("next", [(3, 1), (7, 1), (11, 1)])])
def test_the_last_unit_is_for_the_one_that_chooses_first(retake: str, taken: list[tuple[int, int]]) -> None:
    # A beat keeps its unit for three cycles: it asks, the row comes, it leaves. A unit that is free only in the cycle
    # after that is free in odd cycles, the turn of scheduler 1, as long as that one has a beat.
    found = cycles([op((4,))] * 4, [op((4,))] * 4, cfg=CFG.replace(collectors=1, retake=retake))
    assert [(cycle, issued[0]) for cycle, (fields, issued) in enumerate(found) if fields["allocate"]][:3] == taken


def test_a_beat_without_room_does_not_keep_another_one_of_its_scheduler() -> None:
    # Four launches, so that the first beat issues in cycle 5. In cycle 8 the unit is free again and all four warps have
    # a beat: who chooses second has no unit for its older warp, and its younger one needs none.
    add, cfg = op((4,)), CFG.replace(collectors=1, scheduler="oldest")
    found = cycles([add] * 3, [add] * 3, [NOP] * 8, [NOP] * 8, cfg=cfg)
    assert [cycle for cycle, (fields, _) in enumerate(found) if fields["allocate"]][:2] == [5, 8]
    assert [found[5][1], found[8][1]] == [[1], [0, 3]]


def test_each_has_a_port_for_arithmetic_and_sfu_and_lsu_are_shared() -> None:
    for port, together in ((Port.ALU, 2), (Port.FMA, 2), (Port.DOUBLE, 2), (Port.SFU, 1), (Port.LSU, 1)):
        found = cycles([op((), 3, port=port)], [op((), 3, port=port)])
        dispatched = [fields["dispatch"] for fields, _ in found if fields["dispatch"]]
        assert max(mask.bit_count() for mask in dispatched) == together, port
        assert max(fields["write"].bit_count() for fields, _ in found) == together, port


def test_tokens_of_both_come_back_side_by_side() -> None:
    sets = op(port=Port.NONE, token_writes=1)
    found = cycles([sets], [sets])
    assert max(fields["write"].bit_count() for fields, _ in found) == 2


def test_every_scheduler_has_a_state_of_its_own() -> None:
    greedy = Schedulers(CFG.replace(warps=4), Gto)
    for warp in range(4):
        greedy.launched(warp)
    greedy.issued(2)
    assert [greedy.choose(0b0101), greedy.choose(0b1010)] == [2, 1]
    greedy.exited(1)
    assert greedy.choose(0b1000) == 3
    turning = Schedulers(CFG.replace(warps=4), Lrr)
    turning.issued(0)
    assert [turning.choose(0b0101), turning.choose(0b1010)] == [2, 1]


def test_other_numbers_of_ports_are_refused() -> None:
    with pytest.raises(ValueError, match="ports and write_back_ports must be 4 for two schedulers"):
        issues([NOP], cfg=CFG.replace(ports=3, write_back_ports=3))


@pytest.mark.parametrize(
    ("scheme", "kernel", "changes"),
    [
        ("baseline", "chacha", {}),
        ("baseline", "chacha", {"scheduler": "lrr"}),
        ("corf", "chacha", {}),
        ("corf_plus", "chacha", {"scheduler": "gto"}),
        ("regmutex", "fft64", {"rows": 16}),
        ("regmutex_paired", "fft64", {"rows": 16}),
    ],
)
def test_a_kernel_executes_the_same_in_fewer_cycles(scheme: str, kernel: str, changes: dict[str, object]) -> None:
    preset = "fermi_linear" if scheme.startswith("regmutex") else "fermi"
    point = Point(scheme, preset, setting="launch").with_changes(**changes)
    (plain,), (twice,) = single(point), scheduled(point)
    # While they run, every operand is compared with the trace.
    study = studied([Run(point, kernel) for point in (plain, twice)], silent, fresh=True)
    one, two = (study.of(point, kernel) for point in (plain, twice))
    assert one.instructions == two.instructions
    assert two.cycles < one.cycles
    assert not any(two.counters.get(error, 0) for error in ("stray_cycles", "error_cycles"))
    assert two.counters.get("acq_ok", 1), "no section was taken"
