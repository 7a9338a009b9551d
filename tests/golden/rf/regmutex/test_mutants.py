"""Pools with one mistake each, which the watcher or the operands must catch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golden.invariants import Broken
from tests.golden.machines import RegMutex
from tests.golden.rf.regmutex.test_random import random_case, watch_shared
from warpfile.golden import StaleOperand
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.run import Stuck
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.regmutex import RegMutexConfig

pytestmark = pytest.mark.plain


class Mutant(RegMutex):
    """A machine whose file and sections are changed by ``mutate``."""

    def __init__(self, cfg: RegMutexConfig, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout)
        self.mutate(cfg, self.file, self.file.sections)

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        """Make the mistake."""


class SharesSections(Mutant):
    """Every warp gets the first section."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        take = sections._take

        def wrong(warp: int) -> None:
            take(warp)
            sections.of[warp] = 0

        sections._take = wrong


class TakesTheLast(Mutant):
    """Of the free sections the highest is taken."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        take = sections._take

        def wrong(warp: int) -> None:
            before = sections.taken
            take(warp)
            if not cfg.paired:
                sections.of[warp] = (~before & (1 << cfg.warps) - 1).bit_length() - 1
                sections.taken = before | 1 << sections.of[warp]

        sections._take = wrong


class KeepsAtExit(Mutant):
    """An EXIT gives nothing back."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        sections.exited = lambda warp: None


class ForgetsTheMask(Mutant):
    """A section that is given back stays taken."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        give = sections._give

        def wrong(warp: int) -> None:
            before = sections.taken
            give(warp)
            sections.taken = before

        sections._give = wrong


class HasEndlessSections(Mutant):
    """Sections that do not exist are free."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        sections.kernel = lambda number: setattr(sections, "_sections", 0)


class OverlapsBaseSets(Mutant):
    """Sections begin a place early."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        kernel = file.sets.kernel
        file.sets.kernel = lambda base, extended, pool: kernel(base, extended, max(0, pool - 1))


class OverlapsSections(Mutant):
    """Sections are a place too small."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        kernel = file.sets.kernel
        file.sets.kernel = lambda base, extended, pool: kernel(base, max(1, extended - 1), pool)


class SleepsThrough(Mutant):
    """A waiting warp goes on only in the cycle after a section was given back."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        gate, before = file.gate, [0]

        def wrong(heads: Heads) -> None:
            gate(heads)
            if sections.held.bit_count() >= before[0]:
                file.hold |= sections.waiting
            before[0] = sections.held.bit_count()

        file.gate = wrong


class RefusesTooMuch(Mutant):
    """An ACQ is refused while any section is taken."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        gate = file.gate

        def wrong(heads: Heads) -> None:
            gate(heads)
            if sections.held:
                file.refuses |= file.heads.acquiring & ~sections.held & ~sections.waiting

        file.gate = wrong


class DoesNotWait(Mutant):
    """A refused ACQ is chosen again and again."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        sections.refused = lambda warp: None


class ReleasesAtOnce(Mutant):
    """A REL waits for nothing that is pending."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        file._drains = lambda heads: 0


class ReleasesLate(Mutant):
    """A REL waits for all that is pending."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        drains, sets = file._drains, file.sets

        def wrong(heads: Heads) -> int:
            split, sets.split = sets.split, 0
            try:
                return int(drains(heads))
            finally:
                sets.split = split

        file._drains = wrong


class IsUnfair(Mutant):
    """Who waits longest has no privilege."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        sections._fair = False


class ServesTheLatest(Mutant):
    """The last of the waiters comes first."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        class Stack(list[int]):
            def append(self, warp: int) -> None:
                self.insert(0, warp)

            def popleft(self) -> int:
                return self.pop(0)

        sections.waiters = Stack()


class IgnoresThePartner(Mutant):
    """Both of a pair may have their section."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        closed = sections._closed
        sections._closed = lambda: 0 if cfg.paired else closed()
        sections.closed = sections._closed()


class SharesBetweenPairs(Mutant):
    """The section of a pair begins at its second base set."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        sets = file.sets
        launched = sets.launched

        def wrong(warp: int, base: int) -> None:
            launched(warp, base)
            if cfg.paired:
                sets._second[warp] = base

        sets.launched = wrong


class AcquiresTwice(Mutant):
    """An ACQ of a warp that has a section takes another one."""

    def mutate(self, cfg: RegMutexConfig, file: Any, sections: Any) -> None:
        sections.owners = lambda otherwise: otherwise
        sections.released = lambda warp: sections.held >> warp & 1 and not setattr(sections, "_releases", warp)


MUTANTS = (
    *(SharesSections, TakesTheLast, KeepsAtExit, ForgetsTheMask, HasEndlessSections, OverlapsBaseSets),
    *(OverlapsSections, SleepsThrough, RefusesTooMuch, DoesNotWait, ReleasesAtOnce, ReleasesLate, IsUnfair),
    *(ServesTheLatest, IgnoresThePartner, SharesBetweenPairs, AcquiresTwice),
)


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught(mutant: type[Mutant]) -> None:
    for seed in range(60):
        try:
            watch_shared(*random_case(seed), mutant)
        except (Broken, StaleOperand, Stuck, AssertionError) as error:
            print(f"seed {seed}: {error!r}")
            return
    pytest.fail(f"{mutant.__name__} passed")
