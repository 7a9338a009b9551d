"""Timing diagrams of the pages: they can be read, and show what the golden models do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.docs.runs import RUNS
from tests.docs.waves import PAGES, diagrams, values, wave, wrong

DRAWN = {page: found for page in sorted(PAGES.rglob("*.md")) if (found := diagrams(page.read_text()))}
#: Diagrams of the pins' protocol, which are of no run.
PROTOCOLS = {"integration"}
#: Signals that are no probe, besides the clock: what the bench drives.
DRIVEN = {("corf", 0): {"offered"}}


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


def test_every_diagram_has_a_run() -> None:
    numbers = {(page.stem, number) for page, found in DRAWN.items() for number in range(len(found))}
    assert {name for name in numbers if name[0] not in PROTOCOLS} == set(RUNS)


@pytest.mark.parametrize("name", RUNS, ids=lambda name: "-".join(map(str, name)))
def test_a_diagram_shows_what_runs(name: tuple[str, int]) -> None:
    page, number = name
    diagram = DRAWN[PAGES / "schemes" / f"{page}.md"][number]
    fields = RUNS[name]()
    clock, *signals = diagram["signal"]
    assert len(fields) > len(clock["wave"]), "there is a cycle more, for the last line"
    assert {signal["name"] for signal in signals} - set(fields[0]) == DRIVEN.get(name, set())
    assert list(wrong(diagram, fields)) == []
    assert list(wrong(diagram, fields[1:])), "the run is another one a cycle later"


def test_a_signal_is_written_as_it_is_read() -> None:
    signal = wave("a", [0, 0, 2, 1, 1], 2)
    assert signal == {"name": "a", "wave": "=.==.", "data": ["00", "10", "01"]}
    assert values(signal) == ["00", "00", "10", "01", "01"]
    assert wave("b", [1, 1, 0], 1) == {"name": "b", "wave": "1.0"}
