"""Pages of declared claims are what their data give, and their data are what golden runs give."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.warpfile.pages.evidence.made_up import answering
from tests.warpfile.pages.evidence.test_statements import CLAIM, outcomes
from warpfile.output.display import silent
from warpfile.pages.evidence import command, factors, statements, stored
from warpfile.pages.evidence.command import DOCS, main, pages
from warpfile.pages.evidence.statements import data, declared, named, spot_points
from warpfile.pages.evidence.waterfall import data_stamp
from warpfile.results.points import Point, Run, golden
from warpfile.results.revision import MACHINE

NAMES = list(pages())


def stale(found: Mapping[str, Any], points: list[Point]) -> list[str]:
    """Points of which the data have other cycles than a golden run gives now."""
    spot = found["spot"]
    return [
        named(point) for point in points if golden(Run(point, spot["kernel"])).cycles != spot["cycles"][named(point)]
    ]


def test_every_page_is_written_from_data() -> None:
    for kind in ("md", "json", "svg"):
        assert {path.stem.removesuffix("-evidence") for path in DOCS.glob(f"*-evidence.{kind}")} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_and_its_chart_are_of_its_data(name: str) -> None:
    page, found = pages()[name], stored.read(DOCS, name)
    assert found["declared"] == declared(page.STATEMENTS)
    for path, text in stored.files(DOCS, page, found).items():
        assert path.read_text() == text
    chart = DOCS / f"{name}-evidence.svg"
    assert stored.shows(chart, found)
    first, *others = found["claims"]
    assert not stored.shows(chart, {**found, "claims": [{**first, "verdict": "undecided?"}, *others]})


def test_the_summary_is_of_all_data() -> None:
    ((path, text),) = stored.summary(DOCS, pages(), {}).items()
    assert path.read_text() == text


@pytest.mark.parametrize("name", NAMES)
def test_data_have_the_cycles_of_two_machines_now(name: str) -> None:
    found, points = stored.read(DOCS, name), spot_points(pages()[name].STATEMENTS)[:2]
    if found["machine"] < MACHINE:
        pytest.skip("the page says that it is older")
    assert not stale(found, points)


def test_other_cycles_are_stale() -> None:
    point = pages()["regmutex"].BASELINE.small
    cycles = golden(Run(point, "divide")).cycles
    for count, expected in ((cycles, []), (cycles + 1, [named(point)])):
        assert stale({"spot": {"kernel": "divide", "cycles": {named(point): count}}}, [point]) == expected


@pytest.mark.check
@pytest.mark.parametrize("name", NAMES)
def test_data_have_the_cycles_of_all_machines_now(name: str) -> None:
    found, points = stored.read(DOCS, name), spot_points(pages()[name].STATEMENTS)
    if found["machine"] < MACHINE:
        pytest.skip("the page says that it is older")
    assert len(found["spot"]["cycles"]) == len(points) and not stale(found, points)


def test_the_command_writes_from_data_without_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stored, "studied", lambda *_, **__: pytest.fail("nothing must be run"))
    assert main(["--text", "--check"]) == 0
    assert "evidence-summary.md: as it was" in capsys.readouterr().out


def test_the_command_runs_a_page_and_writes_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Outcomes are made up: page, data, chart and summary are of them."""
    monkeypatch.setattr(command, "DOCS", tmp_path / "schemes")
    monkeypatch.setattr(factors.Input, "trace", lambda one, kernel, setting: "/".join((*one.parts, kernel, setting)))
    monkeypatch.setattr(statements, "_contents", lambda place: "made up")
    study, asked = answering()
    monkeypatch.setattr(
        stored, "studied", lambda runs, report, fresh: ([study.outcomes[run] for run in runs], study)[1]
    )
    monkeypatch.setattr(stored, "pictures", lambda charts, _: {f"{one.name}.svg": "drawn" for one in charts})
    assert main(["regmutex"]) == 0
    assert asked == set(stored.runs(pages()["regmutex"]))
    found = stored.read(tmp_path / "schemes", "regmutex")
    assert found["machine"] == MACHINE and found["runs"] == len(asked)
    assert f"{len(asked):,} runs; from nothing they take 0 s of processor time." in capsys.readouterr().out
    written = {path.name for path in tmp_path.rglob("*.*")}
    assert written == {*(f"regmutex-evidence.{kind}" for kind in ("json", "md", "svg")), "evidence-summary.md"}


def test_an_older_chart_is_drawn_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "pictures", lambda charts, _: {f"{one.name}.svg": "drawn" for one in charts})
    found, chart = data("toy", [CLAIM], "one", outcomes()), tmp_path / "toy-evidence.svg"
    assert stored.charts(tmp_path, [found], silent) == {chart: "drawn"}
    chart.write_text(f"<text>{data_stamp(found)}</text>")
    assert stored.charts(tmp_path, [found], silent) == {}
    chart.write_text("<text>machine 1, data 0</text>")
    assert stored.charts(tmp_path, [found], silent) == {chart: "drawn"}
