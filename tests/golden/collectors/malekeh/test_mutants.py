"""Caching units with one mistake each, which the operands or the watcher must catch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.golden.collectors.malekeh.invariants import watch_malekeh
from tests.golden.collectors.malekeh.scenario import hinted, malekeh_config, malekeh_layout, run_malekeh
from tests.golden.collectors.malekeh.test_random import meeting_case, random_case
from tests.golden.invariants import Broken
from tests.golden.machines import Malekeh
from tests.golden.scenario import hand_trace, op
from warpfile.golden import StaleOperand
from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.malekeh.choice import Choice
from warpfile.golden.collectors.malekeh.entries import Entries
from warpfile.golden.collectors.malekeh.units import Taken, Unit
from warpfile.golden.entry import Entry
from warpfile.golden.run import simulate
from warpfile.spec.environment import Environment, Result
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
    model.collectors.entrance._empty = lambda number, stale: None  # type: ignore[method-assign]


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
    model.collectors.entrance._is_near = lambda result: True  # type: ignore[method-assign]


def lets_results_meet_beats(model: Malekeh) -> None:
    """A result enters a unit that takes a beat."""
    enter = model.collectors.entrance.enter
    model.collectors.entrance.enter = lambda taken: enter(-1)  # type: ignore[method-assign]


def lets_results_follow_their_unit(model: Malekeh) -> None:
    """A result enters a unit that is taken away from its warp."""
    entrance, enter = model.collectors.entrance, model.collectors.entrance.enter

    def into_stolen(taken: int) -> int:
        coming = entrance._first.get(taken)
        stolen = coming is not None and model.collectors.units.of_warp[coming.result.warp] != taken
        return enter(-1 if stolen else taken)

    entrance.enter = into_stolen  # type: ignore[method-assign]


def keeps_what_met_a_beat(model: Malekeh) -> None:
    """A near result that does not enter, because its unit takes a beat, leaves the old value there."""
    entrance, enter = model.collectors.entrance, model.collectors.entrance.enter

    def forget(taken: int) -> int:
        coming = entrance._first.get(taken)
        if coming is not None and coming.outcome == "cache_hit":
            entrance._stale[taken] &= ~(1 << coming.entry)
        return enter(taken)

    entrance.enter = forget  # type: ignore[method-assign]


def empties_sources(model: Malekeh) -> None:
    """An entry that was stale becomes empty although a source took it."""
    entrance, empty = model.collectors.entrance, model.collectors.entrance._empty

    def all_of_them(number: int, stale: int) -> None:
        entries = model.collectors.units.units[number].entries
        locked, entries.locked = entries.locked, 0
        empty(number, stale)
        entries.locked = locked & entries.used

    entrance._empty = all_of_them  # type: ignore[method-assign]


def empties_before_it_allocates(model: Malekeh) -> None:
    """A beat of the owner finds the entries empty that results of its cycle make stale."""
    units, take = model.collectors.units, model.collectors.units.take

    def late(number: int, warp: int, entry: Entry) -> Taken:
        unit = units.units[number]
        if unit.owner == warp:
            for stale in indices(model.collectors.entrance._stale[number]):
                unit.entries.drop(stale)
        return take(number, warp, entry)

    units.take = late  # type: ignore[method-assign]


def loses_what_is_left(model: Malekeh) -> None:
    """Near registers that results of the cycle make stale are not lost."""
    units, take = model.collectors.units, model.collectors.units.take

    def late(number: int, warp: int, entry: Entry) -> Taken:
        taken = take(number, warp, entry)
        return taken._replace(lost=taken.lost & ~model.collectors.entrance._stale[number])

    units.take = late  # type: ignore[method-assign]


def looks_behind_dispatch(model: Malekeh) -> None:
    """Results find the entries of a beat that is presented unlocked."""
    collectors, place = model.collectors, model.collectors.entrance._place

    def unlocked(unit: Unit, result: Result) -> tuple[str, int]:
        locked = unit.entries.locked
        if any(collectors.units.units[number] is unit for _, number in collectors.units.offer()):
            unit.entries.locked = 0
        found = place(unit, result)
        unit.entries.locked = locked
        return found

    collectors.entrance._place = unlocked  # type: ignore[method-assign]


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
    model.collectors.room = lambda heads, ready: heads.buffered  # type: ignore[method-assign]


def prefers_no_warp(model: Malekeh) -> None:
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
    keeps_registers_of_the_last_owner,
    keeps_the_unit_at_exit,
    ignores_locks,
    replaces_by_index,
    forgets_uses,
    never_steps_the_lfsr,
    is_ready_at_once,
    caches_far_results,
    lets_results_meet_beats,
    lets_results_follow_their_unit,
    keeps_what_met_a_beat,
    empties_sources,
    empties_before_it_allocates,
    loses_what_is_left,
    looks_behind_dispatch,
    takes_near_units_at_once,
    forgets_the_order_of_dispatch,
    has_room_for_everybody,
    prefers_no_warp,
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


@pytest.mark.parametrize("change", [keeps_stale_registers, keeps_registers_of_the_last_owner, keeps_what_met_a_beat])
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
