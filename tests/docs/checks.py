"""Commands of the pages, run in a scratch folder or parsed without being run."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import click

from tests.warpfile.workloads.test_import import COPIES, PRINTS, tool
from warpfile.cli.program import main
from warpfile.pages import __main__ as pages
from warpfile.workloads.inputs import bundled_kernels

_BIN = Path(sys.executable).parent
_JUNIT = """<testsuites><testsuite name="pytest"><testcase classname="tests.a.test_a" name="test_a" time="1.5">
<properties><property name="cpu_seconds" value="1.25"/></properties></testcase></testsuite></testsuites>"""
#: Commands that can say what they would run.
_DRY = ("study", "search")


def run(command: str, folder: Path, root: Path) -> subprocess.CompletedProcess[str]:
    """A command in an empty folder, in which are the examples and the files of the reader's own that it names."""
    (folder / "examples").symlink_to(root / "examples")
    if "junit.xml" in command:
        (folder / "tests").symlink_to(root / "tests")
    for name, provide in _OWN.items():
        if re.search(rf"(?<!-o )(?<![\w/.]){re.escape(name)}(?![\w])", command):
            provide(folder)
    path = os.pathsep.join((str(folder / "bin"), str(_BIN), os.environ["PATH"]))
    environment = {**os.environ, "PATH": path}
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True)


def _copied(source: Path, name: str) -> Callable[[Path], object]:
    def provide(folder: Path) -> object:
        return (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / name)

    return provide


def _cuda(name: str) -> Callable[[Path], None]:
    """A CUDA file, and programs in place of NVIDIA's that take it for saxpy."""

    def provide(folder: Path) -> None:
        saxpy = bundled_kernels()["saxpy"]
        shutil.copy(saxpy / "kernel.cu", folder / name)
        (folder / "bin").mkdir()
        tool(folder / "bin", "nvcc", COPIES.format(cubin=str(saxpy / "kernel.cubin")))
        tool(folder / "bin", "nvdisasm", PRINTS.format(text=str(saxpy / "kernel.sass")))

    return provide


def _study(name: str) -> Callable[[Path], None]:
    """A small study of that name."""
    command = f"warpfile study --kernel warp_reduce --scheme bow -o build/study/{name}"
    return lambda folder: _done(command, folder)


def _done(command: str, folder: Path) -> None:
    subprocess.run(shlex.split(command), cwd=folder, check=True, capture_output=True, executable=_BIN / "warpfile")


def _traces(folder: Path) -> None:
    (folder / "traces").mkdir()
    _done("warpfile trace saxpy -o traces/saxpy.npz", folder)


def _junit(folder: Path) -> None:
    (folder / "build").mkdir()
    (folder / "build" / "junit.xml").write_text(_JUNIT)


#: What a reader has, by the name that it has in commands.
_OWN: dict[str, Callable[[Path], object]] = {
    "mine.sass": _copied(bundled_kernels()["collatz"] / "kernel.sass", "mine.sass"),
    "mine.cu": _cuda("mine.cu"),
    "saxpy.cu": _cuda("saxpy.cu"),
    "trace mine": _copied(bundled_kernels()["saxpy"], "mine"),
    "run all mine": _copied(bundled_kernels()["saxpy"], "mine"),
    "my_cells.lib": _copied(Path(__file__).resolve().parents[2] / "synth" / "nand2.lib", "my_cells.lib"),
    "traces/*.npz": _traces,
    "report schemes": _study("schemes"),
    "report build/study/window": _study("window"),
    "build/junit.xml": _junit,
}


def parse(command: str, root: Path) -> str:
    """What is wrong with a command that is not run; nothing if it is empty."""
    words = shlex.split(command)
    return _PARSERS[words[0]](words[1:], root)


def _of_warpfile(words: list[str], root: Path) -> str:
    name, *arguments = words
    if name not in main.commands:
        return f"warpfile has no command {name}"
    if name in _DRY:
        done = subprocess.run([_BIN / "warpfile", *words, "--dry-run"], cwd=root, capture_output=True, text=True)
        return done.stderr if done.returncode else ""
    try:
        main.commands[name].make_context(name, arguments)
    except click.ClickException as error:
        return error.format_message()
    return ""


def _program(name: str) -> Path:
    """The file of a program that writes pages, which names its options."""
    module = pages.PROGRAMS[name].module if name in pages.PROGRAMS else ""
    found = importlib.util.find_spec(module or f"{pages.__package__}.{name}")
    return Path(found.origin if found and found.origin else "")


def _of_python(words: list[str], root: Path) -> str:
    if words[0] != "-m" or importlib.util.find_spec(words[1]) is None:
        return f"there is no module {words[1]}"
    path = importlib.util.find_spec(words[1])
    source = Path(path.origin if path and path.origin else "").with_name
    places = [source(Path(path.origin or "").name), source("__main__.py")]
    if words[1] == pages.__package__ and len(words) > 2:
        if words[2] not in (*pages.PROGRAMS, pages.ALL):
            return f"there is no page {words[2]}"
        places += [source("writing.py"), _program(words[2])]
    texts = [one.read_text() for one in places if one.is_file()]
    absent = [word for word in words[2:] if word.startswith("-") and not any(f'"{word}"' in text for text in texts)]
    return f"{words[1]} has no option {absent[0]}" if absent else ""


def _of_make(words: list[str], root: Path) -> str:
    targets = set(re.findall(r"^([\w-]+):", (root / "Makefile").read_text(), re.M))
    unknown = [word for word in words if "=" not in word and word not in targets]
    return f"the Makefile has no target {unknown[0]}" if unknown else ""


def _of_pip(words: list[str], root: Path) -> str:
    extras = tomllib.loads((root / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    found = re.fullmatch(r"warpfile\[(\w+)\]", words[-1])
    return "" if words[0] == "install" and found and found[1] in extras else f"there is no extra as in {words[-1]}"


def _of_dask(words: list[str], root: Path) -> str:
    text = subprocess.run([_BIN / "dask", words[0], "--help"], capture_output=True, text=True).stdout
    absent = [word for word in words[1:] if word.startswith("--") and word not in text]
    return f"dask {words[0]} has no {absent}" if absent or not text else ""


def _of_apt(words: list[str], root: Path) -> str:
    return "" if words[0] == "install" and len(words) > 1 else "apt-get must install something"


_PARSERS: dict[str, Callable[[list[str], Path], str]] = {
    "warpfile": _of_warpfile,
    "python": _of_python,
    "make": _of_make,
    "pip": _of_pip,
    "dask": _of_dask,
    "apt-get": _of_apt,
}
