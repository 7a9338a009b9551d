"""``python -m tests.compiler.corpus.build [NAME]...``: compile the corpus, or these sources, anew; needs nvcc 13.0.

The first line of a source names the GPUs that it is for. ``cubins.tar.xz`` has each of them twice, as
``sm_90/redux-O3.cubin`` and with ``-O1``; an ``a`` behind a GPU's number asks for what others of its kind do not have.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warpfile.kernels.packed import pack, unpacked
from warpfile.kernels.toolkit import find_tool, run_tool

FOLDER = Path(__file__).resolve().parent
ARCHIVE = FOLDER / "cubins.tar.xz"
LEVELS = ("O1", "O3")


def machines(source: Path) -> list[str]:
    """GPUs that a source is for, as nvcc names them."""
    return re.findall(r"sm_\d+a?", source.read_text(encoding="utf-8").partition("\n")[0])


def member(source: Path, machine: str, level: str) -> str:
    """Name of a cubin in the archive."""
    return f"{machine.rstrip('a')}/{source.stem}-{level}.cubin"


def main(chosen: Sequence[str]) -> None:
    """Compile and pack."""
    cubins = dict(unpacked(ARCHIVE)) if chosen else {}
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "kernel.cubin"
        for source in [FOLDER / f"{name}.cu" for name in chosen] or sorted(FOLDER.glob("*.cu")):
            for machine in machines(source):
                for level in LEVELS:
                    options = [f"-arch={machine}", "-std=c++17", "-Xptxas", f"-{level}", "-cubin", "-o", str(cubin)]
                    run_tool([str(find_tool("nvcc")), *options, source.name], FOLDER)
                    cubins[member(source, machine, level)] = cubin.read_bytes()
    pack(cubins, ARCHIVE)
    print(f"{len(cubins)} cubins, {ARCHIVE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
