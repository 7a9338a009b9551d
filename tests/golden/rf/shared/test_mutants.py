"""Machines with one mistake each, which the watcher, the memory or the operands must catch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.golden.machines import Shared
from tests.golden.rf.shared import test_accesses, test_examples, test_pipeline, test_results, test_search
from tests.golden.rf.shared.bench import Bench
from tests.golden.rf.shared.scenario import random_case, run_shared, watch_shared
from warpfile.golden import StaleOperand
from warpfile.golden.rf.shared import access, acting, file, search, stages
from warpfile.golden.rf.shared.addresses import Known
from warpfile.golden.rf.shared.counts import NO_ROW
from warpfile.golden.rf.shared.vectors import Vector
from warpfile.golden.run import Stuck
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.shared import MISS, SharedConfig

pytestmark = pytest.mark.plain

Mistake = Callable[[Any, pytest.MonkeyPatch], None]


def stores_delete_nothing(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A store ends no entry."""
    machine.file.addresses.delete = lambda low, high: 0


def stores_delete_too_little(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A store leaves the entry whose last word it meets."""
    delete = machine.file.addresses.delete
    machine.file.addresses.delete = lambda low, high: delete(low + 4, high) if high - low >= 4 else 0


def flushes_nothing(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """What changes memory anywhere leaves the entries."""
    machine.file.addresses.flush = lambda: False


def merges_what_is_not_there(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A merge does not look whether its rows are ready."""
    now = acting.Acting._now

    def wrong(self: Any, match: Any) -> Any:
        ready, self._counts.ready = self._counts.ready, [True] * len(self._counts.ready)
        found = now(self, match)
        self._counts.ready = ready
        return found

    patch.setattr(acting.Acting, "_now", wrong)


def uses_what_has_ended(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """An access does not look again whether its entries are valid."""
    patch.setattr(acting.Acting, "_now", lambda self, match: match)


def renews_fills(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A load whose row others share already is written to another one."""
    code = stages.Stages._code

    def wrong(self: Any, deciding: Any, cycle: int) -> int:
        shared = deciding.old != NO_ROW and self._counts.count[deciding.old] > 1
        return stages.RENEWED if shared and deciding.result.full else code(self, deciding, cycle)

    patch.setattr(stages.Stages, "_code", wrong)


def writes_shared_rows(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A result of a shared row is in place."""
    code = stages.Stages._code

    def wrong(self: Any, deciding: Any, cycle: int) -> int:
        found = code(self, deciding, cycle)
        return stages.ALONE if found in (stages.RENEWED, stages.MERGED) else found

    patch.setattr(stages.Stages, "_code", wrong)


def goes_on_in_m1(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A partial result is written without the lanes that it has not."""
    code = stages.Stages._code

    def wrong(self: Any, deciding: Any, cycle: int) -> int:
        found = code(self, deciding, cycle)
        return stages.RENEWED if found == stages.MERGED else found

    patch.setattr(stages.Stages, "_code", wrong)


def changes_its_mind(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A result that is to merge does not if its row is no longer shared."""
    code = stages.Stages._code

    def wrong(self: Any, deciding: Any, cycle: int) -> int:
        deciding.asks &= self._counts.count[deciding.old] > 1
        return code(self, deciding, cycle)

    patch.setattr(stages.Stages, "_code", wrong)


def kills_while_an_access_acts(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """The release does not wait for E."""
    may = file.SharedFile._may_drop

    def wrong(self: Any, mapped: Any) -> bool:
        acts, self.acting.acts = self.acting.acts, False
        allowed = may(self, mapped)
        self.acting.acts = acts
        return bool(allowed)

    patch.setattr(file.SharedFile, "_may_drop", wrong)


def releases_beside_a_renewal(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """The release does not wait for results that give up a row."""
    observe = stages.Stages.observe

    def wrong(self: Any, cycle: int) -> None:
        observe(self, cycle)
        self.needs_old = False

    patch.setattr(stages.Stages, "observe", wrong)


def changes_beside_an_access(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A result changes mappings in the cycle of E."""
    decide = stages.Stages.decide
    patch.setattr(stages.Stages, "decide", lambda self, acts: decide(self, False))


def writes_busy_rows(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a row that the merge slot has yet to read."""
    machine.file.slot.busy = lambda row: False


def misses_a_fill(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A load that is absorbed as its row becomes ready waits for that."""
    absorbed = machine.file.absorbed
    edge = absorbed.edge

    def wrong() -> None:
        added = absorbed._added
        edge()
        absorbed.waiting |= added

    absorbed.edge = wrong


def waits_for_nothing(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """An absorbed load completes before its row is ready."""
    absorbed = machine.file.absorbed
    edge = absorbed.edge

    def wrong() -> None:
        edge()
        absorbed.waiting = 0

    absorbed.edge = wrong


def completes_two(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """An absorbed load that acts in the list's last entry overwrites it."""
    patch.setattr(type(machine.file.absorbed), "full", property(lambda self: False))


def marks_nothing(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """Nobody knows that an entry names a row."""
    machine.file.counts.mark = lambda row, marked: None


def ends_no_entry(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """An entry outlives what its row had."""
    machine.file.addresses.end = lambda row: False


def counts_nothing(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A row that is shared has a count of 1."""
    add = machine.file.counts.add
    machine.file.counts.add = lambda row, change: add(row, change if not machine.file.counts.count[row] else 0)


def shares_too_much(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A count may exceed its bits."""
    machine.file.counts.most += 1


def forgets_the_second_row(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A merge ends with its first row."""
    slot = machine.file.slot
    start = slot.start
    slot.start = lambda sources, target, lanes: start(sources[:1], target, lanes)


def shifts_the_other_way(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A merge takes lane i - d."""
    slot = machine.file.slot
    start = slot.start

    def wrong(sources: Any, target: int, lanes: int) -> None:
        start([search.Source(s.number, s.row, -s.distance, s.lanes) for s in sources], target, lanes)

    slot.start = wrong


def is_ready_at_once(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """The row of a load that is sent is taken for filled."""
    machine.file.counts.becomes_ready = lambda row, ready=True: None


def takes_other_uppers(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """The bits above an entry's are not compared."""
    addresses = machine.file.addresses
    patch.setattr(access, "NO_UPPER", 0)
    addresses.upper = addresses._upper = 0
    addresses.begin = lambda upper: None


def ignores_strides(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """An entry of another stride matches."""
    source = search.source

    def wrong(asked: Vector, number: int, entry: Known, lanes: int) -> search.Source | None:
        return source(asked, number, Known(entry.base, asked.stride, entry.lanes, entry.row), lanes)

    patch.setattr(search, "source", wrong)


def believes_diverged_loads(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A load is tracked whose lanes are not all that live."""
    begin = access.Access.__init__

    def wrong(self: Any, sent: Any, kind: int) -> None:
        begin(self, sent, kind)
        self.searches = kind == access.LOAD

    patch.setattr(access.Access, "__init__", wrong)


def ignores_lanes(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A row is taken to have all lanes of its vector."""
    source = search.source
    everything = (1 << machine.file.port._lanes) - 1

    def wrong(asked: Vector, number: int, entry: Known, lanes: int) -> search.Source | None:
        return source(asked, number, Known(entry.base, entry.stride, everything, entry.row), lanes)

    patch.setattr(search, "source", wrong)


def acts_before_the_answer(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A register that nothing is known of counts as unmapped."""
    may = acting.Acting._may

    def wrong(self: Any, asked: Any, match: Any) -> bool:
        asked.old = acting_unmapped
        return bool(may(self, asked, match))

    patch.setattr(acting.Acting, "_may", wrong)


acting_unmapped = file.Mapped(0, 0, 0)


def absorbs_and_sends(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A load that hits leaves by the pins as well."""
    act = machine.file.port._act
    machine.file.port._act = lambda asked: act(asked) and MISS


def waits_for_ever(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A search waits for the merge slot as long as that takes."""
    machine.file.acting._wait = 1 << 20


def forgets_the_load_ahead(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """An access is not compared with the one ahead of it."""
    patch.setattr(access.AccessPort, "_ahead", lambda self: None)


def believes_that_it_inserted(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """The load ahead counts with the entry that was inserted last, whoever did that."""
    do = acting.Acting._do

    def wrong(self: Any, asked: Any, match: Any) -> Any:
        last = self.last
        outcome = do(self, asked, match)
        self.last = self.last or last
        return outcome

    patch.setattr(acting.Acting, "_do", wrong)


def deletes_nothing_again(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """R leaves what the load ahead has inserted."""
    patch.setattr(access.AccessPort, "_recheck", lambda self, asked, last: None)


def uses_what_was_taken(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """D does not see that an entry is another one since C."""
    patch.setattr(search.Search, "forget", lambda self, number: None)


def deletes_again_and_again(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A store that waits in the second stage deletes in every cycle."""
    patch.setitem(access._BEHIND, access.DELETE, access.DELETE)


def passes_others(machine: Any, patch: pytest.MonkeyPatch) -> None:
    """A plain access goes to the pins before loads that search."""
    patch.setattr(access.AccessPort, "_passes", lambda self: self._taken is not None and self.leaving is None)


MISTAKES: list[Mistake] = [
    *(stores_delete_nothing, stores_delete_too_little, flushes_nothing, merges_what_is_not_there, uses_what_has_ended),
    *(renews_fills, writes_shared_rows, goes_on_in_m1, kills_while_an_access_acts),
    *(changes_beside_an_access, misses_a_fill, waits_for_nothing, completes_two, marks_nothing),
    *(ends_no_entry, counts_nothing, forgets_the_second_row, shifts_the_other_way, is_ready_at_once),
    *(ignores_strides, believes_diverged_loads, ignores_lanes, acts_before_the_answer),
    *(absorbs_and_sends, deletes_nothing_again),
]
SEEDS = (20, 11, 18, 32, 57, 47, 17, *range(12))
CAUGHT = (AssertionError, StaleOperand, Stuck, IndexError, KeyError, ValueError)


def mutated(mistake: Mistake, patch: pytest.MonkeyPatch) -> type[Shared]:
    """A machine that makes a mistake."""

    class Mutant(Shared):
        def __init__(self, cfg: SharedConfig, layout: ProbeLayout) -> None:
            super().__init__(cfg, layout)
            mistake(self, patch)

    return Mutant


def is_caught(mistake: Mistake, patch: pytest.MonkeyPatch, run: Callable[[int, type[Shared]], object]) -> bool:
    """Whether a run of some seed objects."""
    for seed in SEEDS:
        with patch.context() as own:
            try:
                run(seed, mutated(mistake, own))
            except CAUGHT as error:
                print(f"seed {seed}: {error!r}")
                return True
    return False


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_caught(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(seed: int, model: type[Shared]) -> None:
        watch_shared(*random_case(seed), model, 5_000)

    assert is_caught(mistake, monkeypatch, run)


#: What operands and absorbed loads alone tell.
LOSING: list[Mistake] = [stores_delete_nothing, writes_shared_rows, goes_on_in_m1, marks_nothing, shifts_the_other_way]


@pytest.mark.parametrize("mistake", LOSING)
def test_a_lost_value_is_caught_by_the_model_itself(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(seed: int, model: type[Shared]) -> None:
        cfg, trace, _ = random_case(seed)
        run_shared(cfg, trace, model, 5_000)

    assert is_caught(mistake, monkeypatch, run)


def not_tracked() -> None:
    """A load with other bits above an entry's."""
    test_accesses.test_what_is_not_tracked_passes(lambda b: b.load(0, 1, 0x1_0000_0000), 8, 1)


def merges_anyway() -> None:
    """A result whose row is its own from its second cycle on."""
    test_examples.test_a_result_that_is_to_merge_does_so_and_is_in_place_if_its_row_is_no_longer_shared(1)


def plain_behind_a_load() -> None:
    """A plain access is taken while a load is in D."""
    test_accesses.test_a_plain_access_does_not_pass_others(2)


#: What meets rarely enough on random programs, with the test that it fails.
RARE: list[tuple[Mistake, Callable[[], None]]] = [
    (releases_beside_a_renewal, test_results.test_a_kill_waits_for_a_result_that_gives_up_a_row),
    (kills_while_an_access_acts, test_examples.test_a_kill_in_the_cycle_of_a_hit_waits),
    (writes_busy_rows, test_results.test_who_would_drop_or_write_a_row_that_a_merge_has_yet_to_read_waits),
    (shares_too_much, test_accesses.test_a_count_does_not_exceed_its_bits),
    (takes_other_uppers, not_tracked),
    (changes_its_mind, merges_anyway),
    (waits_for_ever, test_accesses.test_an_access_waits_for_the_merge_slot_only_so_long),
    (misses_a_fill, test_examples.test_a_hit_that_acts_as_the_row_becomes_ready_does_not_wait),
    (forgets_the_load_ahead, test_examples.test_the_same_vector_right_behind_a_miss_is_a_perfect_hit),
    (believes_that_it_inserted, test_pipeline.test_a_load_ahead_that_hits_leaves_nothing_to_delete),
    (uses_what_was_taken, test_pipeline.test_an_entry_that_the_load_ahead_takes_is_not_used),
    (deletes_again_and_again, test_accesses.test_a_store_deletes_in_k_alone_however_long_it_stays_in_any_stage),
    (passes_others, plain_behind_a_load),
]


@pytest.mark.parametrize(("mistake", "fails"), RARE)
def test_a_rare_mistake_fails_a_test(
    mistake: Mistake, fails: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Bench.__init__

    def wrong(self: Bench, cfg: SharedConfig | None = None) -> None:
        begin(self, cfg)
        mistake(self, monkeypatch)

    fails()
    monkeypatch.setattr(Bench, "__init__", wrong)
    with pytest.raises((*CAUGHT, StopIteration)):
        fails()


def test_lanes_that_both_rows_have_are_those_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory cannot tell: both are right. The choice is the page's, and the RTL's."""
    monkeypatch.setattr(search.Source, "only", lambda self, lanes: self)
    with pytest.raises(AssertionError):
        test_search.test_the_second_row_gives_what_the_first_one_does_not()
    monkeypatch.undo()
    test_search.test_the_second_row_gives_what_the_first_one_does_not()
    test_examples.test_a_merge_of_two_rows()
