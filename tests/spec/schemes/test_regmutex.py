"""Sizes, places and descriptor of the pool."""

from __future__ import annotations

import dataclasses

import pytest

from tests.sm import whole
from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import prepare


def configuration(scheme: str = "regmutex", preset: str = "fermi_linear", **changes: object) -> Config:
    return SCHEMES[scheme].configuration(preset, **whole(preset), **changes)


def sizes(base: int, extended: int, pool: int = 0, sections: int = 0) -> dict[str, int]:
    return {"base_registers": base, "extended_registers": extended, "pool": pool, "sections": sections}


@pytest.mark.parametrize(
    ("base", "extended", "warps", "sections"), [(22, 2, 46, 6), (20, 4, 48, 16), (18, 6, 48, 26), (16, 8, 48, 32)]
)
def test_the_sheet_s_kernel_of_24_registers_fits(base: int, extended: int, warps: int, sections: int) -> None:
    """Occupancy and sections of every size of the extended set, in 1024 places (reference design)."""
    cfg, pool = configuration(), warps * base
    assert cfg.resident_warps(24, sizes(base, extended, pool, sections)) == warps
    assert cfg.places_per_warp(24, sizes(base, extended, pool, sections)) == base
    assert cfg.base_place(3, 24, sizes(base, extended, pool, sections)) == 3 * base
    if sections < 48:
        with pytest.raises(ValueError, match="the pool must have 1 to 48 sections"):
            cfg.resident_warps(24, sizes(base, extended, pool, sections + 1))


def test_a_pair_has_two_base_sets_and_its_section_behind_them() -> None:
    cfg = configuration("regmutex_paired")
    given = sizes(18, 6)
    assert cfg.resident_warps(24, given) == 48  # 24 pairs of 42 places
    assert [cfg.base_place(slot, 24, given) for slot in range(5)] == [0, 18, 42, 60, 84]
    assert configuration("regmutex_paired", rows=32).resident_warps(24, given) == 24


@pytest.mark.parametrize("scheme", ["regmutex", "regmutex_paired"])
def test_without_an_extended_set_as_many_warps_fit_as_in_the_baseline(scheme: str) -> None:
    cfg = configuration(scheme)
    for registers in (16, 24, 40, 63):
        assert cfg.resident_warps(registers, sizes(registers, 0)) == cfg.common().resident_warps(registers)
        assert cfg.base_place(7, registers, sizes(registers, 0)) == 7 * registers


@pytest.mark.parametrize(("names", "unit"), [(8, 16), (16, 12), (16, 1)])
def test_the_largest_kernel_has_a_descriptor_where_registers_are_allocated_in_units(names: int, unit: int) -> None:
    cfg = configuration("regmutex", "tiny", register_names=names, register_unit=unit)
    trace = stress_trace(1, warps_per_cta=[1], ctas=1, registers=names)
    annotated = SCHEMES["regmutex"].annotated(cfg, trace, None)
    assert annotated.descriptor["base_registers"] >= names
    prepare(cfg, annotated)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"bank_skew": "warp"}, "bank_skew must be none, not warp"),
        ({"sharing": "pairs", "fair": 1}, "fair must be 0, not 1, if sharing is pairs"),
        ({"pair_state": "pair"}, "pair_state must be warp, not pair, if sharing is pool"),
    ],
)
def test_what_cannot_be_built_is_refused(changes: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        configuration(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (sizes(8, 2), "base and extended registers must be at least 12 together, not 8, 2"),
        (sizes(8, 4, 40, 0), "the pool must have 1 to 5 sections of 4 registers"),
        (sizes(8, 4, 41, 1), "the pool must have 1 to 5 sections of 4 registers"),
        (sizes(8, 4, 256, 1), "the pool must have 1 to 5 sections of 4 registers"),
    ],
)
def test_a_descriptor_that_cannot_be_is_refused(given: dict[str, int], why: str) -> None:
    trace = dataclasses.replace(stress_trace(1, registers=12), descriptor=given)
    with pytest.raises(ValueError, match=why):
        prepare(configuration(preset="tiny"), trace)
