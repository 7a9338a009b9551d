"""NVIDIA's tools: where they are, and what they say when they refuse an input."""

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

INSTALLED = Path("/usr/local")
_ERROR = re.compile(r"\b(error|fatal)\b", re.IGNORECASE)


class ToolError(ValueError):
    """A tool is missing, or refused its input."""


def find_tool(name: str) -> Path:
    """Path of a tool: on PATH, in CUDA_HOME or CUDA_PATH, in ``/usr/local/cuda*``, or among the installed wheels."""
    found = shutil.which(name)
    if found:
        return Path(found)
    for folder in _folders():
        if os.access(folder / name, os.X_OK):
            return folder / name
    raise ToolError(f"{name} not found: put it on PATH, or install its wheel with 'pip install nvidia-cuda-{name}'")


def _folders() -> Iterator[Path]:
    homes = [Path(os.environ[key]) for key in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(key)]
    for home in (*homes, *sorted(INSTALLED.glob("cuda*"))):
        yield home / "bin"
    yield from sorted((Path(sysconfig.get_paths()["purelib"]) / "nvidia").glob("**/bin"))


def run_tool(command: Sequence[str], directory: Path | None = None) -> str:
    """Standard output of a command run in ``directory``, so that no path of this machine enters its output.

    Raises :class:`ToolError` with the first error of a command that fails.
    """
    done = subprocess.run(command, check=False, cwd=directory, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines() or [f"no message, exit status {done.returncode}"]
        complaint = next((line for line in said if _ERROR.search(line)), said[0])
        raise ToolError(f"{Path(command[0]).name} refuses {command[-1]}: {' '.join(complaint.split())}")
    return done.stdout
