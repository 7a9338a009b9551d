"""Rebuild the cubins and the listing of bundled kernels with NVIDIA's tools (maintainers only).

    python -m warpfile.kernels.build [NAME]...

needs ``nvcc`` (CUDA 13.0) and ``nvdisasm``, wherever ``warpfile.kernels.toolkit`` finds them.
"""

import re
import sys
import tempfile
from pathlib import Path

from warpfile.kernels.packed import BUNDLED, member, pack, unpacked
from warpfile.kernels.toolkit import ToolError, find_tool, run_tool

KERNELS = Path(__file__).resolve().parent
TARGET = 75
OTHERS = (80, 86, 89, 90, 100, 120)  #: their cubins are in one archive
LISTING_LIMIT = 300_000  # characters; a larger listing goes without the data sections
HIDDEN = re.compile(r"\bFSEL [^;]*QNAN")  # literals whose bits only the encoding tells


def build(directory: Path) -> None:
    """Compile ``kernel.cu`` of one kernel directory and disassemble the result."""
    (directory / "kernel.cubin").write_bytes(compiled(directory / "kernel.cu", TARGET))
    (directory / "kernel.sass").write_text(listing(str(find_tool("nvdisasm")), directory))


def compiled(source: Path, architecture: int, *options: str) -> bytes:
    """Cubin of a CUDA file, 90 for sm_90, without any path of this machine."""
    with tempfile.TemporaryDirectory(prefix="warpfile-") as name:
        cubin = Path(name) / "kernel.cubin"
        command = [str(find_tool("nvcc")), f"-arch=sm_{architecture}", "-O3", *options, "-cubin", "-o", str(cubin)]
        run_tool([*command, source.name], source.parent)
        return cubin.read_bytes()


def ptx(source: Path, architecture: int) -> str:
    """PTX of a CUDA file, 75 for sm_75. Raises :class:`ToolError`."""
    with tempfile.TemporaryDirectory(prefix="warpfile-") as name:
        place = Path(name) / "kernel.ptx"
        command = [str(find_tool("nvcc")), f"-arch=sm_{architecture}", "-O3", "-ptx", "-o", str(place)]
        run_tool([*command, source.name], source.parent)
        return place.read_text()


def listing(nvdisasm: str, directory: Path) -> str:
    """The listing of ``kernel.cubin``: with data sections unless it is large, with encodings where they are needed."""
    text = run_tool([nvdisasm, "kernel.cubin"], directory)
    options = ["-c"] if len(text) > LISTING_LIMIT else []
    options += ["-hex"] if HIDDEN.search(text) else []
    return run_tool([nvdisasm, *options, "kernel.cubin"], directory) if options else text


def main(names: list[str]) -> int:
    """Build the named kernels, or all of them; the exit status of the command."""
    try:
        found = dict(unpacked(BUNDLED)) if names else {}
        for name in names or sorted(path.parent.name for path in KERNELS.glob("*/kernel.cu")):
            if not (KERNELS / name / "kernel.cu").is_file():
                raise ToolError(f"kernel must be a directory with a kernel.cu, not {name!r}")
            build(KERNELS / name)
            found |= {member(name, one): compiled(KERNELS / name / "kernel.cu", one) for one in OTHERS}
            print(f"built {name}")
        pack(found, BUNDLED)
    except ToolError as error:
        print(f"kernels.build: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
