"""Cubins inside of fat binaries: ``.fatbin``, object files, libraries and executables, by NVIDIA's cuobjdump."""

from __future__ import annotations

import re
from pathlib import Path

from warpfile.kernels.toolkit import ToolError, find_tool, run_tool
from warpfile.output.files import file_name

_MEMBER = re.compile(r"^ELF file\s+[0-9]+: (\S+\.sm_([0-9]+)[a-z]?\.cubin)$", re.MULTILINE)
_PTX = re.compile(r"^PTX file\s+[0-9]+: \S+\.(sm_[0-9]+[a-z]?)\.ptx$", re.MULTILINE)


def cubins(source: Path, data: bytes, architecture: int | None, folder: Path) -> list[Path]:
    """Cubins of ``source`` for one architecture (90 for sm_90), written to ``folder``; None where it has only one.

    ``data`` are its contents. cuobjdump makes names of members from the file's, so it sees a copy with a plain name.
    Raises ``ValueError`` for a file without them, one that has several, and one that has none for that architecture.
    """
    program, copy = str(find_tool("cuobjdump")), file_name(source.name)
    (folder / copy).write_bytes(data)
    try:
        listed = run_tool([program, "-lelf", copy], folder)
    except ToolError:
        raise ValueError(f"{source} must be a cubin, or a file with code for GPUs that cuobjdump reads") from None
    found = [(name, int(number)) for name, number in _MEMBER.findall(listed)]
    known = sorted({number for _, number in found})
    if not known:
        ptx = sorted(set(_PTX.findall(run_tool([program, "-lptx", copy], folder))))
        also = f", not only PTX for {', '.join(ptx)}; 'cuobjdump -xptx all' writes .ptx files" if ptx else ""
        raise ValueError(f"{source} must hold machine code{also}")
    if architecture is None and len(known) == 1:
        architecture = known[0]
    if architecture not in known:
        given = "" if architecture is None else f", not sm_{architecture}"
        raise ValueError(f"--arch must be one of {', '.join(f'sm_{one}' for one in known)}, which {source} has{given}")
    names = [name for name, number in found if number == architecture]
    for name in names:
        run_tool([program, "-xelf", name, copy], folder)
    return [folder / name for name in names]
