"""NVIDIA's tools: where they are, and what they say when they refuse an input."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from warpfile import tools

_ERROR = re.compile(r"\b(error|fatal)\b", re.IGNORECASE)


class ToolError(ValueError):
    """A tool is missing, or refused its input."""


def find_tool(name: str) -> Path:
    """Path of ``nvcc`` or ``nvdisasm``. Raises :class:`ToolError` where it is missing."""
    found = tools.find(name)
    if found is None:
        raise ToolError(tools.missing(name))
    return Path(found)


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
