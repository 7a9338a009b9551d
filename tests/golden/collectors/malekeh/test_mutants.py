"""Caching units with one mistake each, which the operands or the watcher must catch."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from tests.golden.collectors.malekeh.invariants import watch_malekeh
from tests.golden.collectors.malekeh.scenario import hinted, malekeh_config, malekeh_layout, run_malekeh
from tests.golden.collectors.malekeh.test_random import meeting_case, random_case
from tests.golden.invariants import Broken
from tests.golden.machines import Malekeh
from tests.golden.scenario import hand_trace, op
from warpfile.golden import StaleOperand
from warpfile.golden.collectors.malekeh.choice import Choice
from warpfile.golden.collectors.malekeh.entries import Entries
from warpfile.golden.run import simulate
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.malekeh import MalekehConfig
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

pytestmark = pytest.mark.plain

Change = Callable[[Malekeh], None]


def mutant(change: Change) -> type[Malekeh]:
    """A model that is changed after its construction."""

    class Mutant(Malekeh):
        def __init__(self, cfg: MalekehConfig, layout: ProbeLayout) -> None:
            super().__init__(cfg, layout)
            change(self)

    return Mutant


def entries_of(model: Malekeh) -> list[Entries]:
    return [unit.entries for unit in model.collectors.units.units]


def keeps_stale_registers(model: Malekeh) -> None:
    """A result that does not enter its warp's unit leaves the old value there."""
    model.collectors.entrance._empty = lambda *which: None  # type: ignore[method-assign]


def lets_results_enter_before_the_beat(model: Malekeh) -> None:
    """A unit that takes a beat takes a result first."""
    entrance, look_at = model.collectors.entrance, model.collectors.entrance.look_at

    def enter_at_once(results, accepted):  # type: ignore[no-untyped-def]
        look_at(results, accepted)
        model.collectors._far |= entrance.enter(-1)

    entrance.look_at = enter_at_once  # type: ignore[method-assign]


def lets_results_enter_behind_the_beat(model: Malekeh) -> None:
    """A unit that takes a beat takes a result, too, in the entry that was first before the beat came."""
    enter = model.collectors.entrance.enter
    model.collectors.entrance.enter = lambda taken: enter(-1)  # type: ignore[method-assign]


def keeps_the_register_of_a_dropped_result(model: Malekeh) -> None:
    """The old value of a register stays in a unit that takes a beat."""
    entrance, enter = model.collectors.entrance, model.collectors.entrance.enter

    def keep(taken: int) -> int:
        if taken in entrance._first:
            entrance._first[taken] = entrance._first[taken]._replace(outcome="partial")
        return enter(taken)

    entrance.enter = keep  # type: ignore[method-assign]


def keeps_registers_of_the_last_owner(model: Malekeh) -> None:
    """A unit that changes hands is not emptied."""
    for entries in entries_of(model):
        entries.clear = lambda: None  # type: ignore[method-assign]


def keeps_the_unit_at_exit(model: Malekeh) -> None:
    """The unit of a warp that exited goes to the next warp of its slot."""
    model.collectors.units.release = lambda warp: None  # type: ignore[method-assign]


def ignores_locks(model: Malekeh) -> None:
    """Sources of the waiting beat are replaced too."""
    for entries in entries_of(model):
        count = len(entries.registers)
        entries.replaceable = lambda count=count: list(range(count))  # type: ignore[method-assign]


def replaces_by_index(model: Malekeh) -> None:
    """Far and near registers are replaced in one order."""
    for entries in entries_of(model):
        entries.replaceable = lambda e=entries: [i for i in range(len(e.registers)) if not e.locked >> i & 1]  # type: ignore[method-assign, misc]


def forgets_uses(model: Malekeh) -> None:
    """The order of use never changes."""
    for entries in entries_of(model):
        mark = entries.mark

        def forget(entry: int, near: int, entries: Entries = entries, mark: Callable[..., None] = mark) -> None:
            order = list(entries.order)
            mark(entry, near)
            entries.order = order

        entries.mark = forget  # type: ignore[method-assign]


def never_steps_the_lfsr(model: Malekeh) -> None:
    """Far registers are always searched from the same entry."""
    for entries in entries_of(model):
        entries.edge = lambda: None  # type: ignore[method-assign]


def is_ready_at_once(model: Malekeh) -> None:
    """A miss counts as ready when it is granted."""
    units, granted = model.collectors.units, model.collectors.units.granted

    def grant(index: int, copy: int, arrival: int) -> None:
        granted(index, copy, arrival)
        number, slot = divmod(index, units._slots)
        unit = units.units[number]
        unit.ready |= 1 << slot
        if unit.ready == unit.valid and unit.entry is not None:
            units.ready[unit.entry.port] |= 1 << number

    units.granted = grant  # type: ignore[method-assign]


