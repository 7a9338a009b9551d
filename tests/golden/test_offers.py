"""Offers that are refused, warps that are held and warps that are preferred; the baseline knows none of them."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.golden.machines import Baseline, layout_of
from tests.golden.scenario import NOP, hand_trace, op, run
from tests.golden.test_random import random_run
from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.contract import Collectors
from warpfile.golden.collectors.units.collectors import Units
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import RegisterFile
from warpfile.spec.config import Config
from warpfile.spec.environment import Stimulus
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Kind, Port

CFG = Config(banks=2, collect="all")
ALU = op((2,), 4)


class Moody(Units):
    """Collectors that prefer and refuse as they are told; ``offers`` notes whose beats are offered."""

    def __init__(self, cfg: Config, layout: ProbeLayout, file: RegisterFile) -> None:
        super().__init__(cfg, layout, file)
        self.file = file
        self.refuses = False
        self.offers: list[int] = []

    def accept(self, warp: int, entry: Entry) -> bool:
        self.offers.append(warp)
        return not self.refuses and super().accept(warp, entry)


def moody(mood: Callable[[Moody, int], None]) -> type[Baseline]:
    """A baseline with moody collectors; ``mood`` is called with collectors and cycle before each step."""

    class Machine(Baseline):
        kind = Moody
        collectors: Moody

        def step(self, stimulus: Stimulus) -> int:
            mood(self.collectors, self.cycle)
            return super().step(stimulus)

    return Machine


def refusing(first: int, last: int) -> type[Baseline]:
    """A machine that refuses everything from cycle ``first`` to ``last``."""
    return moody(lambda moody, cycle: setattr(moody, "refuses", first <= cycle <= last))


def test_the_baseline_holds_and_prefers_no_warp_and_accepts_everything() -> None:
    machine = Baseline(CFG, layout_of("baseline", CFG))
    collectors: Collectors = machine.collectors
    file: RegisterFile = machine.file
    assert (file.hold, collectors.prefer) == (0, 0)
    trace = hand_trace([ALU, NOP, ALU], [ALU, ALU])
    assert run(CFG, trace).fields == run(CFG, trace, moody(lambda moody, cycle: None)).fields


def test_room_is_a_matter_of_each_head_beat() -> None:
    cfg = CFG.replace(collectors=1, buffer_depth=1)
    result = run(cfg, hand_trace([op((2,), 4), op((2,), 5)], [NOP] * 4))
    second = [cycle for cycle, warp in result.issues() if warp == 0][1]
    full = [f for f in result.fields[:second] if f["occupied"]]
    assert {f["buffered"] for f in full} == {0b01, 0b10, 0b11}
    assert all(f["room"] == f["buffered"] & 0b10 for f in full)
    assert all(f["room"] == f["buffered"] for f in result.fields if not f["occupied"])


def expected_offers(scheduler: str, fields: list[dict[str, int]]) -> list[int]:
    """Warps that a scheduler offers which remembers issues only; slots are as old as their number says."""
    last, offers = -1, []
    for f in fields:
        eligible = list(indices(f["clear"] & ~f["waiting"] & f["room"]))
        if not eligible:
            continue
        if scheduler == "gto":
            offers.append(last if last in eligible else eligible[0])
        elif scheduler == "oldest":
            offers.append(eligible[0])
        else:
            offers.append(next((warp for warp in eligible if warp > last), eligible[0]))
        if f["issue"]:
            last = -1 if f["exit"] and scheduler == "gto" else f["issue_warp"]
    return offers


@pytest.mark.parametrize("scheduler", ["gto", "lrr", "oldest"])
@pytest.mark.parametrize("first", range(4, 20))
def test_a_refusal_is_a_bubble_that_changes_nothing(scheduler: str, first: int) -> None:
    cfg = CFG.replace(scheduler=scheduler)
    trace = hand_trace(*[[NOP] * 8] * 3)
    free, refused = run(cfg, trace), run(cfg, trace, refusing(first, first + 2))
    assert refused.fields[:first] == free.fields[:first]
    bubbles = refused.fields[first : first + 3]
    assert not any(f["issue"] or f["issue_warp"] or f["exit"] or f["allocate"] for f in bubbles)
    collectors = refused.model.collectors
    assert isinstance(collectors, Moody)
    assert collectors.offers == expected_offers(scheduler, refused.fields)
    assert refused.model.counters["issue_room"] == sum(f["clear"] != 0 for f in bubbles)


@pytest.mark.parametrize("step", [NOP, op(port=Port.NONE, kind=Kind.BARRIER), None])
def test_beats_that_need_no_unit_are_offered_too(step: object) -> None:
    trace = hand_trace([step] if step else [])
    assert run(CFG, trace).issues()[0] == (2, 0)
    result = run(CFG, trace, refusing(2, 5))
    assert result.issues()[0] == (6, 0)
    assert [f["room"] for f in result.fields[2:6]] == [1] * 4


def test_a_refused_beat_takes_nothing() -> None:
    result = run(CFG, hand_trace([ALU, op((4,), 6)]), refusing(0, 3))
    assert result.issues()[0] == (4, 0)
    assert result.events("allocate")[0] == (4, 1)
    assert result.when("occupied")[0] == 5
    assert result.model.counters["bank_reads"] == 2


def test_a_held_warp_does_not_issue_and_the_others_do() -> None:
    model = moody(lambda moody, cycle: setattr(moody.file, "hold", 0b01 if cycle < 20 else 0))
    result = run(CFG, hand_trace([NOP] * 3, [NOP] * 3), model)
    assert [warp for _, warp in result.issues()] == [1] * 4 + [0] * 4
    assert result.issues()[4] == (20, 0)
    assert result.fields[19]["clear"] & result.fields[19]["room"] & 1
    last = result.issues()[3][0]
    assert result.model.counters["issue_room"] >= 20 - last - 1


@pytest.mark.parametrize("scheduler", ["gto", "lrr"])
def test_preferred_warps_come_first_and_others_where_none_of_them_can(scheduler: str) -> None:
    trace = hand_trace([NOP] * 6, [ALU, op((4,), 5)], [NOP] * 6)
    result = run(CFG.replace(scheduler=scheduler), trace, moody(lambda moody, cycle: setattr(moody, "prefer", 0b110)))
    others = 0
    for f in result.fields:
        preferred = f["clear"] & ~f["waiting"] & f["room"] & 0b110
        if f["issue"] and f["issue_warp"] == 0:
            assert not preferred
            others += 1
    assert others == 7


@pytest.mark.parametrize("seed", range(20))
def test_random_programs_survive_moody_collectors(seed: int) -> None:
    rng = random.Random(seed)

    def mood(moody: Moody, cycle: int) -> None:
        moody.file.hold, moody.prefer = rng.getrandbits(8) & rng.getrandbits(8), rng.getrandbits(8)
        moody.refuses = rng.random() < 0.3

    random_run(seed, moody(mood), refuses=True)
