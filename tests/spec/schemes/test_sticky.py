"""What the configuration of ``sticky`` asks for, refuses and counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from warpfile.schemes import find
from warpfile.spec.beat import decode_fields
from warpfile.spec.schemes.sticky import StickyConfig, sticky_events, sticky_probes
from warpfile.spec.schemes.units import stage_probes


def make(scheme: str = "sticky", **changes: Any) -> StickyConfig:
    cfg = find(scheme).configuration("tiny", **changes)
    assert isinstance(cfg, StickyConfig)
    return cfg


@pytest.mark.parametrize(
    ("ports", "write_back_ports", "forwarding"),
    [
        (3, 3, (True, False, False)),
        (3, 1, (True, False, False)),
        (4, 3, (True, True, False, False)),
        (4, 4, (True, False, False, False)),
        (6, 3, (True, True, False, False, False, False)),
        (6, 6, (True, False, False, False, False, False)),
    ],
)
def test_ports_of_alu_and_fma_forward_if_their_results_return_on_port_0(
    ports: int, write_back_ports: int, forwarding: tuple[bool, ...]
) -> None:
    assert make(ports=ports, write_back_ports=write_back_ports).forwarding_ports == forwarding


def test_no_more_than_three_slots_are_near() -> None:
    assert [make(source_slots=slots).near_slots for slots in (1, 2, 3, 8)] == [1, 2, 3, 3]


def test_the_frame_is_told_how_many_sources_may_be_coming() -> None:
    assert make().asks.forwards == 2 and make(source_slots=8).asks.forwards == 3
    assert make(forward_results="none").asks.forwards == 0


def test_beats_say_whether_they_have_every_live_lane() -> None:
    assert "full" in dict(decode_fields(make()))


def test_a_field_that_is_none_has_no_probes() -> None:
    names = {probe.name for probe in sticky_probes(make(forward_results="none"))}
    assert "kept" in names and not names & {"coming", "awaiting", "forward", "late"}
    names = {probe.name for probe in sticky_probes(make(keep_operands="none"))}
    assert "coming" in names and not names & {"kept", "hit", "overwritten"}
    off = make(keep_operands="none", forward_results="none")
    assert [probe.name for probe in sticky_probes(off)] == [*(probe.name for probe in stage_probes(off)), "taken"]


@pytest.mark.parametrize(
    ("scheme", "rule"),
    [
        *((f"sticky+{file}", "must be banked or scalar") for file in ("pilot", "regmutex", "owf")),
        *((f"sticky+{file}", "wants places in the cycle") for file in ("rfc", "packed", "ltrf", "ported", "shrf")),
    ],
)
def test_register_files_that_do_more_than_hold_registers_are_refused(scheme: str, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        find(scheme).configuration("tiny")


@pytest.mark.parametrize("scheme", ["sticky+two_level", "sticky+cggty", "sticky+lrr", "sticky+oldest", "sticky+scalar"])
def test_schedulers_that_ask_nothing_of_the_file_and_banks_with_twins_fit(scheme: str) -> None:
    assert make(scheme).forwards


@pytest.mark.parametrize(
    ("changes", "rule"),
    [({"ports": 1}, "ports must be at least 3"), ({"pending_entries": 2}, "pending_entries must be 0")],
)
def test_forwarding_needs_a_port_and_a_pending_bit_per_register(changes: dict[str, Any], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        make(**changes)
    assert make(forward_results="none", **changes)


def test_a_beat_with_two_hits_is_one_of_the_beats_with_hits() -> None:
    fields = {probe.name: np.zeros((2, probe.width), dtype=bool) for probe in sticky_probes(make())}
    fields["hit"][0] = True
    fields["forward"][:, 1] = True
    counted = sticky_events(fields)
    assert (counted["source_hits"], counted["hit_beats"], counted["forwards"], counted["overwrites"]) == (2, 1, 2, 0)
