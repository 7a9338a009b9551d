"""Timing diagrams of the pages: they can be read, and show what the golden models do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.docs.waves import PAGES, diagrams, values, wave, wrong
from tests.golden.collectors.read_window.test_example import example
from tests.golden.rf.ltrf.scenario import make as make_ltrf
from tests.golden.rf.ltrf.test_example import TIMES
from tests.golden.rf.ltrf.test_example import example as example_of_ltrf
from tests.golden.rf.regmutex.scenario import ACQ, REL, make, run_shared, shared
from tests.golden.rf.shared.bench import BASE, Bench
from tests.golden.scenario import NOP
from warpfile.spec.schemes import ltrf
from warpfile.spec.schemes import shared as shared_spec

DRAWN = {page: found for page in sorted(PAGES.rglob("*.md")) if (found := diagrams(page.read_text()))}
SCHEMES = PAGES / "schemes"


@pytest.mark.parametrize("page", DRAWN, ids=lambda page: page.stem)
def test_every_signal_of_a_diagram_has_a_value_in_every_cycle(page: Any) -> None:
    for diagram in DRAWN[page]:
        assert len({len(values(signal)) for signal in diagram["signal"]}) == 1


def test_a_diagram_that_cannot_be_read_is_noticed() -> None:
    signal = {"name": "a", "wave": "0=.", "data": ["1"]}
    assert values(signal) == ["0", "1", "1"]
    for bad in ({"wave": "."}, {"wave": "=="}, {"wave": "0"}, {"wave": "h=.."}):
        with pytest.raises(ValueError, match=r"^a: "):
            values(signal | bad)


def test_regmutex_is_drawn_as_it_runs() -> None:
    (diagram,) = DRAWN[SCHEMES / "regmutex.md"]
    cfg = make()
    fields = run_shared(cfg, shared(cfg, [ACQ, NOP, REL], [ACQ, REL])).fields
    assert diagram["head"] == {"tick": 3} and compared(diagram, fields) == 8
    assert list(wrong(diagram, fields[3:])) == []
    assert len(list(wrong(diagram, fields[4:]))) == 8, "the run is another one a cycle later"


def test_modern_is_drawn_as_it_runs() -> None:
    (diagram,) = DRAWN[SCHEMES / "modern.md"]
    run = example()
    fields = [
        {
            **one,
            "bank 0": int(one["reserved"] & 0b11 > 0),
            "bank 1": int(one["reserved"] >> 6 & 0b11 > 0),
            "SB0": one["counting"] & 1,
            "SB1": one["counting"] >> 1 & 1,
        }
        for one in run.fields[run.issues()[0][0] :]
    ]
    assert compared(diagram, fields) == 15
    assert list(wrong(diagram, fields)) == []


@pytest.mark.parametrize("number", [0, 1])
def test_ltrf_is_drawn_as_it_runs(number: int) -> None:
    diagram = DRAWN[SCHEMES / "ltrf.md"][number]
    run = example_of_ltrf(make_ltrf(**TIMES | {"crossbar_beats": 4}))
    states = {name: ("place_state", getattr(ltrf, name)) for name in ("PREFETCH", "MOVING", "OPEN")}
    fields = levels(run.fields[run.when("enter")[number] :], **states)
    assert compared(diagram, fields) == (5, 7)[number]
    assert list(wrong(diagram, fields)) == []


def levels(fields: list[dict[str, int]], **states: tuple[str, int]) -> list[dict[str, int]]:
    """The cycles with a level for each of these states of a probe."""
    return [one | {name: int(one[probe] == state) for name, (probe, state) in states.items()} for one in fields]


def merge() -> list[dict[str, int]]:
    """The merge of docs/schemes/larf.md, section 17."""
    bench = Bench()
    bench.settle(bench.load(2, 4), bench.load(2, 5, BASE + 0x80))
    bench.begin(bench.load(7, 4, BASE + 0xC))
    bench.steps(10)
    stages = {name: ("access_search", getattr(shared_spec, name)) for name in ("COMPARE", "SELECT")}
    stages |= {name: ("access_act", getattr(shared_spec, name)) for name in ("DECIDE", "ACT")}
    stages |= {name: ("merge_state", getattr(shared_spec, name)) for name in ("READ1", "READ2", "WRITE")}
    return levels(bench.fields, **stages)


def test_larf_is_drawn_as_it_runs() -> None:
    (diagram,) = DRAWN[SCHEMES / "larf.md"]
    fields = merge()
    assert compared(diagram, fields) == 11
    assert list(wrong(diagram, fields)) == []


def compared(diagram: dict[str, Any], fields: list[dict[str, int]]) -> int:
    return sum(signal["name"] in fields[0] for signal in diagram["signal"])


def test_a_signal_is_written_as_it_is_read() -> None:
    signal = wave("a", [0, 0, 2, 1, 1], 2)
    assert signal == {"name": "a", "wave": "=.==.", "data": ["00", "10", "01"]}
    assert values(signal) == ["00", "00", "10", "01", "01"]
    assert wave("b", [1, 1, 0], 1) == {"name": "b", "wave": "1.0"}
