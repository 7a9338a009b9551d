"""Which kernel files belong to a trace directory, and how they are opened."""

from __future__ import annotations

import lzma
from collections.abc import Generator
from pathlib import Path

from warpfile.compiler.accelsim.errors import AccelsimError

LIST = "kernelslist.g"


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
    lines = listing.read_text(encoding="utf-8", errors="replace").splitlines()
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
    """Lines of a trace file, decompressed where its name says so."""
    try:
        if path.suffix == ".xz":
            with lzma.open(path, "rt", encoding="utf-8", errors="replace") as stream:
                yield from stream
        else:
            with path.open(encoding="utf-8", errors="replace") as stream:
                yield from stream
    except (lzma.LZMAError, EOFError) as error:
        raise AccelsimError(path, 0, f"must be a whole xz file ({error})") from None
