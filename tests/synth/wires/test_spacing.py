"""Repeaters are as far apart as a chain of them is fast."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.synth.wires.designs import WIRES
from warpfile.synth.liberty import Liberty
from warpfile.synth.wires import technology
from warpfile.synth.wires.spacing import CLOSE, delays, spacing_um
from warpfile.synth.wires.technology import Layer

pytestmark = pytest.mark.needs("sta")


def spacing(monkeypatch: pytest.MonkeyPatch, liberty: Liberty, ohm: float) -> float:
    wires = replace(WIRES, far_um=100.0, near=Layer("near", ohm, 0.5), far=Layer("far", ohm, 0.5))
    monkeypatch.setattr(technology, "read_technologies", lambda: (wires,))
    found = delays(liberty)
    best = spacing_um(liberty)
    assert found[best] <= CLOSE * min(found.values())
    assert all(found[length] > CLOSE * min(found.values()) for length in found if length < best)
    return best


def test_more_resistance_brings_repeaters_closer(liberty: Liberty, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [spacing(monkeypatch, liberty, ohm) for ohm in (0.2, 2.0, 20.0)]
    assert found[0] > found[1] > found[2]


def test_a_stage_without_resistance_has_the_delay_of_its_capacitance(
    liberty: Liberty, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library's buffer: 0.04 ns and 1 ns per pF, of the next one's input and 0.002 fF per um.

    The timer takes a part of it, because the library's slopes are steeper than its delays.
    """
    wires = replace(WIRES, far_um=1000.0, near=Layer("near", 1e-6, 0.002), far=Layer("far", 1e-6, 0.002))
    monkeypatch.setattr(technology, "read_technologies", lambda: (wires,))
    for length, delay in delays(liberty).items():
        load = 0.01 + length * 0.002 / 1000
        assert 0.04 + load / 2 < delay * length / 1000 < 0.04 + load + 1e-6
