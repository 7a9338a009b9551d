"""Places and hot lists of the partitioned file."""

from __future__ import annotations

import pytest

from warpfile.schemes import SCHEMES, find
from warpfile.spec.config import Config
from warpfile.spec.stress import stress_trace
from warpfile.spec.workload import prepare


def configuration(preset: str = "tiny", **changes: object) -> Config:
    return SCHEMES["pilot"].configuration(preset, **changes)


@pytest.mark.parametrize(
    ("registers", "split", "plain"),
    [(4, 64, 64), (32, 64, 64), (40, 49, 51), (48, 40, 42), (64, 29, 32), (128, 14, 16), (255, 7, 8)],
)
def test_slow_places_limit_the_warps_of_wide_kernels(registers: int, split: int, plain: int) -> None:
    """The reference design's SM of 64 warps and 2,048 warp registers in 16 banks, of which 16 rows each are fast."""
    cfg = configuration("maxwell")
    assert (cfg.warps, cfg.banks * cfg.rows, cfg.fast_rows) == (64, 2048, 16)
    assert cfg.resident_warps(registers) == split
    assert cfg.common().resident_warps(registers) == plain


def test_the_domain_of_the_paper_has_four_fast_and_28_slow_places_per_warp() -> None:
    cfg = configuration("kepler")
    assert (cfg.fast_rows, cfg.fast_rows * cfg.banks, (cfg.rows - cfg.fast_rows) * cfg.banks) == (16, 64, 448)
    assert cfg.places_per_warp(32) == 28
    assert dict(cfg.descriptor) == dict.fromkeys(("hot0", "hot1", "hot2", "hot3"), 6)


@pytest.mark.parametrize(
    ("profile", "count"), [("none", 0), ("pilot", 0), ("compiler", 2), ("oracle", 2), ("hybrid", 2)]
)
def test_only_some_profiles_have_a_list(profile: str, count: int) -> None:
    cfg = configuration(profile=profile)
    assert len(cfg.descriptor) == count
    assert len(SCHEMES["pilot"].annotated(cfg, stress_trace(1)).descriptor) == count


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"bank_skew": "warp"}, "bank_skew must be none, not warp"),
        ({"rows": 4, "fast_registers": 4}, "fast_registers must leave slow rows: 4 of 5 warps take 10 rows"),
        ({"remap": "migrate", "profile": "compiler"}, "remap must be versioned, not migrate: with profile compiler"),
        ({"remap": "instant", "collect": "lowest"}, "collect must be one or all, not lowest"),
        ({"profile": "static"}, "profile must be one of none, compiler, oracle, pilot, hybrid, not static"),
    ],
)
def test_what_cannot_be_built_is_refused(changes: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        configuration(**changes)


def test_the_threshold_of_an_epoch_is_the_paper_s_divided_among_its_schedulers() -> None:
    """Section V-B: 85 beats of an SM in 50 cycles; section I: four schedulers."""
    cfg = configuration("kepler")
    assert (cfg.domains, cfg.epoch, cfg.epoch_threshold) == (4, 50, 85 // 4)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("changes", "checks_map"),
    [({}, True), ({"pilot_map": "always"}, False), ({"profile": "pilot"}, False), ({"profile": "compiler"}, False)],
)
def test_a_list_may_be_kept_where_there_are_a_list_and_a_pilot(changes: dict[str, object], checks_map: bool) -> None:
    cfg = configuration(**changes)
    assert cfg.checks_map == checks_map  # type: ignore[attr-defined]
    assert ("list_kept" in {probe.name for probe in SCHEMES["pilot"].probes(cfg)}) == checks_map


@pytest.mark.parametrize("name", ["bow+pilot", "bow_wr+pilot"])
def test_registers_do_not_move_under_operand_windows(name: str) -> None:
    with pytest.raises(ValueError, match="remap must be versioned, not migrate: the collectors keep results, or take"):
        find(name).configuration("tiny", remap="migrate")


@pytest.mark.parametrize("name", ["bow+pilot", "malekeh+pilot"])
def test_collectors_that_cannot_wait_refuse_a_file_that_renames_late(name: str) -> None:
    with pytest.raises(ValueError, match="pilot wants collectors that look sources up after their beat was taken"):
        find(name).configuration("tiny", rename_latency=1)


def test_what_moves_in_an_instant_is_no_hardware() -> None:
    cfg = configuration(remap="instant", collect="all")
    with pytest.raises(ValueError, match="remap must be versioned or migrate for RTL, not instant"):
        SCHEMES["pilot"].rtl(cfg)


@pytest.mark.parametrize("hot", [(3, 3), (12, 0), (1, 62)])
def test_a_list_with_a_register_that_the_kernel_does_not_have_is_refused(hot: tuple[int, int]) -> None:
    cfg, trace = configuration(), SCHEMES["pilot"].annotated(configuration(), stress_trace(1, registers=12))
    assert trace.registers == 12
    trace.descriptor.update(hot0=hot[0], hot1=hot[1])
    with pytest.raises(ValueError, match="hot registers must be distinct and below 12, the kernel's registers, not R"):
        prepare(cfg, trace)


def test_places_of_a_list_that_are_not_used_are_no_registers() -> None:
    cfg, trace = configuration(), SCHEMES["pilot"].annotated(configuration(), stress_trace(1, registers=12))
    trace.descriptor.update(hot0=63, hot1=63)
    assert prepare(cfg, trace).kernel.descriptor == {"hot0": 63, "hot1": 63}
