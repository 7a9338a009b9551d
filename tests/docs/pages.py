"""Code blocks of README, docs and examples, and the commands in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"\s*```(\w*)")
_INDENT = " " * 4
_PYTHON = re.compile(r"(import|from) \w")
_COMMAND = re.compile(
    r"(?:\$ )?(?:\.venv/bin/)?"
    r"((?:warpfile|python3?|make|pip|pytest|apt-get|apt|git|fusesoc|dask|eval|yosys|verilator|iverilog|sta|nvdisasm|nvcc)"
    r" [^/\s].*)"
)


@dataclass(frozen=True)
class Block:
    """Lines of code on a page; ``language`` is that of the fence, ``python`` where an indented block looks like it."""

    page: str
    line: int
    language: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        """The lines as a source."""
        return "\n".join(self.lines) + "\n"

    @property
    def commands(self) -> Iterator[str]:
        """What a reader types into a shell, without remarks behind it."""
        if self.language in ("", "sh", "bash", "console"):
            for line in self.lines:
                if found := _COMMAND.fullmatch(line.strip()):
                    yield re.sub(r"\s+#.*", "", found[1]).strip()


def pages(root: Path) -> list[Path]:
    """All that people read."""
    folders = (root / name for name in ("docs", "examples", "integrations"))
    return [root / "README.md", *(path for folder in folders for path in sorted(folder.rglob("*.md")))]


def blocks(root: Path) -> list[Block]:
    """The code blocks of all pages."""
    return [block for path in pages(root) for block in of_page(str(path.relative_to(root)), path.read_text())]


def of_page(page: str, text: str) -> Iterator[Block]:
    """Fenced blocks, and indented ones behind an empty line."""
    found: list[str] = []
    language: str | None = None
    empty = True
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fence = _FENCE.match(line)
        if fence or (language is None and found and line and not line.startswith(_INDENT)):
            if found:
                yield _block(page, number - len(found), language, found)
            found = []
        if fence:
            language = None if language is not None else fence[1]
        elif language is not None or (line.startswith(_INDENT) and (found or empty)) or (found and not line):
            found.append(line)
        empty = not line
    if found:
        yield _block(page, number - len(found), language, found)


def _block(page: str, line: int, language: str | None, lines: list[str]) -> Block:
    if language is None:
        lines = [one.removeprefix(_INDENT) for one in lines]
        language = "python" if _PYTHON.match(lines[0]) else ""
    return Block(page, line, language, tuple(lines))
