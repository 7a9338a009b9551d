"""Read windows with one mistake each, which the check of operands or the watcher must catch."""

from __future__ import annotations

import random
from collections.abc import Callable
from unittest import mock

import pytest

from tests.golden.collectors.read_window.random_window import random_window
from tests.golden.collectors.read_window.scenario import configured, unknown
from tests.golden.collectors.read_window.tight import tight_trace
from tests.golden.collectors.read_window.watched import watch
from tests.golden.invariants import Broken
from warpfile.golden import StaleOperand
from warpfile.golden.arbiter import first_of
from warpfile.golden.collectors.read_window.codes import CodeGuard
from warpfile.golden.collectors.read_window.collectors import ReadWindow
from warpfile.golden.collectors.read_window.held_beat import HeldBeat, HintFields
from warpfile.golden.collectors.read_window.history import History
from warpfile.golden.collectors.read_window.pending import PendingGuard
from warpfile.golden.collectors.read_window.planning import Planned, Schedule
from warpfile.golden.collectors.read_window.queues import Queues
from warpfile.golden.collectors.read_window.reading import Reading
from warpfile.golden.collectors.read_window.reuse import ReuseCache
from warpfile.golden.entry import Entry
from warpfile.golden.rf.ported.file import PortedFile
from warpfile.golden.scheduler.policy import Cggty
from warpfile.spec.schemes.modern import ReadWindowConfig

pytestmark = pytest.mark.plain

#: Where a mistake is, and the wrong thing made from the right one.
Mistake = tuple[type, str, Callable[..., object]]


