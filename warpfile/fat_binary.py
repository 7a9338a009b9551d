"""Cubins inside of fat binaries: ``.fatbin``, object files, libraries and executables, by NVIDIA's cuobjdump."""

from __future__ import annotations

import re
from pathlib import Path

from warpfile.kernels.toolkit import find_tool, run_tool

_MEMBER = re.compile(r"^ELF file\s+[0-9]+: (\S+\.sm_([0-9]+)[a-z]?\.cubin)$", re.MULTILINE)
_PTX = re.compile(r"^PTX file\s+[0-9]+: \S+\.(sm_[0-9]+[a-z]?)\.ptx$", re.MULTILINE)


def cubins(source: Path, architecture: int | None, folder: Path) -> list[Path]:
    """Cubins of ``source`` for one architecture (90 for sm_90), written to ``folder``; None where it has only one.

    Raises ``ValueError`` for a file without them, one that has several, and one that has none for that architecture.
    """
    program, place = str(find_tool("cuobjdump")), str(source.resolve())
    found = [(name, int(number)) for name, number in _MEMBER.findall(run_tool([program, "-lelf", place]))]
    known = sorted({number for _, number in found})
    if not known:
        ptx = sorted(set(_PTX.findall(run_tool([program, "-lptx", place]))))
        also = f", not only PTX for {', '.join(ptx)}; 'cuobjdump -xptx all' writes .ptx files" if ptx else ""
        raise ValueError(f"{source} must hold machine code{also}")
    if architecture is None and len(known) == 1:
        architecture = known[0]
    if architecture not in known:
        given = "" if architecture is None else f", not sm_{architecture}"
        raise ValueError(f"--arch must be one of {', '.join(f'sm_{one}' for one in known)}, which {source} has{given}")
    names = [name for name, number in found if number == architecture]
    for name in names:
        run_tool([program, "-xelf", name, place], folder)
    return [folder / name for name in names]
