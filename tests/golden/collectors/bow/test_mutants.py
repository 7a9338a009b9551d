"""Operand windows with one mistake each, which the watcher or the operands must catch."""

from __future__ import annotations

from collections.abc import Callable
from unittest import mock

import pytest

from tests.golden.collectors.bow.scenario import MODES
from tests.golden.collectors.bow.test_random import random_run
from tests.golden.invariants import Broken
from warpfile.golden import StaleOperand
from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.bow import collectors
from warpfile.golden.collectors.bow import results as rulings
from warpfile.golden.collectors.bow.banks import WindowBanks
from warpfile.golden.collectors.bow.collectors import Windows
from warpfile.golden.collectors.bow.entries import Entries
from warpfile.golden.collectors.bow.events import Events
from warpfile.golden.collectors.bow.results import Effect, Ruling, Values
from warpfile.golden.collectors.bow.window import Window
from warpfile.golden.rf.banks import Banks
from warpfile.golden.run import Stuck
from warpfile.spec.environment import Result

pytestmark = pytest.mark.plain

CAUGHT = (Broken, StaleOperand, Stuck, AssertionError, KeyError, IndexError, ValueError)

#: What a mistake replaces: an attribute of a class or module, and the wrong thing made from the right one.
Mistake = tuple[object, str, Callable[..., object]]


