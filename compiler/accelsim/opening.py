"""Lines of trace files: plain, compressed, or in pieces with an index."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Generator, Iterator
from functools import partial
from pathlib import Path
from typing import TextIO, cast

from warpfile.compiler.accelsim.errors import AccelsimError
from warpfile.compiler.accelsim.tracez import text_lines
from warpfile.spec.reading import check_input

_LARGEST = 1 << 40
_LONGEST_LINE = 1 << 22
_MOST_BLANKS = 1000
_DAMAGED = (lzma.LZMAError, EOFError, gzip.BadGzipFile, zlib.error)


def read_lines(path: Path) -> Generator[str, None, None]:
    """Lines of a trace file, decompressed where its name says so.

    Raises :class:`AccelsimError` for what is no trace however long it goes on: a line or a run of blanks without end.
    """
    check_input(path, _LARGEST)
    if path.suffix == ".tracez":
        with path.open("rb") as packed:
            yield from _checked(path, text_lines(path, packed))
        return
    try:
        with _opened(path) as stream:
            yield from _checked(path, iter(partial(stream.readline, _LONGEST_LINE), ""))
    except _DAMAGED as error:
        raise AccelsimError(path, 0, f"must be a whole {path.suffix[1:]} file ({error})") from None


def is_grouped(path: Path) -> bool:
    """Whether a file is grouped by CTA and warp; the tracer's own are not."""
    return ".trace" not in path.suffixes


def _opened(path: Path) -> TextIO:
    if path.suffix == ".xz":
        return cast(TextIO, lzma.open(path, "rt", encoding="utf-8", errors="replace"))
    if path.suffix == ".gz":
        return cast(TextIO, gzip.open(path, "rt", encoding="utf-8", errors="replace"))
    return path.open(encoding="utf-8", errors="replace")


def _checked(path: Path, lines: Iterator[str]) -> Iterator[str]:
    blanks = 0
    for number, line in enumerate(lines, 1):
        if len(line) >= _LONGEST_LINE:
            raise AccelsimError(path, number, f"a line must have at most {_LONGEST_LINE - 1:,} characters")
        blanks = blanks + 1 if line.isspace() or line.startswith("#") else 0
        if blanks > _MOST_BLANKS:
            raise AccelsimError(path, number, f"at most {_MOST_BLANKS:,} lines without contents may follow each other")
        yield line