def forgets_the_oldest(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(self: History) -> None:
        right(self)
        self.results[-1] = None

    return wrong


def kills_nothing(right: Callable[..., int]) -> Callable[..., int]:
    return lambda self, warp, register: 0


def keeps_what_it_should_end(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(self: ReuseCache, beat: HeldBeat) -> None:
        before = self.valid
        right(self, beat)
        self.valid |= before

    return wrong


def lets_stalls_run_on(right: Callable[..., int]) -> Callable[..., int]:
    def wrong(self: ReadWindow, cycle: int) -> int:
        if not self._fits():
            self.guard.tick(-1, None)
        return right(self, cycle)

    return wrong


def counts_a_tick_later(right: Callable[..., None]) -> Callable[..., None]:
    late: list[HeldBeat] = []

    def wrong(self: CodeGuard, beat: HeldBeat) -> None:
        self._count(beat.warp, 0, 0)
        late.append(beat)

    def tick(self: CodeGuard, warp: int, head: Entry | None) -> None:
        ticks(self, warp, head)
        while len(late) > 1 or (late and head is None):
            right(self, late.pop(0))

    ticks = CodeGuard.tick
    mock.patch.object(CodeGuard, "tick", tick).start()
    return wrong


def waits_for_nothing(right: Callable[..., int]) -> Callable[..., int]:
    return lambda self, hints: 0


def stalls_one_less(right: Callable[..., int]) -> Callable[..., int]:
    return lambda self, hints: max(right(self, hints) - 1, 0)


def reads_at_once(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(self: Queues, queue: int, beat: HeldBeat) -> None:
        right(self, queue, beat)
        beat.delay -= 1

    return wrong


def is_blind_to_distances(right: Callable[..., bool]) -> Callable[..., bool]:
    return lambda self, warp, head: False


def lets_sources_be_written(right: Callable[..., int]) -> Callable[..., int]:
    return lambda self, warp: 0


def prefers_loads(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(self: PortedFile, *parts: object) -> None:
        right(self, *parts)
        self.highest_first = True

    return wrong


MISTAKES: dict[str, tuple[str, Mistake]] = {
    "a history that is too short": ("control_codes", (History, "edge", forgets_the_oldest)),
    "no kill": ("control_codes", (ReuseCache, "kill", kills_nothing)),
    "an unmarked operand leaves the entry": ("control_codes", (ReuseCache, "take", keeps_what_it_should_end)),
    "stages wait while stalls run on": ("control_codes", (ReadWindow, "edge", lets_stalls_run_on)),
    "a counter counts late": ("control_codes", (CodeGuard, "left_control", counts_a_tick_later)),
    "the wait mask is left out": ("control_codes", (HintFields, "wait", waits_for_nothing)),
    "stalls are one less": ("control_codes", (HintFields, "stall", stalls_one_less)),
    "a queue reads a cycle early": ("control_codes", (Queues, "enter", reads_at_once)),
    "no issue distances": ("scoreboard", (PendingGuard, "_is_near", is_blind_to_distances)),
    "sources of loads are overwritten": ("scoreboard", (PendingGuard, "_unread", lets_sources_be_written)),
    "loads write first": ("control_codes", (PortedFile, "__init__", prefers_loads)),
}


def loses_a_credit(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(self: Queues, queue: int) -> None:
        right(self, queue)
        self.credits[queue] -= 1

    return wrong


def takes_the_oldest(right: Callable[..., int]) -> Callable[..., int]:
    return lambda self, eligible: first_of(eligible, self._age)


def plans_a_cycle_late(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(self: Schedule, beat: HeldBeat, slot: int, bank: int) -> None:
        if len(self._cycles[0][bank]) < 1:
            self._cycles[0][bank].append((beat, slot))
        else:
            right(self, beat, slot, bank)

    return wrong


def never_fits(right: Callable[..., int]) -> Callable[..., int]:
    return lambda self, bank: 0


def reads_beside_the_plan(right: Callable[..., tuple[int, int]]) -> Callable[..., tuple[int, int]]:
    def wrong(self: Reading, bank: int, planned: Planned) -> tuple[int, int]:
        later: Planned = []
        answer = right(self, bank, later)
        planned += later[: self._ports - len(planned)]
        return answer

    return wrong


def forgets_a_count(right: Callable[..., None]) -> Callable[..., None]:
    return lambda self, beat: None


def refuses_without_a_freeze(right: Callable[..., bool]) -> Callable[..., bool]:
    def wrong(self: ReadWindow, warp: int, entry: Entry) -> bool:
        return self._cycle % 7 != 3 and right(self, warp, entry)

    return wrong


#: What the watcher says of a mistake that no operand need show.
RULES: dict[str, Mistake] = {
    "no credit is lost": (Queues, "leave", loses_a_credit),
    "the last issuer goes on": (Cggty, "choose", takes_the_oldest),
    "what is planned is served": (Schedule, "plan", plans_a_cycle_late),
    "freezes end": (Schedule, "free", never_fits),
    "share the ports": (Reading, "_fetch", reads_beside_the_plan),
    "as long as it guards": (CodeGuard, "left_control", forgets_a_count),
    "what is kept once is found once": (ReuseCache, "take", keeps_what_it_should_end),
    "issues but in a freeze": (ReadWindow, "accept", refuses_without_a_freeze),
    "a fixed result is accepted at once": (PortedFile, "__init__", prefers_loads),
}


def tight_machine(seed: int, dependences: str) -> ReadWindowConfig:
    """One that freezes, forwards and kills."""
    changes = {"lsu_queue": 2, "sfu_queue": 1} if seed % 2 else {}
    return configured(latency=6, domains=1, dependences=dependences, **changes)


def is_caught(dependences: str) -> bool:
    for seed in range(5):
        cfg = tight_machine(seed, dependences)
        try:
            watch(cfg, tight_trace(cfg, seed, length=50), loosened=seed if seed > 2 else None, limit=5_000)
        except (StaleOperand, Broken, AssertionError):
            return True
    return False


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_caught(name: str) -> None:
    dependences, (kind, attribute, mistake) = MISTAKES[name]
    right = getattr(kind, attribute)
    with mock.patch.object(kind, attribute, mistake(right)):
        caught = is_caught(dependences)
    mock.patch.stopall()
    assert caught, f"not noticed: {name}"


@pytest.mark.parametrize("rule", RULES)
def test_the_watcher_names_the_rule_that_is_broken(rule: str) -> None:
    kind, attribute, mistake = RULES[rule]
    found = []
    with mock.patch.object(kind, attribute, mistake(getattr(kind, attribute))):
        for seed in range(5):
            cfg = tight_machine(seed, "control_codes")
            try:
                watch(cfg, unknown(tight_trace(cfg, seed, length=50)), loosened=seed, limit=5_000)
            except AssertionError as broken:
                found.append(str(broken))
    assert any(rule in text for text in found), found


@pytest.mark.parametrize("dependences", ["control_codes", "scoreboard"])
def test_a_machine_without_one_is_not_caught(dependences: str) -> None:
    assert not is_caught(dependences)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"alu_latency": 2, "fma_latency": 2, "variable_delay": 5}, "codes for results that come a cycle earlier"),
        ({"variable_delay": 6}, "codes for reads of variable latency a cycle later"),
    ],
)
def test_codes_for_another_machine_are_caught(changes: dict[str, object], why: str) -> None:
    cfg = configured(latency=6, domains=1, variable_delay=5)
    other = configured(**{**cfg.to_json(), **changes})  # type: ignore[arg-type]
    for seed in range(5):
        try:
            watch(cfg, tight_trace(other, seed))
        except StaleOperand as stale:
            assert "ticks before and must be at least" in str(stale)
            return
    pytest.fail(why)


def test_random_machines_are_narrow() -> None:
    kinds = {random_window(random.Random(seed), "control_codes").read_ports for seed in range(20)}
    assert kinds == {1, 2, 3}
