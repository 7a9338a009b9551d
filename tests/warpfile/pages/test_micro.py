"""Single kinds of instructions take the cycles that they take elsewhere, but for those that the page names."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpfile.pages.micro import BENCHMARKS, COLUMNS, cycles, main, page_rows, table
from warpfile.results.markdown import table as markdown
from warpfile.spec.presets import PRESETS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "micro.md"
BOUND = 0.1
#: Farther off, for the reasons that the page has: instruction and preset.
FAR = {("FFMA chain", "turing")}
ROWS = list(table(tuple(PRESETS)))


@pytest.mark.parametrize(
    ("name", "preset", "ours", "theirs"), [(row[0], *row[2:5]) for row in ROWS], ids=lambda value: str(value)
)
def test_cycles_are_as_elsewhere_or_the_page_says_why_not(name: str, preset: str, ours: float, theirs: float) -> None:
    assert (abs(ours / theirs - 1) > BOUND) == ((name, preset) in FAR)
    section = PAGE.read_text().split("## What is farther off")[1].split("\n## ")[0]
    assert (f"*{name}* at `{preset}`" in section) == ((name, preset) in FAR)


def test_the_page_has_the_table_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert not main(["--print"])
    printed = capsys.readouterr().out
    assert printed in PAGE.read_text()
    assert printed.count("\n") == len(ROWS) + 2


def test_a_unit_that_waits_for_its_own_dispatch_takes_longer() -> None:
    (benchmark,) = (one for one in BENCHMARKS if one.name == "FFMA, three registers")
    assert cycles(benchmark, "turing") == 2
    assert cycles(benchmark, "turing", retake="next") == 2.5
    assert cycles(benchmark, "turing", retake="next", collect="one") == 3


def test_a_slower_unit_shows() -> None:
    (benchmark,) = (one for one in BENCHMARKS if one.name == "MUFU")
    assert cycles(benchmark, "turing", sfu_interval=16) == 2 * cycles(benchmark, "turing") == 16


def test_an_unknown_preset_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["volta"])
    assert "PRESET must be one of turing, pascal" in capsys.readouterr().err


def test_rows_of_one_preset_are_those_of_the_table() -> None:
    assert all(line in PAGE.read_text() for line in markdown(COLUMNS, page_rows(["ampere"])).splitlines())


def test_a_line_per_lane_is_bound_by_entries_or_by_bandwidth() -> None:
    (benchmark,) = (one for one in BENCHMARKS if one.name == "LDG, a line per lane")
    assert cycles(benchmark, "turing") == 32 * 290 / 64
    assert cycles(benchmark, "turing", mshrs=0) == 32 * 4
    assert cycles(benchmark, "turing", mshrs=32) == 32 * 290 / 32
