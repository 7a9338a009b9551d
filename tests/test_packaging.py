"""What is built is the whole package, and what is installed is found, by Python and by tools that only read."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: Folders that links make subpackages.
FOLDERS = sorted({path.parent.name for path in ROOT.glob("*/__init__.py")} - {"warpfile"})
_MODULES = (*FOLDERS, "warpfile")
_LINKS = [ROOT / "src" / "warpfile", *(ROOT / "warpfile" / name for name in FOLDERS)]
Judge = Callable[[Path, Path], list[str]]


def run(command: Sequence[str | Path], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """A program as somebody starts it who has nothing but the installation."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", **variables}
    return subprocess.run(list(map(str, command)), cwd=folder, env=environment, capture_output=True, text=True)


def copied(place: Path) -> Path:
    """What a build reads of this repository, in a new folder and without what earlier builds left."""
    place.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "src", *_MODULES):
        source, ignored = ROOT / name, shutil.ignore_patterns("__pycache__", "*.egg-info")
        if source.is_dir():
            shutil.copytree(source, place / name, symlinks=True, ignore=ignored)
        else:
            shutil.copy(source, place / name)
    return place


def build(tree: Path, what: str, out: Path) -> Path:
    """A wheel, sdist or editable wheel of a tree, by the setuptools that is installed, so that no network is needed."""
    out.mkdir(exist_ok=True)
    code = f"import sys; from setuptools import build_meta as b; b.build_{what}(sys.argv[1])"
    done = run([sys.executable, "-c", code, out], tree)
    assert not done.returncode, done.stderr
    (made,) = out.iterdir()
    return made


def contents(wheel: Path) -> dict[str, bytes]:
    """Files of a wheel by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def left_out(tree: Path, wheel: Path) -> set[str]:
    """Files of the package that a wheel lacks, or has in excess."""
    there = {
        f"{prefix}{path.relative_to(tree)}"
        for name, prefix in (*((name, "warpfile/") for name in FOLDERS), ("warpfile", ""))
        for path in (tree / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    return there ^ {name for name in contents(wheel) if ".dist-info/" not in name}


def imports(root: Path) -> Iterator[tuple[str, str]]:
    """All that files of a repository import of the package: modules, each with a name in it or without."""
    files = (path for name in (*_MODULES, "tests", "examples") for path in (root / name).rglob("*.py"))
    for node in (node for path in files for node in ast.walk(ast.parse(path.read_text()))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((str(node.module), alias.name) for alias in node.names)


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A module outside the repository with all these imports, and one of a module that is not there."""
    path = tmp_path_factory.mktemp("listing") / "listing.py"
    found = sorted((module, name) for module, name in set(imports(ROOT)) if module.partition(".")[0] == "warpfile")
    assert len(found) > 1000
    lines = [f"from {module} import {name} as _" if name else f"import {module}" for module, name in found]
    path.write_text("\n".join([*lines, "import warpfile.hdl.nowhere", ""]))
    return path


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """Python of an environment in which nothing is installed."""
    made = run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], tmp_path)
    assert not made.returncode, made.stderr
    return tmp_path / "bare" / "bin" / "python"


def site(python: Path) -> Path:
    """Where an environment has its packages."""
    done = run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], python.parent)
    return Path(done.stdout.strip())


def by_mypy(listing: Path, python: Path) -> list[str]:
    """Modules that mypy does not find: it reads paths, runs nothing, and follows no import here."""
    options = ("--follow-imports=skip", "--config-file=", "--no-incremental", f"--python-executable={python}")
    lines = run([sys.executable, "-m", "mypy", *options, listing], listing.parent).stdout.splitlines()
    return [line.split('"')[1] for line in lines if "[import-not-found]" in line]


def by_pyright(listing: Path, python: Path) -> list[str]:
    """Modules that pyright does not find, and names that are not in their modules."""
    pytest.importorskip("pyright", reason="pyright is not installed: pip install -e '.[check]'")
    rules = {"typeCheckingMode": "off", "reportMissingImports": "error", "reportAttributeAccessIssue": "error"}
    (listing.parent / "pyrightconfig.json").write_text(json.dumps({"include": [listing.name], **rules}))
    done = run([sys.executable, "-m", "pyright", "--pythonpath", python], listing.parent)
    assert done.stdout.strip().endswith("informations"), done.stdout + done.stderr
    return [line.split('"')[1] for line in done.stdout.splitlines() if " - error: " in line]


JUDGES = [pytest.param(by_mypy, id="mypy"), pytest.param(by_pyright, id="pyright", marks=pytest.mark.check)]


