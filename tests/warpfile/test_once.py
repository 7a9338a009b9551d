"""One process makes what all need, others wait for it, and each command says so once."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from warpfile import once
from warpfile.once import announce, turn
from warpfile.output import display

#: A process that holds the lock of its argument until its standard input ends.
HOLDER = """\
import sys
from pathlib import Path
from warpfile.once import turn
with turn(Path(sys.argv[1]), "making a thing"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def held(lock: Path, **options: int) -> Iterator[Callable[[], None]]:
    """Another process holds the lock until what this yields is called."""
    command = [sys.executable, "-c", HOLDER, str(lock)]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True, **options) as process:
        assert process.stdout and process.stdout.readline() == "held\n"
        yield lambda: process.communicate() and None


def let_go(monkeypatch: pytest.MonkeyPatch, release: Callable[[], None], patience: float) -> None:
    """The other process ends as soon as this one has lost its patience."""
    acquire = once_lock().acquire

    def patient(lock, timeout=None, **more):
        if timeout is None:
            release()
            return acquire(lock, **more)
        return acquire(lock, timeout=patience)

    monkeypatch.setattr(once_lock(), "acquire", patient)


def once_lock() -> type:
    from filelock import FileLock

    return FileLock


@pytest.mark.parametrize(
    ("group", "said"), [({}, ""), ({"process_group": 0}, "warpfile: waiting for another process: making a thing\n")]
)
def test_who_waits_for_another_command_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    group: dict[str, int],
    said: str,
) -> None:
    with held(tmp_path / "lock", **group) as release:
        let_go(monkeypatch, release, patience=0.01)
        with turn(tmp_path / "lock", "making a thing"):
            assert capsys.readouterr().err == said


def test_a_process_that_dies_over_it_gives_the_lock_back(tmp_path: Path) -> None:
    dies = HOLDER.replace("sys.stdin.read()", "import os; os._exit(3)")
    assert subprocess.run([sys.executable, "-c", dies, str(tmp_path / "lock")], check=False).returncode == 3
    with turn(tmp_path / "lock", "making a thing"):
        pass


def test_what_is_found_is_not_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made: list[int] = []

    def find() -> int | None:
        return made[0] if made else None

    def make() -> int:
        made.append(len(made) + 7)
        return made[-1]

    found = [once.once(tmp_path / "lock", "making a thing", "a second", find, make) for _ in range(2)]
    assert found == [7, 7] and capsys.readouterr().err == "warpfile: making a thing, once; a second\n"


def test_what_another_process_made_meanwhile_is_not_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = iter([None, 7])
    found = once.once(tmp_path / "lock", "making a thing", "a second", lambda: next(answers), lambda: 8)
    assert (found, capsys.readouterr().err) == (7, "")


def test_a_progress_bar_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line stands alone, above the bar, whether the process that says it draws the bar or not."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")  # a dumb one gets no bar
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(display, "_PATIENCE", 0.0)
    with display.progress("work") as report:
        report("begins")
        ended = time.monotonic() + 30
        while "begins" not in terminal.getvalue() and time.monotonic() < ended:
            time.sleep(0.01)
        assert "begins" in terminal.getvalue()
        announce("making a thing", "a second")
    lines = terminal.getvalue().replace("\x1b[2K", "").replace("\x1b[?25l", "").split("\n")
    assert [line.rpartition("\r")[2].strip() for line in lines if "making" in line] == [
        "warpfile: making a thing, once; a second"
    ]
    other = Terminal()
    monkeypatch.setattr(sys, "stderr", other)
    announce("making a thing", "a second")
    assert other.getvalue() == "\r\x1b[2Kwarpfile: making a thing, once; a second\n"
