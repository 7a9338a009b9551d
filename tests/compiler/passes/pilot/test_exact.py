"""Accesses of executed warps against streams counted by hand and a walk along every stream."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.compiler.passes.malekeh.test_exact import ALL, op, trace_of, write
from warpfile.compiler.passes.pilot.exact import accesses
from warpfile.spec.stress import PROFILES, stress_trace


def test_a_wide_instruction_accesses_every_register() -> None:
    wide = op(4, 6, 8, 9, dest=4, count=2)
    assert accesses(trace_of([wide], [(0, ALL, ALL)])) == {4: 2, 5: 1, 6: 1, 8: 1, 9: 1}


def test_a_register_named_twice_is_read_once() -> None:
    assert accesses(trace_of([write(3, 2, 2)], [(0, 1, ALL)])) == {2: 1, 3: 1}


def test_without_lanes_nothing_is_accessed() -> None:
    program = [write(3, 2), write(4, 3)]
    assert accesses(trace_of(program, [(0, 0, ALL), (1, ALL, ALL), (1, ALL, ALL)])) == {3: 2, 4: 2}


def test_accesses_of_some_records() -> None:
    trace = trace_of([write(3, 2), write(4, 3)], [(0, ALL, ALL)], [(1, ALL, ALL)])
    assert accesses(trace, slice(1, 2)) == {3: 1, 4: 1}


@pytest.mark.parametrize("profile", PROFILES)
def test_accesses_are_what_a_walk_finds(profile: str) -> None:
    trace = stress_trace(5, profile=profile)
    wanted: Counter[int] = Counter()
    for index, execute in zip(trace.instruction.tolist(), trace.execute.tolist(), strict=True):
        if execute:
            static = trace.program[index]
            wanted.update(set(static.sources))
            wanted.update(range(static.dest, static.dest + static.dest_count))
    assert accesses(trace) == wanted
