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
ANNOUNCED = "warpfile: compiling the golden models, once; about a minute of processor time"
needs_headers = pytest.mark.needs("cc", "Python.h")
_HASHED = 'digest.update(f"\\0{name}/'


@pytest.fixture
def tree(root: Path, tmp_path: Path) -> Path:
    """An installed package with one golden module."""
    package = tmp_path / "warpfile"
    for name in ("golden", "sim", "spec"):
        (package / name).mkdir(parents=True)
        (package / name / "__init__.py").write_text('"""Nothing."""\n')
    for name in ("__init__", "compiled", "compile", "once", "tools"):
        shutil.copy(root / "warpfile" / f"{name}.py", package)
    shutil.copy(root / "golden" / "arbiter.py", package / "golden")
    return tmp_path


def alone(tree: Path) -> dict[str, str]:
    """An environment with this package in front of all others, and with a cache of its own."""
    return {**os.environ, "PYTHONPATH": str(tree), "XDG_CACHE_HOME": str(tree / "cache")}


def python(tree: Path, *arguments: str, **variables: str) -> str:
    """What Python says in such an environment."""
    environment = {**alone(tree), **variables}
    done = subprocess.run([sys.executable, *arguments], cwd=tree, env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return (done.stdout + done.stderr).strip()


def kept(tree: Path) -> list[Path]:
    """Folders of what was compiled, and of what was not finished."""
    return [path for path in (tree / "cache" / "warpfile" / "compiled").glob("*/*") if path.is_dir()]


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
    announced, said = python(tree, "-m", "warpfile.compile").splitlines()
    assert announced == ANNOUNCED
    assert said.startswith("golden models run as plain Python: the compilation fails (warpfile/golden/arbiter.py:")
    assert python(tree, "-c", ASK).startswith(f"1 {PLAIN}")
    assert not kept(tree)


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


@needs_headers
def test_two_that_compile_at_once_compile_once_and_say_so_once(tree: Path) -> None:
    command = [sys.executable, "-m", "warpfile.compile"]
    started = [subprocess.Popen(command, cwd=tree, env=alone(tree), stdout=-1, stderr=-1, text=True) for _ in range(2)]
    said = [one.communicate() for one in started]
    (folder,) = kept(tree)
    assert [out for out, _ in said] == [f"golden models run as compiled code: {folder}\n"] * 2
    assert "".join(err for _, err in said) == f"{ANNOUNCED}\n"


#: Decides which modules are compiled, loads one of them when it is told to, and says how it runs.
SLOW = "import warpfile.compiled as compiled; compiled.FINDER.places; print('begun', flush=True); input();"


@pytest.mark.check
@needs_headers
@pytest.mark.parametrize("holds", [True, False])
def test_modules_that_a_process_has_yet_to_load_stay(tree: Path, holds: bool) -> None:
    """The next compilation removes those that no process uses; a process that does not hold them would miss them."""
    python(tree, "-m", "warpfile.compile")
    if not holds:
        edit(tree, "compiled", "fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_SH)", "pass")
        python(tree, "-m", "warpfile.compile")
    (first,) = kept(tree)
    command = [sys.executable, "-c", SLOW + ASK]
    with subprocess.Popen(command, cwd=tree, env=alone(tree), stdin=-1, stdout=-1, stderr=-1, text=True) as process:
        assert process.stdout and process.stdout.readline() == "begun\n"
        edit(tree, "spec/__init__", "Nothing", "Something")
        python(tree, "-m", "warpfile.compile")
        assert (first in kept(tree)) == holds
        out, err = process.communicate("\n")
    assert out.startswith(f"1 {COMPILED}") if holds else "ImportError" in err or "FileNotFoundError" in err
    edit(tree, "spec/__init__", "Something", "Anything")
    python(tree, "-m", "warpfile.compile")
    assert len(kept(tree)) == 1 and first not in kept(tree)


def test_the_version_says_which_form_runs(root: Path) -> None:
    said = python(root, "-m", "warpfile", "--version", WARPFILE_COMPILED="0").splitlines()
    assert said[0].startswith("warpfile ") and said[1:] == [
        "golden models: plain Python, because of WARPFILE_COMPILED=0"
    ]