@pytest.mark.parametrize("judge", JUDGES)
def test_tools_that_read_python_find_every_import(judge: Judge, listing: Path) -> None:
    assert judge(listing, Path(sys.executable)) == ["warpfile.hdl.nowhere"]


@pytest.mark.parametrize("judge", JUDGES)
def test_tools_find_nothing_where_nothing_is_on_the_path(judge: Judge, listing: Path, bare: Path) -> None:
    assert {"warpfile", "warpfile.hdl.frame", "warpfile.hdl.nowhere"} <= set(judge(listing, bare))


@pytest.mark.parametrize("link", _LINKS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_link_stays_in_the_repository(link: Path) -> None:
    assert link.readlink() == Path("..") / link.name and (link / "__init__.py").is_file()


def test_an_editable_install_is_one_path(tmp_path: Path) -> None:
    tree = copied(tmp_path / "tree")
    files = contents(build(tree, "editable", tmp_path / "out"))
    (path,) = (text for name, text in files.items() if ".dist-info/" not in name)
    assert path.decode().split() == [str(tree / "src")]


def test_an_editable_install_gives_no_other_name_to_python(tmp_path: Path) -> None:
    code = f"from importlib.util import find_spec; print([n for n in {[*FOLDERS, 'tests']} if find_spec(n)])"
    assert run([sys.executable, "-c", code], tmp_path).stdout.strip() == "[]"
    assert run([sys.executable, "-c", code], ROOT).stdout.strip() == str([*FOLDERS, "tests"])


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sources of a build."""
    return copied(tmp_path_factory.mktemp("sources") / "tree")


@pytest.fixture(scope="module")
def wheel(tree: Path) -> Path:
    """The wheel of this repository."""
    return build(tree, "wheel", tree.parent / "wheel")


def test_a_wheel_holds_all_files_of_the_package(tree: Path, wheel: Path) -> None:
    assert not left_out(tree, wheel)


def test_a_folder_that_is_no_package_is_found_missing(tmp_path: Path) -> None:
    tree = copied(tmp_path / "tree")
    (tree / "hdl" / "new").mkdir()
    (tree / "hdl" / "new" / "file.py").touch()
    (tree / "synth" / "notes.txt").touch()
    wheel = build(tree, "wheel", tmp_path / "wheel")
    assert left_out(tree, wheel) == {"warpfile/hdl/new/file.py", "warpfile/synth/notes.txt"}


def test_an_sdist_builds_the_same_wheel(tree: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(build(tree, "sdist", tmp_path / "sdist")) as archive:
        # Debian's Python 3.11.2 has no filters; from 3.12 on one must be chosen.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(tmp_path)
    (unpacked,) = tmp_path.glob("warpfile-*")
    assert contents(build(unpacked, "wheel", tmp_path / "wheel")) == contents(wheel)


@pytest.mark.check
def test_an_installed_wheel_works_without_the_repository(wheel: Path, bare: Path, tmp_path: Path) -> None:
    """In an empty folder, and nothing is written into the installation, which may be read-only.

    No network: the wheel is built by the setuptools and installed by the pip of the tests' environment, and finds there
    what it depends on. That environment is a line in a .pth file, whose own .pth files Python does not follow, so that
    the editable install of this repository is out of sight; the first command makes sure of it.
    """
    empty, packages = tmp_path / "empty", site(bare)
    empty.mkdir()
    (packages / "dependencies.pth").write_text(f"{site(Path(sys.executable))}\n")
    pip = [sys.executable, "-m", "pip", "--python", bare, "install", "--no-deps", "--no-index", wheel]
    assert not run(pip, tmp_path).returncode
    installed = sorted((packages / "warpfile").rglob("*"))

    def warpfile(line: str) -> str:
        done = run([bare.with_name("warpfile"), *line.split()], empty)
        assert not done.returncode, f"warpfile {line}: {done.stderr}"
        return done.stdout

    place = run([bare, "-c", "import warpfile.hdl as hdl; print(hdl.__file__)"], empty).stdout
    assert Path(place.strip()) == packages / "warpfile" / "hdl" / "__init__.py"
    assert "issue_idle" in warpfile("run bow collatz")
    assert "equal" in warpfile("cosim baseline collatz --preset tiny")
    assert "collector_unit" in warpfile("area baseline --preset tiny")
    warpfile("generate all --preset tiny -o rtl")
    assert {"baseline.v", "baseline.json", "bow_wr.v", "rfc.core"} <= {path.name for path in (empty / "rtl").iterdir()}
    assert sorted(path.name for path in empty.iterdir()) == ["build", "rtl"]
    assert sorted((packages / "warpfile").rglob("*")) == installed
