"""Files in which a cause is removed compute the same, and differ in that cause."""

from __future__ import annotations

import random

import pytest

from tests.golden.machines import Ltrf
from tests.golden.rf.ltrf.scenario import banks, make, prefetch, run_ltrf, transfers, with_prefetches
from tests.golden.scenario import Run, hand_trace, op
from warpfile.golden.rf.ltrf.file import PrefetchedFile
from warpfile.golden.rf.ltrf.study import FreeFile, PassingFile, SeveralFile, StaggeredFile
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import StaticInstruction

FILES = (PrefetchedFile, StaggeredFile, SeveralFile, PassingFile, FreeFile)
#: Main banks 0, 0 and 1.
CLASHING = [prefetch(0, 4, 5), op((0, 4))]


def machine(file: type[PrefetchedFile]) -> type[Ltrf]:
    """The machine with another file."""
    return type("Studied", (Ltrf,), {"file_kind": file})


def run(file: type[PrefetchedFile], program: list[StaticInstruction], warps: int = 1) -> Run:
    """A program on every one of some warps, all of which have a place."""
    return run_ltrf(make(active_warps=warps), hand_trace(*[program] * warps), machine(file))


@pytest.mark.parametrize(("file", "order"), [(PrefetchedFile, [0, 4, 5]), (PassingFile, [0, 5, 4])])
def test_what_does_not_fit_is_passed(file: type[PrefetchedFile], order: list[int]) -> None:
    found = run(file, CLASHING)
    assert [register for _, _, register in transfers(found, 0, found.cycles)] == order


def test_a_write_back_is_not_passed_by_a_fill() -> None:
    """R4 clashes with R0 and has to wait, and R1 would fit."""
    found = run(PassingFile, [prefetch(0, 4), op((), 0), op((), 4), prefetch(1), op((1,))])
    kinds = [kind for _, kind, _ in transfers(found, 0, found.cycles)]
    assert kinds == ["fill", "fill", "back", "back", "fill"]


def test_places_begin_with_different_banks() -> None:
    plain, staggered = (run(file, CLASHING, 2) for file in (PrefetchedFile, StaggeredFile))
    assert [banks(plain, 0, place)[0] for place in (0, 1)] == [[0, 1, 2, 3]] * 2
    assert [banks(staggered, 0, place)[0] for place in (0, 1)] == [[0, 1, 2, 3], [2, 3, 0, 1]]


@pytest.mark.parametrize(("file", "most"), [*zip(FILES, (1, 1, 2, 1, 2), strict=True)])
def test_every_operand_is_that_of_the_trace(file: type[PrefetchedFile], most: int) -> None:
    """Of two places at most so many start a transfer in a cycle."""
    started = 0
    for seed in range(2):
        print(f"seed {seed}")
        cfg = make(active_warps=2, interval_registers=16, rows=256, moved_back=("all", "dirty")[seed % 2])
        trace = stress_trace(seed, warps_per_cta=[3, 1], ctas=4, length=60, registers=24)
        found = run_ltrf(cfg, with_prefetches(trace, 16, random.Random(seed)), machine(file), 1_000_000)
        assert found.model.operands_checked > 0 and found.model.counters["error_cycles"] == 0
        started = max(started, *(fields["transfer"].bit_count() for fields in found.fields))
    assert started == most