def caches_far_results(model: Malekeh) -> None:
    """Hints of results are ignored."""
    divide = model.collectors.entrance._divide

    def all_near(results, accepted):  # type: ignore[no-untyped-def]
        near = [copy.copy(result) for result in results]
        for result in filter(None, near):
            result.hints = 0xF
        return divide(near, accepted)

    model.collectors.entrance._divide = all_near  # type: ignore[method-assign]


def takes_near_units_at_once(model: Malekeh) -> None:
    """Nobody waits."""
    choose = model.collectors.choice.choose

    def hurry(own: int, busy: int, empty: int, near: int, threshold: int) -> Choice:
        return choose(own, busy, empty, near, -1)

    model.collectors.choice.choose = hurry  # type: ignore[method-assign]


def forgets_the_order_of_dispatch(model: Malekeh) -> None:
    """Always the lowest unit is taken away."""
    model.collectors.choice.dispatches = lambda unit: None  # type: ignore[method-assign]


def has_room_for_everybody(model: Malekeh) -> None:
    """A warp issues while its unit is busy."""
    model.collectors.room = lambda heads: heads.buffered  # type: ignore[method-assign]


def prefers_nobody(model: Malekeh) -> None:
    """Owners issue like everybody else."""
    edge = model.collectors.edge

    def forget(cycle: int) -> int:
        word = edge(cycle)
        model.collectors.prefer = 0
        return word

    model.collectors.edge = forget  # type: ignore[method-assign]


def replaces_the_last_candidate(model: Malekeh) -> None:
    """The order of replacement is reversed."""
    for entries in entries_of(model):
        entries.replaceable = lambda e=entries, all_of=entries.replaceable: all_of()[::-1]  # type: ignore[method-assign, misc]


CHANGES = (
    keeps_stale_registers,
    lets_results_enter_before_the_beat,
    lets_results_enter_behind_the_beat,
    keeps_the_register_of_a_dropped_result,
    keeps_registers_of_the_last_owner,
    keeps_the_unit_at_exit,
    ignores_locks,
    replaces_by_index,
    forgets_uses,
    never_steps_the_lfsr,
    is_ready_at_once,
    caches_far_results,
    takes_near_units_at_once,
    forgets_the_order_of_dispatch,
    has_room_for_everybody,
    prefers_nobody,
    replaces_the_last_candidate,
)
CAUGHT = (Broken, StaleOperand, AssertionError, KeyError, IndexError, StopIteration)


def is_caught(change: Change, case: tuple[MalekehConfig, Trace]) -> bool:
    """Whether a run under the watcher fails."""
    try:
        watch_malekeh(*case, mutant(change))
    except CAUGHT as error:
        print(repr(error))
        return True
    return False


@pytest.mark.parametrize("change", CHANGES)
def test_a_mutant_is_caught(change: Change) -> None:
    assert any(is_caught(change, case(seed)) for seed in range(3) for case in (random_case, meeting_case))


def test_a_stale_register_is_a_stale_operand() -> None:
    # R4 is kept, then written far, then read.
    cfg = malekeh_config()
    trace = hinted(hand_trace([op((), 4), op((4,), 8), op((), 4), op((4,), 9, offset=64)]), [0] * 5)
    run_malekeh(cfg, trace)
    with pytest.raises(StaleOperand, match=r"at 0x40 .* in R4"):
        run_malekeh(cfg, trace, mutant(keeps_stale_registers))


def test_registers_of_another_warp_are_stale_operands() -> None:
    cfg = malekeh_config(collectors=1)
    warp = [op((), 4), op((4,), 8, offset=16)]
    trace = hinted(hand_trace(warp, warp, ctas=[0, 1]), [0] * 6)
    run_malekeh(cfg, trace)
    with pytest.raises(StaleOperand):
        run_malekeh(cfg, trace, mutant(keeps_registers_of_the_last_owner))


@pytest.mark.parametrize("change", [keeps_stale_registers, keeps_registers_of_the_last_owner])
def test_operands_alone_show_what_is_stale(change: Change) -> None:
    stale = 0
    for seed in range(8):
        cfg, trace = random_case(seed)
        layout = malekeh_layout(cfg)
        try:
            simulate(mutant(change)(cfg, layout), Environment(cfg, prepare(cfg, trace), layout))
        except StaleOperand:
            stale += 1
        except AssertionError as error:
            assert "stale" in str(error) or "entered twice" in str(error)
    assert stale


def test_a_flipped_probe_is_noticed() -> None:
    class Flips(Malekeh):
        def step(self, stimulus):  # type: ignore[no-untyped-def]
            return super().step(stimulus) ^ (self.cycle == 6) << self.collectors._first + self.collectors._at["near"]

    trace = hinted(hand_trace([op((2, 3), 4)] * 4), [0] * 5)
    watch_malekeh(malekeh_config(), trace)
    with pytest.raises(Broken):
        watch_malekeh(malekeh_config(), trace, Flips)
