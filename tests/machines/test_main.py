"""``python -m tests.machines``: what goes wrong is counted and told, and its folder stays."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.machines import __main__ as command


@pytest.mark.parametrize("wrong", [False, True])
def test_a_machine_that_goes_wrong_is_told(wrong: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lockstep(name: str, number: int, *_: object) -> list[SimpleNamespace]:
        assert not wrong, "they differ"
        return [SimpleNamespace(cycles=100 + number, operands_checked=number)] * 2

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "lockstep", lockstep)
    run = command._one("malekeh", 7, False)
    left = [path.read_text() for path in tmp_path.glob("build/machines/malekeh-7-*/problem.txt")]
    assert (run.cycles, run.operands) == ((0, 0) if wrong else (214, 14))
    assert ("they differ" in run.problem) is wrong and len(left) == wrong
    (row,) = command._rows([run, run])
    assert row[:5] == ("malekeh", 2, 2 * run.cycles, 2 * run.operands, 2 * wrong)


@pytest.mark.parametrize("wrong", [False, True])
def test_the_status_says_whether_something_went_wrong(wrong: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def runs(todo: list[tuple[str, int, bool]], jobs: int) -> list[command.Run]:
        return [command.Run(name, number, problem="differs" * (wrong and number == 4)) for name, number, _ in todo]

    monkeypatch.setattr(sys, "argv", ["machines", "3", "5", "--scheme", "bow", "--scheme", "rfc"])
    monkeypatch.setattr(command, "_all", runs)
    assert command.main() == wrong


def test_numbers_in_the_wrong_order_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(sys, "argv", ["machines", "5", "3"])
    with pytest.raises(SystemExit):
        command.main()
    assert "in this order, not 5 and 3" in capsys.readouterr().err