def never_stale(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(self: Entries, beat: int, window: int) -> None:
        right(self, beat, window + 1)

    return wrong


def too_early_stale(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(self: Entries, beat: int, window: int) -> None:
        right(self, beat, window)
        for entry in indices((self.clean | self.dirty) & ~self.pinned):
            if beat - self.last[entry] == window - 1:
                self.stale |= 1 << entry

    return wrong


def forgets_to_write(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(self: Entries, mask: int) -> None:
        right(self, mask)
        self.release(mask)

    return wrong


def frees_transients(right: Callable[..., int]) -> Callable[..., int]:
    """A victim that only the window was to have is dropped instead of written."""

    def wrong(self: Window, head: object) -> int:
        transients = self.entries.dirty & ~self.entries.owed
        victim = right(self, head)
        if victim >= 0 and transients >> victim & 1:
            self.entries.release(1 << victim)
        return victim

    return wrong


def victimises_hits(right: Callable[..., int]) -> Callable[..., int]:
    def wrong(self: Window, head: object) -> int:
        entries = self.entries
        candidates = (entries.clean | entries.dirty) & ~entries.pinned & ~entries.available
        with mock.patch.object(Entries, "oldest", lambda self, mask: old(self, candidates)):
            return right(self, head)

    old = Entries.oldest
    return wrong


def ignores_busy_banks(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(self: WindowBanks, cycle: int, events: Events) -> None:
        with mock.patch.object(Banks, "is_free", lambda self, cycle, bank, row, writes: True):
            right(self, cycle, events)

    return wrong


def frees_what_was_merged(right: Callable[..., None]) -> Callable[..., None]:
    """An entry that a bank takes is free afterwards, although lanes were merged into it."""

    def wrong(self: Windows, port: int, result: Result, ruling: Ruling) -> None:
        taken = dict(self.banks.taken)
        right(self, port, result, ruling)
        if ruling.effect == Effect.MERGE:
            self.banks.taken.update(taken)

    return wrong


def keeps_the_entry(right: Callable[..., None]) -> Callable[..., None]:
    """A result that goes to the bank only leaves the old value in the window."""

    def wrong(self: Values, window: Window, result: Result, ruling: Ruling, through: bool) -> None:
        if ruling.effect == Effect.FREE:
            ruling = ruling._replace(effect=Effect.NOTHING)
        right(self, window, result, ruling, through)

    return wrong


def uses_arrival_time(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(window: Window, result: Result, ruling: Ruling, through: bool) -> None:
        right(window, result, ruling, through)
        entry = window.entries.where[result.register]
        window.entries.last[entry] = window.next
        window.entries.stale &= ~(1 << entry)

    return wrong


def owes_no_lanes(right: Callable[..., None]) -> Callable[..., None]:
    """Lanes that were merged into an entry need not reach the bank."""

    def wrong(self: Values, window: Window, result: Result, ruling: Ruling, through: bool) -> None:
        right(self, window, result, ruling, through)
        if ruling.effect == Effect.MERGE:
            window.entries.owed &= ~(1 << window.entries.where[result.register])

    return wrong


def never_late(right: Callable[..., Ruling]) -> Callable[..., Ruling]:
    """Results are stored as long as an entry can be had, whether their beat is in the window or not."""

    def wrong(window: Window, result: Result, writes: str) -> Ruling:
        ruling = right(window, result, writes)
        if ruling.slot is None and result.full and ruling.write_class & 2 and window.entries.obtainable() >= 0:
            slot = window.slots[window.place - 1]
            slot.undone |= 1 << result.register
            return ruling._replace(slot=slot, effect=Effect.STORE, bank=writes == "through")
        return ruling

    return wrong


def protects_until_granted(right: Callable[..., int]) -> Callable[..., int]:
    """A writer waits for the reads of older beats, not for their dispatch."""

    def wrong(self: Windows, warp: int) -> int:
        window = self.windows[warp]
        waiting = [slot for number, slot in enumerate(window.slots) if window.undispatched >> number & 1]
        return sum({slot.reads for slot in waiting if slot.missing}) and right(self, warp)

    return wrong


def offers_the_youngest(right: Callable[..., int]) -> Callable[..., int]:
    def wrong(self: Window) -> int:
        ready = [number for number in indices(self.undispatched) if not self.slots[number].missing]
        return max(ready, key=lambda number: self.slots[number].number, default=-1)

    return wrong


def unpins_early(right: Callable[..., None]) -> Callable[..., None]:
    def wrong(self: Window, entry: int) -> None:
        right(self, entry)
        self.entries.pinned &= ~(1 << entry)

    return wrong


def ignores_owed_sources(right: Callable[..., int]) -> Callable[..., int]:
    """A stale source that is owed is read from its bank while the value is still in the window."""

    def wrong(self: Window, head: object) -> int:
        return 0 if right(self, head) == 1 else right(self, head)

    return wrong


def takes_two_results(right: Callable[..., tuple[int, int]]) -> Callable[..., tuple[int, int]]:
    def wrong(self: Windows, results: list[Result | None]) -> tuple[int, int]:
        valid, store = right(self, results)
        for port, result in enumerate(results):
            if result is not None and not valid >> port & 1:
                ruling = rulings.rule(self.windows[result.warp], result, self._writes)
                if not ruling.bank:
                    valid |= 1 << port
                    self._rulings[port] = ruling
        return valid, store

    return wrong


MISTAKES: dict[str, Mistake] = {
    "never_stale": (Entries, "age", never_stale),
    "too_early_stale": (Entries, "age", too_early_stale),
    "forgets_to_write": (Entries, "evict", forgets_to_write),
    "frees_transients": (Window, "make_room", frees_transients),
    "victimises_hits": (Window, "make_room", victimises_hits),
    "ignores_busy_banks": (WindowBanks, "evict", ignores_busy_banks),
    "frees_what_was_merged": (Windows, "_settle", frees_what_was_merged),
    "keeps_the_entry": (Values, "settle", keeps_the_entry),
    "uses_arrival_time": (rulings, "_store", uses_arrival_time),
    "owes_no_lanes": (Values, "settle", owes_no_lanes),
    "never_late": (collectors, "rule", never_late),
    "protects_until_granted": (Windows, "unread", protects_until_granted),
    "offers_the_youngest": (Window, "ready", offers_the_youngest),
    "unpins_early": (Window, "filled", unpins_early),
    "ignores_owed_sources": (Window, "fits", ignores_owed_sources),
    "takes_two_results": (Windows, "rule", takes_two_results),
}
#: Tight machines with a busy bank, where mistakes show soon.
TIGHT = {"banks": 1, "bank_cycles": 2, "source_slots": 3, "window": 3, "window_entries": 5, "miss_latency": 40}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_caught(name: str) -> None:
    owner, attribute, mistake = MISTAKES[name]
    for seed in range(40):
        mode = MODES[2 - seed % 2]
        try:
            with mock.patch.object(owner, attribute, mistake(getattr(owner, attribute))):
                random_run(seed, mode, **TIGHT)
        except CAUGHT as error:
            print(f"seed {seed}, {mode}: {error!r}")
            return
    raise AssertionError(f"{name} passed")


def test_the_tight_machines_are_right_without_a_mistake() -> None:
    for seed in range(4):
        random_run(seed, MODES[2 - seed % 2], **TIGHT)
