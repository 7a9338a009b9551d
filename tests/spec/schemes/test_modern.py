"""What the configuration of the read window accepts (docs/schemes/modern.md, section 3)."""

from __future__ import annotations

import pytest

from warpfile.schemes.compose import find
from warpfile.spec.schemes.modern import ReadWindowConfig, window_events, window_probes
from warpfile.spec.schemes.ported import PortedConfig


def configured(preset: str = "turing_rfc", **changes: object) -> ReadWindowConfig:
    cfg = find("modern").configuration(preset, **changes)
    assert isinstance(cfg, ReadWindowConfig)
    return cfg


@pytest.mark.parametrize(
    ("preset", "distances"),
    [
        ("turing_rfc", (4, 5)),
        ("ampere", (4, 4)),
        ("ada", (4, 4)),
        ("hopper", (4, 4)),
        ("blackwell", (4, 4)),
        ("turing", (4, 5)),
        ("tiny", (3, 4)),
    ],
)
def test_distances_are_those_of_the_codes(preset: str, distances: tuple[int, int]) -> None:
    cfg = configured(preset)
    assert (cfg.fixed_distance, cfg.variable_distance) == distances


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"alu_latency": 4}, "alu_latency must be at most 3, not 4: control codes assume"),
        ({"variable_delay": 4}, "variable_delay must be at least 5, not 4: control codes assume"),
        ({"read_window": 2, "variable_delay": 4}, "read_window must be at least 3, not 2, with 1 read ports"),
        ({"shared_latency": 3}, "shared_latency must be at least 4, not 3"),
        ({"fma_latency": 2}, "fma_latency must be 3, not 2"),
        ({"banks": 4}, "banks must be 2, not 4"),
        ({"variable_delay": 11}, "variable_delay must be at most 9, not 11"),
        ({"result_queue": 1}, "result_queue must be at least 2, not 1: port ALU"),
    ],
)
def test_what_the_codes_do_not_cover_is_refused(changes: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        configured(**changes)


def test_a_scoreboard_needs_no_promise() -> None:
    assert configured(dependences="scoreboard", alu_latency=5, fma_latency=5).fixed_distance == 6


def test_two_ports_need_a_window_of_two() -> None:
    assert configured(read_ports=2, read_window=2).variable_distance == 4


@pytest.mark.parametrize("other", ["two_level", "units", "banked", "bow"])
def test_what_does_not_fit_is_refused_in_one_line(other: str) -> None:
    with pytest.raises(ValueError) as error:
        find(f"modern+{other}").configuration("turing_rfc")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("scheduler", ["gto", "lrr", "oldest"])
def test_every_scheduler_without_places_fits(scheduler: str) -> None:
    assert find(f"modern+{scheduler}").configuration("tiny").scheduler == scheduler


def test_registers_of_every_warp_start_in_the_first_bank() -> None:
    cfg = configured(register_unit=1)
    assert isinstance(cfg, PortedConfig)
    assert [cfg.base_place(slot, 33) % 2 for slot in range(4)] == [0] * 4
    assert cfg.places_per_warp(33) == 34


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"dependences": "scoreboard"},
        {"reuse_cache": "off"},
        {"read_ports": 3, "read_window": 2},
    ],
)
def test_probes_and_counters_go_together(changes: dict[str, object]) -> None:
    import numpy as np

    cfg = configured(**changes)
    fields = {one.name: np.zeros((2, one.width), dtype=bool) for one in window_probes(cfg)}
    fields["allocating"][1] = True
    fields["need"][:] = [True, False, False, True]  # 1 of bank 0, 2 of bank 1
    assert window_events(fields)["fixed_reads"] == 3


def test_hints_of_the_codes_are_there_with_the_codes_alone() -> None:
    assert configured().result_hint_bits == 5
    assert configured(dependences="scoreboard").result_hint_bits == 0
