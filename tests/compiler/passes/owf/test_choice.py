"""Private registers and pairs of CTAs against the worked example of docs/schemes/owf.md, section 10."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from warpfile.compiler.passes.owf.choice import Limits, Sets, choose, drawn, private_registers

EXAMPLE = Limits(places=1024, warps=48, registers=24, most=12, sizes=(4,) * 12)


def test_the_worked_example_has_these_ctas() -> None:
    assert private_registers(24, 10) == 3
    assert [EXAMPLE.resident(3, groups) for groups in range(4)] == [10, 11, 12, 12]
    assert choose(EXAMPLE, 10) == Sets(3, 21, 4, 2)
    assert choose(EXAMPLE, 10).descriptor == {
        "private_registers": 3, "shared_registers": 21, "cta_warps": 4, "paired_warps": 16,
    }  # fmt: skip


@pytest.mark.parametrize(("percent", "private"), [(1, 1), (10, 3), (12, 3), (13, 4), (50, 12), (99, 24), (100, 24)])
def test_private_registers_are_rounded_up(percent: int, private: int) -> None:
    assert private_registers(24, percent) == private


@pytest.mark.parametrize(
    "limits",
    [
        replace(EXAMPLE, registers=21),  # twelve CTAs of 84 places are 1008
        replace(EXAMPLE, sizes=(4,) * 10),
        replace(EXAMPLE, most=10),
        replace(EXAMPLE, warps=40),
        replace(EXAMPLE, sizes=(50,) * 12),
    ],
)
def test_where_registers_do_not_limit_the_launch_nothing_is_shared(limits: Limits) -> None:
    assert choose(limits, 10) == Sets(limits.registers)


def test_small_ctas_between_large_ones_need_fewer_places_without_sharing_than_with_home_slots() -> None:
    """Six warps of 40 registers fit 256 places: four CTAs of 2, 1, 2, 1 warps, but only three of two."""
    limits = Limits(places=256, warps=24, registers=40, most=8, sizes=(2, 1, 2, 1))
    assert limits.alone == 4 and choose(limits, 10) == Sets(40)
    assert replace(limits, sizes=(2, 2, 2, 2)).alone == 3
    assert replace(limits, places=128).alone == 2, "three warps fit: each two that follow each other"
    assert replace(limits, places=128, sizes=(2, 2, 1, 1)).alone == 1
    assert choose(replace(limits, sizes=(2, 2, 2, 2)), 10) == Sets(4, 36, 2, 1)


def test_where_all_registers_are_private_nothing_is_shared() -> None:
    assert choose(EXAMPLE, 100) == Sets(24)


def test_pairs_need_places_and_slots() -> None:
    """Two CTAs of 4 x 27 places do not fit 100; of 24 slots three pairs of four warps are the most."""
    assert replace(EXAMPLE, places=100).resident(3, 1) == -1
    assert [*replace(EXAMPLE, warps=24).possible(3)] == [0, 1, 2, 3]


def test_drawn_numbers_fit_and_are_sometimes_without_pairs() -> None:
    found = [drawn(EXAMPLE, random.Random(seed)) for seed in range(60)]
    assert all(one.private + one.shared == 24 and one.private for one in found)
    assert all(EXAMPLE.resident(one.private, one.groups) >= 0 for one in found)
    assert {0, 1, 2} <= {one.groups for one in found}
