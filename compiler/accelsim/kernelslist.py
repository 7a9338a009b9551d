"""Which kernel files belong to a trace directory, and how they are opened."""

from __future__ import annotations

import lzma
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import TextIO

from warpfile.compiler.accelsim.errors import AccelsimError
from warpfile.spec.reading import check_input, read_input

LIST = "kernelslist.g"
_LARGEST_LIST = 1 << 26  #: bytes
_LARGEST = 1 << 40
_LONGEST_LINE = 1 << 16
_MOST_BLANKS = 1000


def kernel_files(place: Path) -> tuple[Path, ...]:
    """Files of all launches in launch order; a single trace file stands for itself.

    Lines of the list that are no kernel (memory copies) are passed over. Raises :class:`AccelsimError`.
    """
    if place.is_file():
        return (_readable(place, place, 0),)
    listing = place / LIST
    if not listing.is_file():
        hint = "a directory with kernelslist.g, which Accel-Sim's post-traces-processing writes, or a .traceg file"
        raise AccelsimError(place, 0, f"must be {hint}")
    lines = read_input(listing, _LARGEST_LIST).decode("utf-8", errors="replace").splitlines()
    names = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.startswith("kernel")]
    if not names:
        raise AccelsimError(listing, 0, "must name at least one file that starts with 'kernel'")
    for number, name in names:
        if ".." in Path(name).parts:
            raise AccelsimError(listing, number, f"a kernel must be a file in {place}, not {name[:80]!r}")
    return tuple(_readable(place / name, listing, number) for number, name in names)


def _readable(path: Path, source: Path, line: int) -> Path:
    """The file itself or its compressed twin."""
    packed = path.with_name(f"{path.name}.xz")
    if not path.name.endswith((".traceg", ".xz")):
        raise AccelsimError(source, line, f"a kernel must be a .traceg or .traceg.xz file, not {path.name!r}")
    for candidate in (path, packed):
        if candidate.is_file():
            return candidate
    raise AccelsimError(source, line, f"{path.name} must be in {path.parent}, and is missing")


def read_lines(path: Path) -> Generator[str, None, None]:
    """Lines of a trace file, decompressed where its name says so.

    Raises :class:`AccelsimError` for what is no trace however long it goes on: a line or a run of blanks without end.
    """
    check_input(path, _LARGEST)
    try:
        if path.suffix == ".xz":
            with lzma.open(path, "rt", encoding="utf-8", errors="replace") as stream:
                yield from _lines(path, stream)
        else:
            with path.open(encoding="utf-8", errors="replace") as stream:
                yield from _lines(path, stream)
    except (lzma.LZMAError, EOFError) as error:
        raise AccelsimError(path, 0, f"must be a whole xz file ({error})") from None


def _lines(path: Path, stream: TextIO) -> Generator[str, None, None]:
    blanks = 0
    for number, line in enumerate(iter(partial(stream.readline, _LONGEST_LINE), ""), 1):
        if len(line) >= _LONGEST_LINE:
            raise AccelsimError(path, number, f"a line must have at most {_LONGEST_LINE - 1:,} characters")
        blanks = blanks + 1 if line.isspace() or line.startswith("#") else 0
        if blanks > _MOST_BLANKS:
            raise AccelsimError(path, number, f"at most {_MOST_BLANKS:,} lines without contents may follow each other")
        yield line
