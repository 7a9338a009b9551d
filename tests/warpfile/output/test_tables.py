"""Tables fit 80 columns, and no name in them is broken in the middle."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.warpfile.conftest import Invoke
from warpfile.output.display import show_table, text_of
from warpfile.output.tables import Column, lines
from warpfile.schemes import SCHEMES

WIDTH = 80
NAME = st.text("abz_0", min_size=1, max_size=18)
PROSE = st.lists(st.text("abc", min_size=1, max_size=12), max_size=9).map(" ".join)
NUMBER = st.integers(0, 10**9).map(text_of)


@st.composite
def tables(draw: st.DrawFn) -> list[Column]:
    """Some rows of names, prose and numbers; the first column names the row."""
    count = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.sampled_from((NAME, PROSE, NUMBER)), max_size=14))
    made = [Column("row", tuple(f"row_{index}" for index in range(count)), right=False)]
    for kind in kinds:
        cells = tuple(draw(st.lists(kind, min_size=count, max_size=count)))
        made.append(Column(draw(NAME), cells, right=kind is NUMBER))
    return made


@given(tables())
def test_every_word_is_whole_and_no_line_is_too_long(columns: list[Column]) -> None:
    found = list(lines(columns, WIDTH))
    assert all(len(line) <= WIDTH for line in found)
    shown = Counter(word for line in found for word in line.split())
    cells = Counter(word for column in columns[1:] for cell in column.cells for word in cell.split())
    assert not cells - shown


@given(tables())
def test_what_fits_is_one_block_with_its_headings_in_a_line(columns: list[Column]) -> None:
    found = list(lines(columns, 10_000))
    assert len(found) == 2 + len(columns[0].cells)
    assert found[0].split() == [column.heading for column in columns]


def shown(capsys: pytest.CaptureFixture[str], columns: tuple[str, ...], *rows: tuple[object, ...]) -> list[str]:
    show_table(columns, rows)
    return capsys.readouterr().out.splitlines()


def test_headings_are_wrapped_at_underscores_and_words(capsys: pytest.CaptureFixture[str]) -> None:
    names = tuple(f"resident_cycles of{index}" for index in range(6))
    assert shown(capsys, ("scheme", *names), ("regmutex_paired", *range(6))) == [
        "                  resident_  resident_  resident_  resident_  resident_",
        "                     cycles     cycles     cycles     cycles     cycles",
        " scheme                 of0        of1        of2        of3        of4",
        " " + "─" * 70,
        " regmutex_paired          0          1          2          3          4",
        "",
        " scheme           resident_cycles of5",
        " " + "─" * 36,
        " regmutex_paired                    5",
        "",
    ]


def test_blocks_begin_with_what_tells_rows_apart(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [("baseline", kernel, *["x" * 30] * 3) for kernel in ("spmv", "collatz")]
    found = shown(capsys, ("scheme", "kernel", "a", "b", "c"), *rows)
    assert sum(line.startswith(" baseline  spmv ") for line in found) == 3


def test_a_word_that_is_wider_than_all_is_not_broken(capsys: pytest.CaptureFixture[str]) -> None:
    found = shown(capsys, ("file", "bytes"), ("x" * 100, 1_000_000))
    assert f" {'x' * 100}  1,000,000" in found


def test_numbers_stand_under_each_other_where_some_are_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert shown(capsys, ("a", "n"), ("x", 1000), ("y", None), ("z", 1.5))[2:5] == [
        " x  1,000",
        " y      -",
        " z    1.5",
    ]


def test_a_terminal_of_another_width_is_filled(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ("scheme", *["x" * 20] * 4)
    for columns, blocks in (("120", 1), ("60", 2)):
        monkeypatch.setenv("COLUMNS", columns)
        found = shown(capsys, ("scheme", "a", "b", "c", "d"), row)
        assert sum(line.startswith(" ─") for line in found) == blocks


@pytest.mark.parametrize("counters", [(), ("--counters", "all"), ("--counters", "bank_reads,issue_barrier")])
def test_a_run_of_all_schemes_fits_and_is_complete(invoke: Invoke, kernel: Path, counters: tuple[str, ...]) -> None:
    result = invoke("run", "all", kernel, "--set", "dependences=scoreboard", *counters, "--json", "facts.json")
    assert result.exit_code == 0, result.output
    table = result.stdout.partition("\nnote (")[0].splitlines()
    assert max(map(len, table)) <= WIDTH
    rows = [line.split() for line in table if line[1:].split(" ")[0] in SCHEMES]
    schemes = json.loads(Path("facts.json").read_text())["schemes"]
    asked = counters[1].split(",") if counters and counters[1] != "all" else []
    for name, facts in schemes.items():
        values = facts["counters"]
        wanted = asked or [
            one for one in values if counters or len({other["counters"].get(one, 0) for other in schemes.values()}) > 1
        ]
        numbers = Counter(cell for row in rows if row[0] == name for cell in row[1:])
        assert not Counter(text_of(values[one]) for one in wanted if one in values) - numbers
        assert numbers[facts["preset"]] == 1


def test_counters_across_have_the_names_of_the_counters(invoke: Invoke, kernel: Path) -> None:
    result = invoke("run", "baseline", "bow", kernel, "--preset", "tiny", "--counters", "bank_conflicts,bank_reads")
    heading = re.search(r"^ scheme +bank_conflicts +bank_reads$", result.stdout, re.M)
    assert heading and "issue_idle" not in result.stdout


def test_one_scheme_has_its_counters_below_each_other(invoke: Invoke, kernel: Path) -> None:
    result = invoke("run", "bow", kernel, "--preset", "tiny")
    assert re.search(r"^ counter +bow$", result.stdout, re.M)
    assert re.search(r"^ victims_transient +\d+$", result.stdout, re.M)


def test_a_counter_that_there_is_not_is_refused(invoke: Invoke, kernel: Path) -> None:
    result = invoke("run", "baseline", kernel, "--preset", "tiny", "--counters", "bank_reads,dreams")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1) and "not 'dreams'" in result.stderr


@pytest.mark.parametrize("command", ["schemes", "kernels", "presets"])
def test_lists_of_what_there_is_fit(invoke: Invoke, command: str) -> None:
    assert max(map(len, invoke(command).stdout.splitlines())) <= WIDTH
