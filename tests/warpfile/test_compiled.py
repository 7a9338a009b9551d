"""Compiled golden models run only if they were compiled from the sources as they are; otherwise Python does."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from warpfile import tools

ASK = (
    "import warpfile.golden.arbiter as arbiter, warpfile.compiled as compiled;"
    "print(arbiter.lowest(6), arbiter.__file__.endswith('.py'), compiled.form())"
)
COMPILED, PLAIN = "False compiled, with mypy", "True plain Python, because these sources were not compiled"
needs_headers = pytest.mark.needs("cc", "Python.h")
_HASHED = 'digest.update(f"\\0{name}/'


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    """An installed package with one golden module."""
    package = tmp_path / "warpfile"
    for name in ("golden", "sim", "spec"):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").write_text('"""Nothing."""\n')
    for name in ("__init__", "compiled", "compile", "tools"):
        shutil.copy(root / "warpfile" / f"{name}.py", package)
    shutil.copy(root / "golden" / "arbiter.py", package / "golden")
    return tmp_path


def python(tree: Path, *arguments: str, **variables: str) -> str:
    """What Python says with this package in front of all others, and with a cache of its own."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "XDG_CACHE_HOME": str(tree / "cache"), **variables}
    done = subprocess.run([sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return (done.stdout + done.stderr).strip()


def edit(tree: Path, module: str, old: str, new: str) -> None:
    """Change one place of a module."""
    path = tree / "warpfile" / f"{module}.py"
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.check
@needs_headers
def test_an_edit_runs_at_once_and_compiled_when_it_was_compiled(tree: Path) -> None:
    assert python(tree, "-c", ASK).startswith(f"1 {PLAIN}")
    assert "as compiled code" in python(tree, "-m", "warpfile.compile")
    assert python(tree, "-c", ASK).startswith(f"1 {COMPILED}")
    assert python(tree, "-c", ASK, WARPFILE_COMPILED="0").startswith(
        "1 True plain Python, because of WARPFILE_COMPILED"
    )
    edit(tree, "golden/arbiter", "return (mask & -mask).bit_length() - 1", "return -7")
    assert python(tree, "-c", ASK).startswith(f"-7 {PLAIN}")
    assert "as compiled code" in python(tree, "-m", "warpfile.compile")
    assert python(tree, "-c", ASK).startswith(f"-7 {COMPILED}")
    for package in ("spec", "sim"):
        edit(tree, f"{package}/__init__", "Nothing", "Something")
        assert python(tree, "-c", ASK).startswith(f"-7 {PLAIN}")
        edit(tree, f"{package}/__init__", "Something", "Nothing")
        assert python(tree, "-c", ASK).startswith(f"-7 {COMPILED}")
    assert not list((tree / "warpfile").rglob("*.so")), "an installed package may be read-only"


@pytest.mark.check
@needs_headers
def test_without_the_hash_of_the_sources_old_code_would_run(tree: Path) -> None:
    edit(tree, "compiled", _HASHED, f"({_HASHED}".replace("digest.update", "lambda *_: None)"))
    python(tree, "-m", "warpfile.compile")
    edit(tree, "golden/arbiter", "return (mask & -mask).bit_length() - 1", "return -7")
    assert python(tree, "-c", ASK).startswith(f"1 {COMPILED}")


def test_without_a_compiler_one_line_says_so(tree: Path) -> None:
    said = python(tree, "-m", "warpfile.compile", PATH="", CC="no-such-compiler")
    assert said == f"golden models run as plain Python: {tools.missing('cc')}"
    assert python(tree, "-c", ASK).startswith(f"1 {PLAIN}")


def test_without_the_headers_of_python_one_line_says_so(tree: Path) -> None:
    edit(tree, "tools", '/ "Python.h"', '/ "Absent.h"')
    (line,) = python(tree, "-m", "warpfile.compile").splitlines()
    assert line.endswith(tools.missing("Python.h"))


def test_a_compilation_that_fails_leaves_python(tree: Path) -> None:
    with (tree / "warpfile" / "golden" / "arbiter.py").open("a") as source:
        source.write('\n\nWRONG: int = "text"\n')
    said = python(tree, "-m", "warpfile.compile")
    assert said.startswith("golden models run as plain Python: the compilation fails (warpfile/golden/arbiter.py:")
    assert "\n" not in said
    assert python(tree, "-c", ASK).startswith(f"1 {PLAIN}")
    assert not [path for path in (tree / "cache").rglob("*") if not path.is_dir()]


def test_without_a_cache_one_line_says_so(tree: Path) -> None:
    (tree / "cache").touch()
    (line,) = python(tree, "-m", "warpfile.compile").splitlines()
    assert line.startswith("golden models run as plain Python: ") and str(tree / "cache") in line
    assert python(tree, "-c", ASK).startswith(f"1 {PLAIN}")


def test_installations_with_one_cache_have_folders_of_their_own(tree: Path) -> None:
    shutil.copytree(tree / "warpfile", tree / "other" / "warpfile")
    ask, cache = "import warpfile.compiled as compiled; print(compiled.home())", str(tree / "cache")
    homes = {python(place, "-c", ask, XDG_CACHE_HOME=cache) for place in (tree, tree / "other")}
    assert len(homes) == 2 and all(home.startswith(cache) for home in homes)


def test_the_version_says_which_form_runs(root: Path) -> None:
    said = python(root, "-m", "warpfile", "--version", WARPFILE_COMPILED="0").splitlines()
    assert said[0].startswith("warpfile ") and said[1:] == [
        "golden models: plain Python, because of WARPFILE_COMPILED=0"
    ]
