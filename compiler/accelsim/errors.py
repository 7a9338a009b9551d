"""The error of everything that reads Accel-Sim files."""

from __future__ import annotations

from pathlib import Path


class AccelsimError(ValueError):
    """A file that cannot be imported; the message names the file, the line where there is one, and what is right."""

    def __init__(self, path: Path, line: int, problem: str) -> None:
        place = f"{path}, line {line}" if line else str(path)
        super().__init__(f"{place}: {problem}")
        self.path = path
        self.line = line
        self.problem = problem
