"""``make fresh`` shows a command what a fresh machine has: what is committed, an empty HOME, no optional tools."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import fresh
from warpfile import tools

Run = Callable[..., tuple[int, list[str]]]


def git(folder: Path, *arguments: str) -> None:
    names = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(folder), *names, *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits of one file, the first of them checked out, and an uncommitted change."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    for text in ("first", "second"):
        (folder / "file").write_text(text)
        git(folder, "add", "file")
        git(folder, "commit", "--quiet", "-m", text)
    git(folder, "checkout", "--quiet", "--detach", "HEAD~1")
    (folder / "file").write_text("changed")
    (folder / "new").touch()
    return folder


@pytest.fixture
def run(tmp_path: Path, repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Runs commands on a machine with git, ls, and programs that only answer; status and lines of output."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("iverilog", "vvp", "dot", "g++", "own"):
        (programs / name).write_text("#!/bin/sh\necho it runs\n")
        (programs / name).chmod(0o755)
    for name in ("git", "ls", "env"):
        found = next(path for path in map(Path, ("/usr/bin", "/bin")) if (path / name).exists())
        (programs / name).symlink_to(found / name)
    monkeypatch.setenv("PATH", str(programs))

    def status_and_lines(*commands: str, visible: tuple[str, ...] = ()) -> tuple[int, list[str]]:
        root = tmp_path / f"root{len(list(tmp_path.iterdir()))}"
        root.mkdir()
        status = fresh.run(commands, root, set(visible), repository)
        return status, capfd.readouterr().out.splitlines()

    return status_and_lines


def test_optional_tools_are_hidden_and_all_others_are_there(run: Run) -> None:
    """Negative control: with the tool made visible, and without all this, the same program runs."""
    assert run("iverilog")[0] == run("vvp")[0] == run("dot")[0] == 127
    assert run("own")[1][0] == run("g++")[1][0] == "it runs"
    assert run("iverilog && vvp", visible=("iverilog",))[0] == 0
    assert run("dot", visible=("iverilog",))[0] == 127
    assert subprocess.run(["iverilog"], capture_output=True, text=True, check=True).stdout == "it runs\n"


def test_the_clone_is_of_the_commit_that_is_checked_out(run: Run, repository: Path) -> None:
    assert run("read line < file; echo $line; ls; git status --short")[1][:2] == ["first", "file"]
    assert (repository / "file").read_text() == "changed"


def test_home_is_empty_and_only_ways_to_packages_are_passed_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given = {
        "PIP_CERT": "a",
        "https_proxy": "b",
        "OPENBLAS_CORETYPE": "c",
        "PIP_CACHE_DIR": "d",
        "CC": "e",
        "XDG_CACHE_HOME": "f",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    _, lines = run("ls -A $HOME $TMPDIR/. && env")
    variables = dict(line.partition("=")[::2] for line in lines if "=" in line)
    assert {name for name in given if name in variables} == {"PIP_CERT", "https_proxy", "OPENBLAS_CORETYPE"}
    listed = [line for line in lines[: lines.index(f"PWD={variables['PWD']}")] if line and "=" not in line]
    assert listed == [f"{variables['HOME']}:", f"{variables['TMPDIR']}/.:"]


def test_commands_run_until_one_fails_whose_status_is_passed_on(run: Run) -> None:
    status, lines = run("echo one", "exit 3", "echo three")
    assert status == 3
    assert lines == ["one", "As on a fresh machine:", "echo one: 0 s, exit status 0", "exit 3: 0 s, exit status 3"]
    assert run("kill -9 $$")[0] == 137


def test_python_is_that_which_runs_it(run: Run) -> None:
    _, lines = run("python3 -c 'import sys; print(sys.prefix)'")
    assert lines[0] == sys.base_prefix


def test_compilers_behind_a_cache_and_programs_of_environments_are_left_out(tmp_path: Path) -> None:
    for name in ("system", "own/bin", "cache"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "own" / "pyvenv.cfg").touch()
    for name in ("system/g++", "own/bin/yosys", "cache/ccache"):
        (tmp_path / name).touch(0o755)
    (tmp_path / "cache" / "g++").symlink_to("ccache")
    fresh.fill(tmp_path / "bin", set(), f"{tmp_path}/cache:{tmp_path}/own/bin:{tmp_path}/none:{tmp_path}/system")
    found = {path.name: path.resolve().parent.name for path in (tmp_path / "bin").iterdir()}
    assert found.keys() == {"python3", "g++"} and found["g++"] == "system"


def test_what_every_machine_needs_is_never_hidden() -> None:
    assert {"iverilog", "vvp", "sta", "dot", "nvcc", "verilator"} <= fresh.hidden(set())
    assert not {"g++", "gcc", "cc", "make", "perl", "git", "python3"} & fresh.hidden(set())
    assert fresh.hidden(tools.TOOLS.keys()) == {"python"}


def test_it_runs_before_anything_is_installed(root: Path) -> None:
    command = [sys.executable, "-S", "-m", "tests.fresh"]
    done = subprocess.run([*command, "--with", "nothing"], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "invalid choice: 'nothing'" in done.stderr
