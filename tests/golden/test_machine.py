"""What a machine asks of its operand stage, and when (golden/collectors/contract.py)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.golden.scenario import BAR, NOP, hand_trace, op, run
from warpfile.golden.collectors.contract import Heads, Offer
from warpfile.golden.collectors.units.stage import STAGE_COUNTERS, Baseline, BaselineStage
from warpfile.golden.counters import COUNTERS
from warpfile.golden.entry import Entry
from warpfile.spec.config import Config
from warpfile.spec.ctas import Launch
from warpfile.spec.environment import Result
from warpfile.spec.probe import ProbeLayout

CFG = Config(banks=2, collect="all", alu_latency=4)


def machine(stage: type[BaselineStage]) -> type[Baseline]:
    """A machine with this operand stage."""

    class Built(Baseline):
        def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
            super().__init__(cfg, layout)
            self.stage = stage(cfg, layout)

    return Built


class Records(BaselineStage):
    """Notes its calls by cycle."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.calls: list[list[object]] = [[]]

    def room(self, heads: Heads) -> int:
        self.calls[-1].append("room")
        return super().room(heads)

    def offer(self) -> Sequence[Offer]:
        self.calls[-1].append("offer")
        return super().offer()

    def take(self, cycle: int, results: Sequence[Result | None]) -> int:
        self.calls[-1].append("take")
        return super().take(cycle, results)

    def dispatch(self, port: int) -> Sequence[int]:
        self.calls[-1].append(("dispatch", port))
        return super().dispatch(port)

    def accept(self, warp: int, entry: Entry) -> bool:
        self.calls[-1].append(("accept", warp, entry.needs_unit, entry.exits))
        return super().accept(warp, entry)

    def launched(self, launch: Launch) -> None:
        self.calls[-1].append(("launched", launch.warp))
        super().launched(launch)

    def edge(self, cycle: int) -> int:
        assert cycle == len(self.calls) - 1
        self.calls[-1].append("edge")
        self.calls.append([])
        return super().edge(cycle)


def test_the_calls_of_a_cycle_come_in_order() -> None:
    trace = hand_trace([op((), 4), NOP, op((4,), 5), NOP], [op((2,), 4)] * 3)
    result = run(CFG, trace, machine(Records))
    calls = result.model.stage.calls[:-1]
    assert len(calls) == result.cycles
    for f, called in zip(result.fields, calls, strict=True):
        expected: list[object] = ["room", "offer", "take"]
        expected += [("dispatch", port) for port in range(CFG.ports) if f["dispatch"] >> port & 1]
        if f["issue"]:
            expected.append(("accept", f["issue_warp"], bool(f["allocate"]), bool(f["exit"])))
        launches = [call for call in called if isinstance(call, tuple) and call[0] == "launched"]
        assert len(launches) == f["launch"]
        assert called == [*expected, *launches, "edge"]


class OwnsResults(BaselineStage):
    """Takes every result at once, whatever the ports do, and completes it ``delay`` later; ``drops`` the values."""

    delay = 0
    drops = False

    def take(self, cycle: int, results: Sequence[Result | None]) -> int:
        super().take(cycle, [None] * len(results))
        accepted = 0
        for port, result in enumerate(results):
            if result is not None:
                accepted |= 1 << port
                self.completion.add(cycle + self.delay, result)
                if result.writes and not self.drops:
                    self.banks.store(result)
        return accepted


@pytest.mark.parametrize("delay", [0, 1, 7])
def test_the_stage_decides_when_a_result_completes(delay: int) -> None:
    stage = type("Late", (OwnsResults,), {"delay": delay})
    result = run(CFG, hand_trace([op((), 4), op((4,), 6)]), machine(stage))
    first, second = result.when("write")
    assert result.issues() == [(2, 0), (first + delay + 1, 0), (second + delay + 1, 0)]
    assert result.model.counters["bank_writes"] == 0
    assert result.model.operands_checked == 1


def test_a_result_that_the_stage_drops_is_missed_by_its_reader() -> None:
    stage = type("Drops", (OwnsResults,), {"drops": True})
    run(CFG, hand_trace([op((), 4), op((2,), 6)]), machine(stage))
    with pytest.raises(AssertionError, match="value -1 in R4"):
        run(CFG, hand_trace([op((), 4), op((4,), 6)]), machine(stage))


def test_accept_sees_the_results_of_its_cycle() -> None:
    seen: list[int] = []

    class Looks(OwnsResults):
        def accept(self, warp: int, entry: Entry) -> bool:
            bank, row = self.location.place(warp, 4)
            seen.append(self.banks.rows[bank][row])
            return super().accept(warp, entry)

    result = run(CFG, hand_trace([op((), 4), *[NOP] * 4, op((2,), 9), op((3,), 8)]), machine(Looks))
    first, issues = result.when("write")[0], [cycle for cycle, _ in result.issues()]
    assert first in issues
    assert seen == [-1 if cycle < first else 0 for cycle in issues]


def test_room_may_depend_on_the_head_beats() -> None:
    class ArrivesSecond(BaselineStage):
        def room(self, heads: Heads) -> int:
            early = bool(heads.buffers[1] and heads.buffers[1][0].barrier and not heads.waiting & 1)
            return super().room(heads) & ~(early << 1)

    trace = hand_trace([NOP, NOP, NOP, BAR], [NOP, BAR, NOP])
    free, late = run(CFG, trace), run(CFG, trace, machine(ArrivesSecond))
    arrival = next(cycle for cycle, f in enumerate(late.fields) if f["waiting"] & 1)
    assert next(cycle for cycle, f in enumerate(free.fields) if f["waiting"] & 2) < arrival
    assert [cycle for cycle, warp in late.issues() if warp == 1][1] == arrival


def test_a_stage_decides_what_a_write_waits_for() -> None:
    class BlocksWrites(BaselineStage):
        def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
            super().__init__(cfg, layout)
            self.unread = lambda warp: -1

        def edge(self, cycle: int) -> int:
            if cycle == 20:
                self.unread, self.changed = lambda warp: 0, 1
            return super().edge(cycle)

    result = run(CFG, hand_trace([NOP, op((), 4)]), machine(BlocksWrites))
    assert [cycle for cycle, _ in result.issues()][:2] == [2, 21]


def test_the_counters_are_those_of_machine_and_stage() -> None:
    counters = run(CFG, hand_trace([op((2, 3), 4)])).model.counters
    assert list(counters) == [*COUNTERS, *STAGE_COUNTERS]
    assert (counters["beats"], counters["bank_reads"], counters["bank_writes"]) == (2, 2, 1)
