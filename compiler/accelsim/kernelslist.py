"""Which trace files belong to a list of kernels or a folder with one."""

from __future__ import annotations

import re
from pathlib import Path

from warpfile.compiler.accelsim.errors import AccelsimError
from warpfile.spec.reading import read_input

LIST = "kernelslist"
PROCESSED = ".g"  #: end of the names of lists that Accel-Sim's post-processing writes
PACKINGS = (".xz", ".gz")
_TRACE = re.compile(r".*\.(tracez|traceg?(\.xz|\.gz)?)")
_LARGEST_LIST = 1 << 26  #: bytes


def kernel_files(place: Path) -> tuple[Path, ...]:
    """Files of all launches in launch order; a single trace file stands for itself.

    Lines of the list that are no kernel (memory copies) are passed over. Raises :class:`AccelsimError`.
    """
    if place.is_file() and not place.name.startswith(LIST):
        return (_readable(place, place, 0),)
    listing = place if place.is_file() else _listing(place)
    lines = read_input(listing, _LARGEST_LIST).decode("utf-8", errors="replace").splitlines()
    names = [(number, line.strip()) for number, line in enumerate(lines, 1) if line.startswith("kernel")]
    if not names:
        raise AccelsimError(listing, 0, "must name at least one file that starts with 'kernel'")
    for number, name in names:
        if ".." in Path(name).parts:
            raise AccelsimError(listing, number, f"a kernel must be a file in {listing.parent}, not {name[:80]!r}")
    return tuple(_readable(listing.parent / name, listing, number) for number, name in names)


def _listing(folder: Path) -> Path:
    """The list of a folder: of the first context, processed rather than not."""
    lists = sorted(path for path in folder.glob(f"{LIST}*") if path.is_file())
    processed = [path for path in lists if path.suffix == PROCESSED]
    main = [path for path in lists if path.name == f"{LIST}{PROCESSED}"]
    found = main or processed or lists
    if not found:
        rule = f"a directory with {LIST}{PROCESSED} or the tracer's own {LIST}, such a list, or a trace file"
        raise AccelsimError(folder, 0, f"must be {rule}")
    if len(found) > 1:
        names = ", ".join(path.name for path in found[:8])
        raise AccelsimError(folder, 0, f"must have one list of kernels; name one of its {len(found)}: {names}")
    return found[0]


def _readable(path: Path, source: Path, line: int) -> Path:
    """The file itself or its compressed twin."""
    if not _TRACE.fullmatch(path.name):
        rule = f"a .tracez file, or a .traceg or .trace file that is plain or ends in {' or '.join(PACKINGS)}"
        raise AccelsimError(source, line, f"a kernel must be {rule}, not {path.name[:80]!r}")
    for candidate in (path, *(path.with_name(path.name + packing) for packing in PACKINGS)):
        if candidate.is_file():
            return candidate
    raise AccelsimError(source, line, f"{path.name} must be in {path.parent}, and is missing")
