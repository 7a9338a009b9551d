"""The choice of the extended set against worked examples and the published table."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from tests.compiler.passes.regmutex.harness import config
from warpfile.compiler.passes.regmutex.choice import Limits, candidates, choose, overridden, registers_limit

FERMI = Limits(48, 1024, unit=4)
HALF = Limits(48, 512, unit=4)
#: Registers of the kernels and the base set that was published (dissertation, Table 4.1), at full and at half size.
FULL_TABLE = {
    "BFS": (21, 18), "CUTCP": (25, 20), "DWT2D": (44, 38), "HotSpot3D": (32, 24), "MRI-Q": (21, 18),
    "ParticleFilter": (32, 20), "RadixSort": (33, 30), "SAD": (30, 20),
}  # fmt: skip
HALF_TABLE = {
    "Gaussian": (12, 8), "HeatWall": (28, 20), "LavaMD": (37, 28), "MergeSort": (15, 12), "MonteCarlo": (13, 12),
    "SPMV": (16, 12), "SRAD": (18, 12), "TPACF": (28, 20),
}  # fmt: skip
#: Published for other sizes than any of these rules chooses.
UNREACHED = {"DWT2D", "ParticleFilter", "RadixSort", "SAD", "SRAD", "LavaMD"}
#: With registers as the only limit the published size leaves 1 section for 25 warps or 2 for 42.
FEW = {"HotSpot3D", "HeatWall", "MergeSort", "MonteCarlo", "SPMV", "TPACF"}


def chosen(registers: int, limits: Limits, least: int = 0, **changes: Any) -> int:
    return choose(registers, limits, config(**changes), lambda base: base >= least)


def test_the_worked_example_has_these_warps_and_sections() -> None:
    assert candidates(24) == [2, 4, 6, 8]
    assert [FERMI.occupancy(24 - size) for size in candidates(24)] == [46, 48, 48, 48]
    assert [FERMI.sections(24 - size, size) for size in candidates(24)] == [6, 16, 26, 32]


def test_the_worked_example_chooses_the_smallest_set_with_sections_for_half_of_the_warps() -> None:
    assert chosen(24, FERMI) == 6
    assert chosen(21, FERMI) == 6
    assert chosen(24, FERMI, es_rule="max_pass") == 8
    assert chosen(24, FERMI, es_rule="off") == 0


@pytest.mark.parametrize(
    ("rule", "cta_warps", "missed"),
    [
        ("min_pass", 4, UNREACHED),
        ("min_pass", 8, UNREACHED),
        ("max_pass", 4, UNREACHED - {"DWT2D"} | {"BFS", "MRI-Q"}),
        ("max_pass", 8, UNREACHED | {"BFS", "MRI-Q"}),
        ("min_pass", 1, UNREACHED - {"DWT2D"} | FEW),
        ("max_pass", 1, UNREACHED - {"DWT2D"} | FEW | {"BFS", "MRI-Q"}),
    ],
)
def test_the_rules_reproduce_this_much_of_the_published_table(rule: str, cta_warps: int, missed: set[str]) -> None:
    found = {
        name: 4 * -(-registers // 4) - chosen(registers, Limits(48, places, cta_warps, unit=4), es_rule=rule) == base
        for table, places in ((FULL_TABLE, 1024), (HALF_TABLE, 512))
        for name, (registers, base) in table.items()
    }
    assert {name for name, same in found.items() if not same} == missed


@pytest.mark.parametrize("cta_warps", [4, 8])
def test_a_sixth_is_the_least_share_of_a_published_size_that_is_reproduced(cta_warps: int) -> None:
    shares = []
    for table, places in ((FULL_TABLE, 1024), (HALF_TABLE, 512)):
        limits = Limits(48, places, cta_warps, unit=4)
        for registers, base in (sizes for name, sizes in table.items() if name not in UNREACHED):
            sections = limits.sections(base, limits.rounded(registers) - base)
            shares.append(Fraction(sections, limits.occupancy(base)))
    assert min(shares) == Fraction(1, 6)


def test_no_size_leaves_sections_for_fewer_than_a_sixth_of_the_warps() -> None:
    tensor = Limits(48, 1024, 4, 8, unit=4)
    assert [(tensor.occupancy(56 - size), tensor.sections(56 - size, size)) for size in (8, 14, 16)] == [
        (20, 8), (24, 1), (24, 4),
    ]  # fmt: skip
    assert chosen(55, tensor) == 16
    assert chosen(55, tensor, least=41) == 8
    assert chosen(55, tensor, least=49) == 0
    for registers in range(4, 65):
        for limits in (FERMI, HALF, tensor, replace(tensor, places=512), replace(FERMI, cta_warps=6)):
            total = limits.rounded(registers)
            size = chosen(registers, limits)
            assert not size or 6 * limits.sections(total - size, size) >= limits.occupancy(total - size)


def test_a_launch_whose_warps_all_fit_has_no_set() -> None:
    """24 registers: 40 warps in CTAs of eight fit, five of them."""
    kernel = Limits(48, 1024, 8, unit=4)
    for paired in (False, True):
        assert chosen(24, replace(kernel, launch=6, paired=paired)) == 6
        assert chosen(24, replace(kernel, launch=5, paired=paired)) == 0


def test_fractions_are_exact() -> None:
    assert 6 in candidates(40)  # 0.15 * 40 is 6.000...1 or 5.999...9 in binary
    assert candidates(20) == [2, 4, 6]


def test_where_registers_do_not_limit_there_is_no_set() -> None:
    assert not registers_limit(20, FERMI)
    assert chosen(20, FERMI) == 0
    assert registers_limit(24, FERMI)
    assert not registers_limit(24, Limits(48, 1024, 8, 5))


def test_whole_ctas_count() -> None:
    assert Limits(48, 1024, 16).occupancy(24) == 32
    assert Limits(48, 1024, 16, 1).occupancy(24) == 16
    assert Limits(48, 1024, 16, 0).occupancy(24) == 0


def test_a_set_that_the_code_cannot_do_with_is_dropped() -> None:
    assert chosen(24, FERMI, least=19) == 4
    assert chosen(24, FERMI, least=21) == 0  # 2 of them leave sections for 6 of 46 warps


def test_without_sections_for_half_of_the_warps_the_most_sections_win() -> None:
    limits = Limits(48, 1000, unit=4)  # 4: 40 left, 10 sections; 6: 136, 22 sections; 8: 232, 29 sections of 48 warps
    assert chosen(24, limits) == 8
    assert chosen(24, limits, least=18) == 6
    assert chosen(24, limits, least=20) == 4


def test_auto_off_wants_more_warps() -> None:
    few = Limits(8, 96)  # 16 registers: 6 warps; with 14 the same, with 12 8 warps without a section
    assert chosen(16, few) == 2
    assert chosen(16, few, auto_off=1) == 0
    assert chosen(24, FERMI, auto_off=1) == 6


def test_a_file_that_base_sets_fill_leaves_no_section() -> None:
    assert Limits(8, 96).sections(12, 4) == 0
    with pytest.raises(ValueError, match="es_override must leave a section in 96 places behind the base sets of 8"):
        overridden(16, Limits(8, 96), 4)


def test_an_override_takes_some_registers_only() -> None:
    assert overridden(24, FERMI, 6) == 18
    with pytest.raises(ValueError, match="es_override must be below the 24 registers of the kernel, not 24"):
        overridden(22, FERMI, 24)


def test_pairs_have_one_section_each() -> None:
    pairs = Limits(48, 1024, paired=True)
    assert [pairs.occupancy(24 - size, size) for size in candidates(24)] == [44, 46, 48, 48]
    assert pairs.sections(18, 6) == 24
    assert chosen(24, pairs) == 6
    assert chosen(24, pairs, es_rule="max_pass") == 8
    assert Limits(48, 47, paired=True).sections(20, 8) == 0
