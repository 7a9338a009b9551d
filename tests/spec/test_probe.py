"""Observations are packed and unpacked without loss."""

from __future__ import annotations

import random

import pytest

from warpfile.schemes import SCHEMES
from warpfile.spec.config import Config
from warpfile.spec.probe import Probe, ProbeLayout


def test_the_first_probe_is_least_significant() -> None:
    layout = ProbeLayout((Probe("a", 3, ""), Probe("b", 5, "")))
    assert layout.pack({"a": 5, "b": 1}) == 0b1101
    assert layout.unpack(0b1101) == {"a": 5, "b": 1}
    assert (layout.width, layout.mask("b")) == (8, 31)


def test_unpack_inverts_pack_for_every_layout() -> None:
    rng = random.Random(3)
    for ports in (1, 3):
        layout = ProbeLayout(SCHEMES["baseline"].probes(Config(ports=ports, warps=5, collectors=3)))
        for _ in range(50):
            word = rng.getrandbits(layout.width)
            assert layout.pack(layout.unpack(word)) == word


def test_a_value_that_does_not_fit_is_refused() -> None:
    layout = ProbeLayout((Probe("a", 3, ""),))
    with pytest.raises(ValueError, match="a must fit 3 bits, not 8"):
        layout.pack({"a": 8})


def test_names_are_unique() -> None:
    with pytest.raises(ValueError, match="probe names must be unique, not 'a' twice"):
        ProbeLayout((Probe("a", 1, ""), Probe("a", 1, "")))


def test_the_baseline_observes_each_port() -> None:
    names = [p.name for p in SCHEMES["baseline"].probes(Config(ports=3))]
    assert names[:2] == ["started", "launch"]
    assert {"dispatch_payload2", "grant"} <= set(names)
    assert len(SCHEMES["baseline"].probes(Config(ports=1))) == len(names) - 4
