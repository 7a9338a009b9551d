"""Single kinds of instructions take the cycles that they take elsewhere, but for those that the page names."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpfile.evidence.markdown import table as markdown
from warpfile.micro import BENCHMARKS, cycles, main, page_rows, table
from warpfile.spec.presets import PRESETS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "micro.md"
BOUND = 0.1
#: Farther off, for the reasons that the page has.
FAR = {"FFMA, three registers", "FADD chain", "FFMA chain"}
ROWS = table(tuple(PRESETS))


@pytest.mark.parametrize(("name", "preset", "ours", "theirs"), [row[:4] for row in ROWS], ids=lambda value: str(value))
def test_cycles_are_as_elsewhere_or_the_page_says_why_not(name: str, preset: str, ours: float, theirs: float) -> None:
    assert (abs(ours / theirs - 1) > BOUND) == (name in FAR)
    section = PAGE.read_text().split("## What is farther off")[1]
    assert (name in section) == (name in FAR)


def test_the_page_has_the_table_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert not main([])
    printed = capsys.readouterr().out
    assert printed in PAGE.read_text()
    assert printed.count("\n") == len(ROWS) + 3


def test_three_units_take_a_multiply_add_as_often_as_hardware() -> None:
    (benchmark,) = (one for one in BENCHMARKS if one.name == "FFMA, three registers")
    assert cycles(benchmark, "turing", collectors=3) == 2
    assert cycles(benchmark, "turing") == 3


def test_a_slower_unit_shows() -> None:
    (benchmark,) = (one for one in BENCHMARKS if one.name == "MUFU")
    assert cycles(benchmark, "turing", sfu_interval=16) == 2 * cycles(benchmark, "turing") == 16


def test_an_unknown_preset_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["volta"])
    assert "PRESET must be one of turing, pascal" in capsys.readouterr().err


def test_rows_of_one_preset_are_those_of_the_table() -> None:
    columns = ("instruction", "preset", "cycles here", "elsewhere", "error", "source")
    assert all(line in PAGE.read_text() for line in markdown(columns, page_rows(["ampere"])).splitlines())
