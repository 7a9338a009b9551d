"""What a machine asks of its parts, and when (golden/*/contract.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.golden.machines import Baseline
from tests.golden.scenario import BAR, NOP, hand_trace, op, run
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.collectors.gathering import COUNTERS as UNIT_COUNTERS
from warpfile.golden.collectors.units.collectors import Units
from warpfile.golden.counters import COUNTERS
from warpfile.golden.entry import Entry
from warpfile.golden.rf.banked.file import BankedFile
from warpfile.golden.rf.contract import RegisterFile
from warpfile.golden.scheduler.places import Places
from warpfile.spec.config import Config
from warpfile.spec.contract import Asks
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.environment import Result, Stimulus
from warpfile.spec.probe import ProbeLayout

CFG = Config(banks=2, collect="all", alu_latency=4)


def machine(kind: type[Units] = Units, file_kind: type[BankedFile] = BankedFile) -> type[Baseline]:
    """A machine with these parts."""
    return type("Built", (Baseline,), {"kind": kind, "file_kind": file_kind})


COLLECTORS_CALLS = ("room", "offer", "rule", "read", "settle", "dispatch", "accept", "launched", "edge")
FILE_CALLS = ("accept", "issued", "launched", "edge")


class Noting:
    """Another part, and a note of every call of some of its methods: their names with a prefix, and the arguments."""

    def __init__(self, part: Any, prefix: str, names: Sequence[str], note: Callable[..., None]) -> None:
        vars(self).update(part=part, prefix=prefix, names=names, note=note)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.part, name, value)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.part, name)

        def call(*arguments: Any) -> Any:
            self.note(self.prefix + name, arguments)
            return found(*arguments)

        return call if name in self.names else found


@pytest.mark.parametrize("drives_itself", [False, True])
def test_the_calls_of_a_cycle_come_in_order(drives_itself: bool) -> None:
    calls: list[list[object]] = [[]]

    def note(name: str, arguments: tuple[Any, ...]) -> None:
        what = arguments[:1] if name in ("dispatch", "accept", "launched") else ()
        calls[-1].append((name, *what) if what else name)

    def collectors(cfg: Config, layout: ProbeLayout, file: RegisterFile) -> Noting:
        return Noting(Units(cfg, layout, file), "", COLLECTORS_CALLS, note)

    def file(cfg: Config, layout: ProbeLayout, places: Places | None) -> Noting:
        banked = BankedFile(cfg, layout, places)
        banked.drives_itself = drives_itself
        return Noting(banked, "file ", FILE_CALLS, note)

    class Notes(Baseline):
        kind = staticmethod(collectors)  # type: ignore[assignment]
        file_kind = staticmethod(file)  # type: ignore[assignment]

        def step(self, stimulus: Stimulus) -> int:
            word = super().step(stimulus)
            calls.append([])
            return word

    trace = hand_trace([op((), 4), NOP, op((4,), 5), NOP], [op((2,), 4)] * 3)
    result = run(CFG, trace, Notes)
    assert len(calls) - 1 == result.cycles
    for f, called in zip(result.fields, calls[:-1], strict=True):
        ruled = bool(f["write"] or f["write_wait"])
        expected: list[object] = [
            "room",
            "offer",
            *["rule"] * ruled,
            *["file accept"] * (ruled or drives_itself),
            "read",
        ]
        expected += ["settle"] * bool(f["write"])
        expected += [("dispatch", port) for port in range(CFG.ports) if f["dispatch"] >> port & 1]
        if f["issue"]:
            expected += [("accept", f["issue_warp"]), "file issued"]
        if f["launch"]:
            launches = [call for call in called if isinstance(call, tuple) and call[0] == "launched"]
            assert len(launches) == 1
            expected += ["file launched", *launches]
        assert called == [*expected, "edge", "file edge"]


class OwnsResults(BankedFile):
    """Takes every result at once, whatever the ports do, and completes it ``delay`` later; ``drops`` the values."""

    delay = 0
    drops = False

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        for port, result in enumerate(results):
            if result is not None and valid >> port & 1:
                self.completion.add(cycle + self.delay, result)
                if result.writes and not self.drops:
                    bank, row = self.place(result.warp, result.register)
                    self.banks.rows[bank][row] = result.row
        return valid


@pytest.mark.parametrize("delay", [0, 1, 7])
def test_the_file_decides_when_a_result_completes(delay: int) -> None:
    file = type("Late", (OwnsResults,), {"delay": delay})
    result = run(CFG, hand_trace([op((), 4), op((4,), 6)]), machine(file_kind=file))
    first, second = result.when("write")
    assert result.issues() == [(2, 0), (first + delay + 1, 0), (second + delay + 1, 0)]
    assert result.model.counters["bank_writes"] == 0
    assert result.model.operands_checked == 1


def test_a_result_that_the_file_drops_is_missed_by_its_reader() -> None:
    file = type("Drops", (OwnsResults,), {"drops": True})
    run(CFG, hand_trace([op((), 4), op((2,), 6)]), machine(file_kind=file))
    with pytest.raises(AssertionError, match="value -1 in R4"):
        run(CFG, hand_trace([op((), 4), op((4,), 6)]), machine(file_kind=file))


class Keeping(Config):
    """A configuration whose collectors may keep results."""

    @property
    def asks(self) -> Asks:
        """As always, and this."""
        return replace(super().asks, keeps=True)


KEEPING = Keeping(banks=2, collect="all", alu_latency=4)


class StoresNothing(Units):
    """Takes results without having them stored."""

    def __init__(self, cfg: Config, layout: ProbeLayout, file: RegisterFile) -> None:
        super().__init__(cfg, layout, file)
        rule = self.rule
        self.rule = lambda results: (rule(results)[0], 0)


def test_a_result_that_need_not_be_stored_completes_and_leaves_its_row_out_of_date() -> None:
    stored = run(CFG, hand_trace([op((), 4), op((2,), 6)]))
    passed = run(KEEPING, hand_trace([op((), 4), op((2,), 6)]), machine(StoresNothing))
    assert passed.fields == stored.fields
    assert (stored.model.counters["bank_writes"], passed.model.counters["bank_writes"]) == (2, 0)
    with pytest.raises(AssertionError, match="in R4"):
        run(KEEPING, hand_trace([op((), 4), op((4,), 6)]), machine(StoresNothing))
    with pytest.raises(AssertionError, match="keep a result that do not say that they may"):
        run(CFG, hand_trace([op((), 4), op((2,), 6)]), machine(StoresNothing))


def test_a_result_is_held_until_the_collectors_let_it_go() -> None:
    class Hesitates(Units):
        def __init__(self, cfg: Config, layout: ProbeLayout, file: RegisterFile) -> None:
            super().__init__(cfg, layout, file)
            self.asked = 0
            rule = self.rule

            def late(results: list[Result | None]) -> tuple[int, int]:
                self.asked += 1
                return rule(results) if self.asked > 3 else (0, 0)

            self.rule = late

    trace = hand_trace([op((), 4)])
    first = run(CFG, trace).when("write")[0]
    late = run(CFG, trace, machine(Hesitates))
    assert late.when("write_wait") == [first, first + 1, first + 2]
    assert late.when("write") == [first + 3]


def test_accept_sees_the_results_of_its_cycle() -> None:
    seen: list[int] = []

    class Looks(Units):
        def __init__(self, cfg: Config, layout: ProbeLayout, file: RegisterFile) -> None:
            super().__init__(cfg, layout, file)
            self.settled = 0

        def settle(self, results: list[Result | None], accepted: int) -> None:
            self.settled |= accepted

        def accept(self, warp: int, entry: Entry) -> bool:
            seen.append(self.settled)
            return super().accept(warp, entry)

    result = run(CFG, hand_trace([op((), 4), *[NOP] * 4, op((2,), 9), op((3,), 8)]), machine(Looks))
    first, issues = result.when("write")[0], [cycle for cycle, _ in result.issues()]
    assert first in issues
    assert seen == [0 if cycle < first else 1 for cycle in issues]


def test_room_may_depend_on_the_head_beats() -> None:
    class ArrivesSecond(Units):
        def room(self, heads: Heads, ready: int) -> int:
            early = bool(heads.buffers[1] and heads.buffers[1][0].barrier and not heads.waiting & 1)
            return super().room(heads, ready) & ~(early << 1)

    trace = hand_trace([NOP, NOP, NOP, BAR], [NOP, BAR, NOP])
    free, late = run(CFG, trace), run(CFG, trace, machine(ArrivesSecond))
    arrival = next(cycle for cycle, f in enumerate(late.fields) if f["waiting"] & 1)
    assert next(cycle for cycle, f in enumerate(free.fields) if f["waiting"] & 2) < arrival
    assert [cycle for cycle, warp in late.issues() if warp == 1][1] == arrival


def test_collectors_decide_what_a_write_waits_for() -> None:
    class BlocksWrites(Units):
        def __init__(self, cfg: Config, layout: ProbeLayout, file: RegisterFile) -> None:
            super().__init__(cfg, layout, file)
            self.unread = lambda warp: -1

        def edge(self, cycle: int) -> int:
            if cycle == 20:
                self.unread, self.changed = lambda warp: 0, 1
            return super().edge(cycle)

    result = run(CFG, hand_trace([NOP, op((), 4)]), machine(BlocksWrites))
    assert [cycle for cycle, _ in result.issues()][:2] == [2, 21]


def test_a_launch_waits_for_the_file() -> None:
    class Slow(BankedFile):
        def __init__(self, cfg: Config, layout: ProbeLayout, places: Places | None) -> None:
            super().__init__(cfg, layout, places)
            self.launch_ready = False

        def launched(self, launch: Launch) -> None:
            assert self.launch_ready
            super().launched(launch)

        def edge(self, cycle: int) -> int:
            self.launch_ready = cycle >= 8
            return super().edge(cycle)

    result = run(CFG, hand_trace([NOP], [NOP]), machine(file_kind=Slow))
    assert result.when("launch") == [9, 10]


def test_the_counters_are_those_of_machine_and_parts() -> None:
    counters = run(CFG, hand_trace([op((2, 3), 4)])).model.counters
    assert list(counters) == [*COUNTERS, *UNIT_COUNTERS, "bank_writes"]
    assert (counters["beats"], counters["bank_reads"], counters["bank_writes"]) == (2, 2, 1)
