"""Every generated page has one program, which writes it and says whether it differs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warpfile.pages import __main__ as command
from warpfile.pages import micro, opcodes, schedulers
from warpfile.pages.evidence import ltrf_engine, pilot_banks
from warpfile.pages.writing import DOCS, page_parser, with_tables, write_or_check

_COMMAND = re.compile(r"python -m warpfile\.pages ([a-z_]+)")
TABLE = "| a | b |\n| --- | ---: |\n| one | 2 |\n"


def settled(page: Path, *options: str, text: str = "new\n") -> int:
    return write_or_check(page_parser("one", None).parse_args(options), {page: text})


def test_a_page_is_written_and_then_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert settled(page) == 0 and page.read_text() == "new\n"
    assert settled(page) == 0 == settled(page, "--check")
    assert capsys.readouterr().out == f"{page}: written\n" + 2 * f"{page}: as it was\n"


def test_a_page_that_differs_is_named_and_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert settled(page, "--check") == 1 and not page.exists()
    page.write_text("old\n")
    assert settled(page, "--check") == 1 and page.read_text() == "old\n"
    assert capsys.readouterr().out == 2 * f"{page}: differs from what its command prints\n"


def test_printing_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    assert settled(page, "--print") == 0 and not page.exists()
    assert capsys.readouterr().out == "new\n"


def test_tables_take_the_place_of_those_with_their_columns() -> None:
    text = f"Words.\n\n{TABLE}\nMore.\n\n| c |\n|---|\n| old |\n| older |\n\n{TABLE}End.\n"
    first, second = TABLE.replace("2", "3"), "| c |\n| --- |\n| new |\n"
    made = with_tables(text, (first, second))
    assert made == f"Words.\n\n{first}\nMore.\n\n{second}\n{TABLE}End.\n"
    with pytest.raises(ValueError, match="the page must have a table with the columns"):
        with_tables(text, (second, second))


@pytest.mark.parametrize(
    ("page", "columns"),
    [
        (micro.PAGE, micro.COLUMNS),
        (ltrf_engine.PAGE, ltrf_engine.COLUMNS),
        (pilot_banks.PAGE, pilot_banks.COLUMNS),
        (schedulers.PAGE, ("baseline at", "two domains", "least and most", "one scheduler of one issue")),
    ],
)
def test_pages_have_tables_with_these_columns(page: Path, columns: tuple[str, ...]) -> None:
    assert f"\n| {' | '.join(columns)} |\n|" in page.read_text()


def test_pages_name_programs_that_are_there() -> None:
    pages = [*DOCS.rglob("*.md"), DOCS.parent / "README.md"]
    named = {name for path in pages for name in _COMMAND.findall(path.read_text())}
    writing_pages = {name for name, one in command.PROGRAMS.items() if one.pages}
    assert writing_pages <= named <= {*command.PROGRAMS, command.ALL}


@pytest.mark.parametrize("name", command.PROGRAMS)
def test_every_program_helps(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main([name, "--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0 and f"python -m warpfile.pages {name}" in said
    assert ("--check" in said) == bool(command.PROGRAMS[name].pages)


def test_without_a_name_all_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in command.PROGRAMS)


def test_all_are_checked_whatever_one_of_them_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("presets", "opcodes", "peers")
    monkeypatch.setattr(command, "PROGRAMS", {name: command.PROGRAMS[name] for name in names})
    monkeypatch.setattr(opcodes, "TABLE", tmp_path / "opcodes.md")
    monkeypatch.setattr(opcodes, "table", lambda: "new")
    monkeypatch.setattr("warpfile.pages.peers.tools.find", lambda _: None)
    assert command.main(["all", "--check"]) == 2
    said = capsys.readouterr()
    assert "presets.md: as it was" in said.out and "opcodes.md: differs" in said.out and "peers: " in said.err


def test_a_program_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("opcodes", "presets")
    monkeypatch.setattr(command, "PROGRAMS", {name: command.PROGRAMS[name] for name in names})

    def broken() -> str:
        raise ValueError("no table")

    monkeypatch.setattr(opcodes, "table", broken)
    assert command.main(["--check", "all"]) == 1
    assert capsys.readouterr().out.splitlines() == ["opcodes: not made: no table", "docs/presets.md: as it was"]
