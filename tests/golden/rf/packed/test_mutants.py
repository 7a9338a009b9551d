"""Machines with one mistake each, which the watcher, the slices or the operands must catch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.golden.machines import Packed
from tests.golden.rf.packed.scenario import run_packed
from tests.golden.rf.packed.test_random import random_case, watch_packed
from warpfile.golden import StaleOperand
from warpfile.golden.collectors.coalescing import collectors as units
from warpfile.golden.rf.packed import stages
from warpfile.golden.rf.renaming import UNMAPPED, Mapped
from warpfile.golden.run import Stuck
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.packed import PackedConfig

pytestmark = pytest.mark.plain

Mistake = Callable[[Packed, pytest.MonkeyPatch], None]


def kills_at_once(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A dead register loses its slices while an older beat has yet to read it."""
    kills: Any = machine.collectors.kills
    if kills is not None:
        patch.setattr(kills._units, "unread", lambda warp: 0)
        machine.collectors.unread = type(machine.collectors).unread.__get__(machine.collectors)  # type: ignore


def kills_before_the_fill(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A kill does not wait until its slot is filled."""
    kills: Any = machine.collectors.kills
    if kills is not None:
        filled = kills.filled
        kills.filled = lambda index, cycle: filled(index, cycle - 2)


def believes_diverged_beats(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A kill counts whatever lanes are there."""
    kills: Any = machine.collectors.kills
    if kills is not None:
        expect = kills.expect

        def wrong(number: int, entry: Any) -> int:
            before, entry.beat.converged = entry.beat.converged, True
            refused = int(expect(number, entry))
            entry.beat.converged = before
            return refused

        kills.expect = wrong


def lets_dead_registers_be_written(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A younger beat may write a register that is to lose its slices."""
    machine.collectors.unread = machine.collectors.units.unread  # type: ignore[method-assign]


def does_not_drain(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A unit is free when its beat leaves, and forgets its kills."""
    wrong = machine.collectors
    dispatch = wrong.dispatch

    def forgets(port: int) -> Any:
        if wrong.kills is not None:
            wrong.kills.mask &= ~wrong.kills.of_unit(wrong._offered[port])
        return dispatch(port)

    wrong.dispatch = forgets  # type: ignore[method-assign]


def keeps_the_wrong_end(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A register that shrinks keeps the other slices."""
    shrunk = stages.shrunk

    def wrong(mapped: Mapped, size: int, side: int) -> Mapped:
        right = shrunk(mapped, size, side)
        if mapped.mask.bit_count() != 2 * size:
            return right
        return Mapped(right.bank, right.row, mapped.mask & ~right.mask)

    patch.setattr(stages, "shrunk", wrong)


def keeps_its_slices(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """What a register that shrinks does not need is not given up."""
    machine.file.stages._give_up = lambda mapped: None  # type: ignore[method-assign]


def overlooks_its_own_slices(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A search does not see what its own step makes free."""
    free = machine.file.free
    free._seen = lambda bank, own: free._free[bank]  # type: ignore[method-assign]


def forgets_old_slices(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A value that moves leaves its old slices behind."""
    placement = machine.file.stages._placement
    settle = placement.settle

    def wrong(wanted: Any, found: Mapped) -> None:
        wanted.own = UNMAPPED
        settle(wanted, found)

    placement.settle = wrong  # type: ignore[method-assign]


def merges_after_moving(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """The old row is not read before its slices are free."""

    class Wrong(stages.Deciding):
        def __init__(self, *values: Any) -> None:
            super().__init__(*values)
            self.start, self.merges = 0, False

    patch.setattr(stages, "Deciding", Wrong)


def asks_at_once(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A merge asks its bank in its first cycle in W0."""

    class Wrong(stages.Deciding):
        def __init__(self, *values: Any) -> None:
            super().__init__(*values)
            self.fresh = False

    patch.setattr(stages, "Deciding", Wrong)


def follows_no_change(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """T goes by where a partner was when it was read."""
    machine.file.stages._follow = lambda *anything: None  # type: ignore[method-assign]


def passes_t_by(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A result goes from X to W0 where that is empty."""
    inside, entrance = machine.file.stages, machine.file.entrance
    enter = entrance.enter

    def wrong(*values: Any) -> int:
        accepted = enter(*values)
        inside.advance()
        return accepted

    entrance.enter = wrong  # type: ignore[method-assign]


def goes_on_in_m1(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A merge takes no cycle for the lanes."""
    inside = machine.file.stages
    store = inside.store
    inside.store = lambda cycle: store(cycle - 1) if any(d and d.merges for d in inside.deciding) else store(cycle)  # type: ignore


def writes_all_lanes(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A partial result overwrites the lanes that it does not have."""
    patch.setattr(stages, "written", lambda held, before, result: result.row if result.full else -5)


def sees_full_lanes(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """The width of a partial result is that of all lanes."""
    widths = machine.file.entrance.widths
    if widths is not None:
        size = widths.size
        widths.size = lambda data, lanes: size(data, -1)  # type: ignore[method-assign]


def reserves_for_ever(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A reservation does not end when its row is wholly free."""
    free = machine.file.free
    ends = free._set_free

    def wrong() -> set[tuple[int, int]]:
        before = list(free._reserved)
        emptied = ends()
        free._reserved = before
        return emptied

    free._set_free = wrong  # type: ignore[method-assign]


def never_reserves(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """Nothing is kept for a partner."""
    machine.file.free.reserve = lambda mapped: None  # type: ignore[method-assign]


def changes_twice(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """Two results change their places in one cycle."""
    inside = machine.file.stages
    decide = inside.decide
    inside.decide = lambda cycle: (decide(cycle), decide(cycle))  # type: ignore


def has_a_memory_per_warp(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """All entries of a warp are in one memory."""
    table = machine.file.table
    table.memory = lambda warp, register: warp % table._banks  # type: ignore[method-assign]


def reads_what_is_written(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A result in X does not wait for who writes its entries."""
    machine.file.entrance._changes = lambda *anything: False  # type: ignore[method-assign]


def reads_half(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A result is served if a port is left for its own entry."""
    table = machine.file.table
    both = table.read_both

    def wrong(warp: int, one: int, other: int) -> Any:
        found = both(warp, one, other)
        if found is None and (own := table.read(warp, one)) is not None:
            return own, UNMAPPED
        return found

    table.read_both = wrong  # type: ignore[method-assign]


def sweeps_too_little(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """The last register of a warp that has ended keeps its slices."""
    sweep = machine.file.sweep
    step = sweep.step

    def wrong(*allowed: Any) -> None:
        before = sweep.warp
        step(*allowed)
        if before < 0 <= sweep.warp:
            sweep.todo &= (1 << sweep.todo.bit_length() - 1) - 1 if sweep.todo else 0

    sweep.step = wrong  # type: ignore[method-assign]


def sweeps_slowly(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A sweep reads no register while it holds one."""
    sweep = machine.file.sweep
    step = sweep.step
    sweep.step = lambda reads, *rest: step(reads and sweep.held is None, *rest)  # type: ignore[method-assign]


def joins_what_overlaps(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """Two sources of a bank come at once, wherever they are."""

    def wrong(rule: str, mapped: Any, base: int, asking: int) -> int:
        first = (asking & -asking).bit_length() - 1
        rest = [
            k for k in range(8) if asking >> k & 1 and k > first and mapped[base + k].bank == mapped[base + first].bank
        ]
        return base + rest[0] if rest else -1

    patch.setattr(units, "join", wrong)


def joins_nothing(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """Every source takes an access of its own."""
    patch.setattr(units, "join", lambda *anything: -1)


def asks_a_cycle_late(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """A unit does not ask its bank in the cycle in which the last answer is there."""
    lookups = machine.collectors.lookups
    edge, late = lookups.edge, list[int]()

    def wrong() -> None:
        now, late[:] = list(late), lookups._answered
        lookups._answered[:] = now
        edge()

    lookups.edge = wrong  # type: ignore[method-assign]


def remembers_metadata(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """The second of two pairs that meet is overlooked."""
    metadata = machine.file.metadata
    take = metadata._take_pairs

    def wrong(operand: int) -> None:
        before = list(metadata.partner)
        take(operand)
        metadata.partner = [old if old >= 0 else new for old, new in zip(before, metadata.partner, strict=True)]

    metadata._take_pairs = wrong  # type: ignore[method-assign]


def completes_before_the_bank(machine: Packed, patch: pytest.MonkeyPatch) -> None:
    """The scoreboard is told of a result when it leaves W0."""
    inside = machine.file.stages
    move = inside._move

    def wrong(port: int, deciding: Any, target: Mapped) -> None:
        move(port, deciding, target)
        machine.file.completion.add(machine.cycle, deciding.result)

    inside._move = wrong  # type: ignore[method-assign]
    machine.file.completions.stored = lambda *anything: None  # type: ignore[method-assign]


MISTAKES: list[Mistake] = [
    *(kills_at_once, kills_before_the_fill, believes_diverged_beats, lets_dead_registers_be_written, does_not_drain),
    *(keeps_the_wrong_end, keeps_its_slices, overlooks_its_own_slices, forgets_old_slices, merges_after_moving),
    *(goes_on_in_m1, writes_all_lanes, sees_full_lanes, reserves_for_ever, never_reserves, changes_twice),
    *(has_a_memory_per_warp, sweeps_slowly),
    *(reads_what_is_written, reads_half, sweeps_too_little, joins_what_overlaps, joins_nothing),
    *(asks_a_cycle_late, remembers_metadata, completes_before_the_bank, asks_at_once),
    *(follows_no_change, passes_t_by),
]


def mutated(mistake: Mistake, patch: pytest.MonkeyPatch) -> type[Packed]:
    """A machine that makes a mistake."""

    class Mutant(Packed):
        def __init__(self, cfg: PackedConfig, layout: ProbeLayout) -> None:
            super().__init__(cfg, layout)
            mistake(self, patch)

    return Mutant


CAUGHT = (AssertionError, StaleOperand, Stuck, IndexError, KeyError)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_caught(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(25):
        with monkeypatch.context() as patch:
            try:
                watch_packed(*random_case(seed), mutated(mistake, patch), 5_000)
            except CAUGHT as error:
                print(f"seed {seed}: {error!r}")
                return
    pytest.fail(f"{mistake.__name__} passed")


#: What operands alone, or slices that two registers have, tell without any second reading.
LOSING: list[Mistake] = [kills_at_once, merges_after_moving, writes_all_lanes, forgets_old_slices, sweeps_too_little]


@pytest.mark.parametrize("mistake", LOSING)
def test_a_lost_value_is_caught_by_the_model_itself(mistake: Mistake, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(25):
        cfg, trace = random_case(seed, scheme="corf_virtual")
        with monkeypatch.context() as patch:
            try:
                machine = run_packed(cfg, trace, mutated(mistake, patch), 5_000).model
                assert isinstance(machine, Packed) and not machine.file.free.used_rows
            except CAUGHT as error:
                print(f"seed {seed}: {error!r}")
                return
    pytest.fail(f"{mistake.__name__} passed")
