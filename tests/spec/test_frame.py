"""Counters are summed from what was observed since the start (docs/machine.md, section 10)."""

from __future__ import annotations

import numpy as np
import pytest

from warpfile.schemes import find
from warpfile.spec.frame import count
from warpfile.spec.probe import Fields, ProbeLayout

CFG = find("baseline").configuration("tiny")
LAYOUT = ProbeLayout(find("baseline").probes(CFG))


def fields(started: str, **events: str) -> Fields:
    """Probes cycle by cycle, a bit each; others are 0."""
    found = {probe.name: np.zeros((len(started), probe.width), bool) for probe in LAYOUT}
    for name, bits in {"started": started, **events}.items():
        found[name][:, 0] = [bit == "1" for bit in bits]
    return found


def test_cycles_before_the_start_are_counted_by_themselves() -> None:
    found = count(fields("00111", issue="00010", buffered="00011"), [])
    assert (found["start_cycles"], found["cycles"], found["beats"]) == (2, 3, 1)
    assert (found["issue_idle"], found["issue_hazard"]) == (1, 1)


def test_a_machine_that_has_started_at_once_has_no_start() -> None:
    found = count(fields("111"), [])
    assert (found["start_cycles"], found["cycles"], found["issue_idle"]) == (0, 3, 3)


def test_parts_count_in_the_same_cycles() -> None:
    found = count(fields("0111", launch="1101"), [lambda seen: {"launches": int(seen["launch"].sum())}])
    assert found["launches"] == 2


def test_cycles_that_are_all_before_the_start_count_nothing_else() -> None:
    found = count(fields("000"), [lambda seen: pytest.fail("a part need not do with no cycle at all")])
    assert found.pop("start_cycles") == 3 and not any(found.values())
