"""Run commands as on a fresh machine: ``python3 -m tests.fresh [--with TOOL]... [--keep FOLDER] [COMMAND]...``

Commands run in a clean clone of HEAD, one after the other as long as they succeed, with an empty HOME, without caches,
and without the optional tools of ``warpfile.tools`` on PATH. Libraries, headers and a CUDA toolkit of the system stay.
Each command is one argument, in which the shell splits words; without any they are ``make demo`` and ``make test``. The
exit status is that of the command that failed, 2 where none could run. The seconds of each are printed at the end.

It needs the standard library only, so that it runs before anything is installed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from warpfile.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = ("make demo", "make test")
#: What is passed on: how pip reaches packages, and what numerical libraries must know of this machine.
PASSED = ("PIP_", "OPENBLAS_", "SSL_CERT_", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
PROXIES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")


def hidden(visible: Set[str]) -> set[str]:
    """Names of programs that a machine without optional tools, but for some, does not have."""
    programs = {program for tool in TOOLS.values() for program in tool.programs}
    programs.add("python")  # what Debian calls python3
    return programs - {program for name in visible for program in TOOLS[name].programs}


def fill(folder: Path, without: Set[str], path: str) -> None:
    """Link the programs of a PATH into a folder, but for those of virtual environments.

    Python is the one that runs this, whatever stands between it and its name on PATH.
    """
    folder.mkdir()
    base = Path(getattr(sys, "_base_executable", sys.executable))
    (folder / "python3").symlink_to(base)
    for place in map(Path, path.split(os.pathsep)):
        if not place.is_dir() or (place.parent / "pyvenv.cfg").exists():
            continue
        for program in place.iterdir():
            link = folder / program.name
            if program.name in without or link.is_symlink() or not os.access(program, os.X_OK):
                continue
            if program.resolve().name != "ccache":  # under the name of a compiler
                link.symlink_to(program.absolute())


def environment(root: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """All that a command knows: its folders, a language, and what is passed on."""
    names = {key for key in variables if key.startswith(PASSED) or key.lower() in PROXIES} - {"PIP_CACHE_DIR"}
    passed = {name: variables[name] for name in names}
    folders = {"HOME": str(root / "home"), "PATH": str(root / "bin"), "TMPDIR": str(root / "tmp")}
    return {"LANG": "C.UTF-8", "TERM": "dumb", **passed, **folders}


def clone(repository: Path, folder: Path) -> None:
    """A clone with what is committed, checked out at the HEAD of a working tree."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    head = git("-C", str(repository), "rev-parse", "HEAD")
    git("clone", "--quiet", "--no-checkout", str(repository), str(folder))
    git("-C", str(folder), "checkout", "--quiet", "--detach", head)


def run(commands: Sequence[str], root: Path, visible: Set[str], repository: Path = ROOT) -> int:
    """Run commands in a new clone under ``root``; the status of the first that fails, or 0."""
    fill(root / "bin", hidden(visible), os.environ.get("PATH", os.defpath))
    for name in ("home", "tmp"):
        (root / name).mkdir()
    clone(repository, root / "clone")
    lines, status = [], 0
    for command in commands:
        start = time.monotonic()
        status = subprocess.run(
            ["/bin/sh", "-c", command], cwd=root / "clone", env=environment(root, os.environ), check=False
        ).returncode
        lines.append(f"{command}: {time.monotonic() - start:.0f} s, exit status {status}")
        if status:
            break
    print("\n".join(["As on a fresh machine:", *lines]), flush=True)
    return status if status >= 0 else 128 - status


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(prog="python3 -m tests.fresh", description=str(__doc__).partition("\n\n")[2])
    parser.add_argument("--with", dest="visible", action="append", default=[], choices=TOOLS, metavar="TOOL")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave everything in this new folder")
    parser.add_argument("commands", nargs="*", default=COMMANDS, metavar="COMMAND")
    given = parser.parse_args(arguments)
    try:
        if given.keep:
            given.keep.mkdir(parents=True)
            return run(given.commands, given.keep.resolve(), set(given.visible))
        with tempfile.TemporaryDirectory(prefix="warpfile-fresh-") as folder:
            return run(given.commands, Path(folder).resolve(), set(given.visible))
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"tests.fresh: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
