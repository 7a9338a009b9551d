"""An SM with two schedulers and its two domains: what is compared, and what is made of the cycles."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpfile.pages import schedulers
from warpfile.pages.evidence.study import Outcome, Point, Run
from warpfile.pages.schedulers import (
    BASELINES,
    FERMI,
    LINEAR,
    SCHEMES,
    Measured,
    domains,
    growth,
    page,
    scheduled,
    single,
)

PAGE = Path(__file__).resolve().parents[3] / "docs" / "assumptions.md"
KERNELS = ("one", "two")


@pytest.mark.parametrize(
    ("point", "banks", "units"), [(FERMI, 4, 4), (LINEAR, 16, 16)], ids=["CORF, section 2.2", "RegMutex, section 4.4"]
)
def test_the_whole_sm_is_that_of_the_dissertation(point: Point, banks: int, units: int) -> None:
    for (whole,) in (single(point), scheduled(point)):
        cfg = Run(whole, "").config
        assert (cfg.domains, cfg.warps, cfg.banks, cfg.collectors, cfg.cache_lines) == (1, 48, banks, units, 128)
        # 16 load-store units, 8 SFU operations and 32 bytes of memory per cycle.
        assert (cfg.lsu_interval, cfg.sfu_interval, cfg.sector_interval) == (2, 4, 4)
        # GPGPU-Sim SM2_GTX480, S:64:8.
        assert (cfg.mshrs, cfg.mshr_merges) == (64, 8)
    # A double in 8 cycles: from one port, or from one of two in turn.
    intervals = [Run(one, "").config.double_interval for form in (single, scheduled) for one in form(point)]
    assert intervals == [8, 16]
    assert scheduled(point)[0].issues == "two schedulers" and not single(point)[0].issues


def test_domains_are_those_of_the_preset() -> None:
    assert [Run(point, "").config.domain for point in domains(FERMI)] == [0, 1]
    assert {Run(point, "").config.replace(domain=0) for point in domains(FERMI)} == {Run(FERMI, "").config}


def measured(cycles: dict[Point, tuple[int, int]]) -> Measured:
    """Outcomes of two kernels; 0 cycles: refused."""
    outcomes = {
        Run(point, kernel): Outcome(count, 1, {}, refused="" if count else "no room")
        for point, counts in cycles.items()
        for kernel, count in zip(KERNELS, counts, strict=True)
    }
    return Measured(outcomes, KERNELS)


def test_an_sm_of_domains_takes_as_long_as_the_longest() -> None:
    first, second = domains(FERMI)
    found = measured({first: (100, 100), second: (130, 0), LINEAR: (100, 80)})
    assert [found.cycles((first, second), kernel) for kernel in KERNELS] == [130, 100]
    assert found.ratios((first, second), (LINEAR,)) == {"one": 1.3, "two": 1.25}


def test_a_kernel_without_room_on_a_side_is_left_out() -> None:
    found = measured({FERMI: (100, 0), LINEAR: (50, 50)})
    assert found.ratios((FERMI,), (LINEAR,)) == {"one": 2.0}
    assert found.ratios((LINEAR,), (FERMI,)) == {"one": 0.5}


def test_growth_is_the_geometric_mean_and_says_what_holds_zero() -> None:
    assert growth({"one": 1.0, "two": 1.21}).startswith("undecided: +10.0% [")
    assert growth({"one": 1.1, "two": 1.1}) == "+10.0% [+10.0,+10.0]"


def test_rows_hold_every_machine_in_every_form() -> None:
    """Two schedulers take 100 cycles, domains 100 and 110, one scheduler 150; of schemes 10 % more each."""
    cycles: dict[Point, tuple[int, int]] = {}
    for point in (*BASELINES.values(), *(point for point, _ in SCHEMES.values())):
        more = 1.0 if point.scheme == "baseline" else 1.1
        for form, counts in ((scheduled, (100,)), (domains, (100, 110)), (single, (150,))):
            for one, count in zip(form(point), counts, strict=True):
                cycles[one] = (round(count * more), round(count * more))
    assert set(cycles) == set(schedulers.points())
    baselines, schemes = page(measured(cycles))
    rows = [line.split(" | ") for line in (*baselines.splitlines()[2:], *schemes.splitlines()[2:])]
    assert [row[0].removeprefix("| ") for row in rows] == [*BASELINES, *SCHEMES]
    assert rows[0][1:3] == ["+10.0% [+10.0,+10.0]", "one +10.0%, one +10.0%"]
    assert rows[0][3].startswith("+50.0%")
    (corf,) = (row for row in rows if row[0] == "| `corf`")
    assert [cell.split()[0] for cell in corf[1:4]] == ["+10.0%", "+10.0%", "identical"]


def test_the_page_has_every_machine() -> None:
    section = PAGE.read_text().split("\n## Two schedulers\n")[1].split("\n## ")[0]
    assert all(f"\n| {name} | " in section for name in (*BASELINES, *SCHEMES))
