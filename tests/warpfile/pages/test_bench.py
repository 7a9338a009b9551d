"""What cannot be measured is said, and is not the end of what can."""

from __future__ import annotations

import dataclasses

import pytest

from warpfile.output.display import silent
from warpfile.pages import bench, scaling


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two parts: of one the second row fails."""

    def row(subject: str, report: object) -> bench.Row:
        if subject == "broken":
            raise ValueError("it must be whole")
        return (1,)

    one = bench.Part(("count",), lambda every: ("sound", "broken", "sound too"), row)
    two = dataclasses.replace(one, subjects=lambda every: ("last",))
    monkeypatch.setattr(bench, "PARTS", {"first": one, "second": two})


def test_a_row_that_fails_is_not_the_end(parts: None, capsys: pytest.CaptureFixture) -> None:
    assert bench.main([]) == 1
    said = capsys.readouterr().out
    assert all(name in said for name in ("sound", "sound too", "last"))
    assert "not measured: first broken: ValueError: it must be whole" in said


def test_one_part_is_measured_by_itself(parts: None, capsys: pytest.CaptureFixture) -> None:
    assert bench.main(["second"]) == 0
    assert "last" in (said := capsys.readouterr().out) and "sound" not in said


def test_a_part_must_be_known(capsys: pytest.CaptureFixture) -> None:
    with pytest.raises(SystemExit):
        bench.main(["nothing"])
    assert "PART must be one of emulate, analyze," in capsys.readouterr().err


def test_a_process_that_fails_is_quoted(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setitem(bench.PARTS, "analyze", dataclasses.replace(bench.PARTS["analyze"], subjects=lambda _: ("no",)))
    assert bench.show("analyze", ()) == ["analyze no: KeyError: 'no'"]


def test_an_analysis_has_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "LARGEST", 200)
    count, seconds, mebibytes = bench.analyze("mixed", silent)
    assert count == 201 and seconds > 0 and mebibytes > 0


def test_kernels_have_a_row() -> None:
    count, seconds, rate = bench.emulate("saxpy", silent)
    assert count == 7152 and rate == count / seconds
