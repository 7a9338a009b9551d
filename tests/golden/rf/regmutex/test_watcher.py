"""The watcher of the pool objects to every kind of wrong probe; the runs themselves are sound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.golden.invariants import Broken
from tests.golden.machines import RegMutex
from tests.golden.rf.regmutex.invariants import SectionWatcher
from tests.golden.rf.regmutex.scenario import ACQ, REL, load, make, paired, shared
from tests.golden.scenario import NOP, Step, op
from warpfile.schemes import find
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.regmutex import RegMutexConfig
from warpfile.spec.workload import prepare

Fields = dict[str, int]
BUSY: list[Step] = [NOP, ACQ, load(4), op((4,), 5), *[NOP] * 6, ACQ, REL]

POOL, PAIRS = make(), paired()


def check(cfg: RegMutexConfig, when: Callable[[Fields], Any], spoil: Callable[[Fields, SectionWatcher], Any]) -> None:
    """Watch three warps with two sections, whose probes are spoiled in the first cycle that is of a kind."""
    layout = ProbeLayout(find("regmutex").probes(cfg))
    workload = prepare(cfg, shared(cfg, *[BUSY] * 3, sections=2))
    environment, model, watcher = (
        Environment(cfg, workload, layout),
        RegMutex(cfg, layout),
        SectionWatcher(cfg, workload),
    )
    spoiled = False
    while not environment.done:
        stimulus = environment.stimulus()
        word = model.step(stimulus)
        fields = layout.unpack(word)
        if not spoiled and when(fields):
            spoiled = True
            spoil(fields, watcher)
        watcher.check(stimulus, fields)
        environment.observe(word)
    watcher.check_end(model.counters)
    assert spoiled


def change(**values: int) -> Callable[[Fields, SectionWatcher], None]:
    """Other values of some probes."""
    return lambda fields, watcher: fields.update(values)


def two(fields: Fields) -> bool:
    """Warps 0 and 1 have a section, and warp 2 has not."""
    return fields["acquired"] == 0b011


@pytest.mark.parametrize("cfg", [POOL, PAIRS])
def test_a_sound_run_is_not_objected_to(cfg: RegMutexConfig) -> None:
    check(cfg, lambda fields: True, change())


FAULTS: list[tuple[RegMutexConfig, Callable[[Fields], Any], Callable[[Fields, SectionWatcher], Any], str]] = [
    (POOL, two, change(stray=1), "no access to the extended set"),
    (POOL, two, change(sections_held=0b0101), "a section has one owner"),
    (POOL, two, change(pool_taken=0b1110), "taken are those of owners"),
    (POOL, lambda f: f["acquired"] == 1, change(pool_taken=0b0111), "others than these do not exist"),
    (POOL, two, change(sections_held=0b0001), "the lowest free section is taken, and kept"),
    (POOL, two, change(acquired=0b101, sections_held=0b010000), "from its ACQ to its REL"),
    (POOL, lambda f: f["section_waiting"], change(section_waiting=0), "a refused warp waits"),
    (POOL, lambda f: f["acquire_refused"], change(issue=1), "takes the issue slot"),
    (POOL, lambda f: two(f) and not f["issue"], change(acquire_refused=0b001), "if there is no section for it"),
    (POOL, lambda f: f["section_waiting"] and not f["issue"], change(acquire_refused=0b100), "is not refused again"),
    (POOL, two, change(section_draining=0b100), "a REL is held only"),
    (POOL, lambda f: f["extended_source"], change(extended_source=0), "sources behind the base set"),
    (POOL, lambda f: f["acquire_again"], change(acquire_again=0, acquire_ok=1), "ACQ and REL do what they can"),
    (POOL, lambda f: f["release_ok"], change(release_ok=0, release_again=1), "ACQ and REL do what they can"),
    (PAIRS, lambda f: f["acquired"], change(acquired=0b0011), "of two partners one has the section"),
    (PAIRS, lambda f: f["acquired"], change(pool_taken=1), "there is no pool in paired mode"),
    (POOL, two, lambda _, watcher: watcher.base.update({1: 1}), "a place of its own"),
    (POOL, two, lambda _, watcher: watcher.base.update({1: 300}), "places are there"),
    (POOL, two, lambda _, watcher: watcher.base.update({1: 100}), "base sets end before the pool"),
    (
        POOL,
        two,
        lambda _, watcher: watcher.before.update(acquire_again=1, pool_taken=0),
        "a repeated ACQ or REL changes nothing",
    ),
]


@pytest.mark.parametrize(("cfg", "when", "spoil", "why"), FAULTS, ids=[fault[-1] for fault in FAULTS])
def test_a_fault_is_objected_to(
    cfg: RegMutexConfig,
    when: Callable[[Fields], Any],
    spoil: Callable[[Fields, SectionWatcher], Any],
    why: str,
) -> None:
    with pytest.raises(Broken, match=why):
        check(cfg, when, spoil)


def test_a_section_that_is_never_given_back_is_objected_to() -> None:
    watcher = SectionWatcher(POOL, prepare(POOL, shared(POOL, [NOP])), owner={2: 0})
    with pytest.raises(Broken, match="all sections are back"):
        watcher.check_end({})
