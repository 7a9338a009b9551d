"""What the configuration of ``scalar`` asks for, refuses and counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.golden.scenario import hand_trace, op
from warpfile.schemes import find
from warpfile.spec.beat import decode_fields, result_fields
from warpfile.spec.schemes.scalar import ScalarConfig, scalar_events, scalar_probes
from warpfile.spec.structure import BANK_RAM, SCALAR_RAM
from warpfile.spec.workload import WorkloadError, prepare


def make(scheme: str = "scalar", **changes: Any) -> ScalarConfig:
    cfg = find(scheme).configuration("tiny", **changes)
    assert isinstance(cfg, ScalarConfig)
    return cfg


def test_a_scalar_bank_stands_beside_every_bank_and_has_a_word_per_row() -> None:
    rams = make(banks=4, rows=64, bank_ports="1R1W").rams
    words, banks = rams[SCALAR_RAM], rams[BANK_RAM]
    assert (words.rows, words.width, words.ports, words.instances) == (64, 32, "1R1W", 4)
    assert (banks.rows, banks.ports, banks.instances) == (words.rows, words.ports, words.instances)


def test_without_scalar_values_it_gives_what_the_baseline_gives() -> None:
    off, baseline = make(scalar_values="none"), find("baseline").configuration("tiny")
    assert off.gives == baseline.gives and off.rams == baseline.rams
    assert not scalar_probes(off)
    assert make().gives.twins and [engine.name for engine in make().gives.engines] == ["expansion"]


def test_beats_and_results_say_whether_they_have_every_live_lane() -> None:
    for cfg in (make(), make(scalar_values="none")):
        assert "full" in dict(decode_fields(cfg)) and "full" in dict(result_fields(cfg))


def test_a_trace_without_values_is_refused_where_they_decide() -> None:
    trace = replace(hand_trace([op((), 0)]), source="accelsim", values=np.zeros((0, 32), np.uint32))
    trace = replace(trace, value_row=np.full(trace.records, -1), written=np.zeros(0, np.uint32))
    with pytest.raises(WorkloadError, match="must have register values"):
        prepare(make(), trace)
    assert prepare(make(scalar_values="none"), trace)


@pytest.mark.parametrize(
    ("scheme", "rule"),
    [
        ("bow_wr+scalar", "collectors must store every result by its port"),
        ("bow+scalar", "look-ups of further registers"),
        ("malekeh+scalar", "to know to which bank a result goes"),
        ("corf+scalar", "registers that are where a renaming table says"),
        ("modern+scalar", "banks whose reads are planned ahead"),
    ],
)
def test_collectors_that_would_have_to_know_the_bits_are_refused(scheme: str, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        find(scheme).configuration("tiny")


@pytest.mark.parametrize("scheme", ["scalar+two_level", "scalar+cggty", "scalar+gto"])
def test_every_scheduler_fits_that_asks_nothing_of_the_file(scheme: str) -> None:
    assert make(scheme).gives.twins


def test_a_scoreboard_with_entries_is_refused() -> None:
    with pytest.raises(ValueError, match="pending_entries must be 0"):
        make(pending_entries=2)


def test_scalar_registers_are_summed_as_a_number() -> None:
    """Two cycles: 5 registers and 2, of one bit each in the other probes."""
    fields = {probe.name: np.zeros((2, probe.width), dtype=bool) for probe in scalar_probes(make())}
    fields["scalar_registers"][0, [0, 2]] = fields["scalar_registers"][1, 1] = True
    fields["needs_expansion"][:, :2] = True
    counted = scalar_events(fields)
    assert counted["scalar_register_cycles"] == 7 and counted["expansion_wait_cycles"] == 4
    assert scalar_events({}) == {}
