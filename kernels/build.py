"""Rebuild the cubin and the listing of bundled kernels with NVIDIA's tools (maintainers only).

    python -m warpfile.kernels.build [NAME]...

needs ``nvcc`` (CUDA 13.0) and ``nvdisasm``, wherever ``warpfile.kernels.toolkit`` finds them.
"""

import re
import sys
from pathlib import Path

from warpfile.kernels.toolkit import ToolError, find_tool, run_tool

KERNELS = Path(__file__).resolve().parent
ARCHITECTURE = "sm_75"
LISTING_LIMIT = 300_000  # characters; a larger listing goes without the data sections
HIDDEN = re.compile(r"\bFSEL [^;]*QNAN")  # literals whose bits only the encoding tells


def build(directory: Path) -> None:
    """Compile ``kernel.cu`` of one kernel directory and disassemble the result."""
    nvcc, nvdisasm = str(find_tool("nvcc")), str(find_tool("nvdisasm"))
    run_tool([nvcc, f"-arch={ARCHITECTURE}", "-O3", "-cubin", "-o", "kernel.cubin", "kernel.cu"], directory)
    (directory / "kernel.sass").write_text(listing(nvdisasm, directory))


def listing(nvdisasm: str, directory: Path) -> str:
    """The listing of ``kernel.cubin``: with data sections unless it is large, with encodings where they are needed."""
    text = run_tool([nvdisasm, "kernel.cubin"], directory)
    options = ["-c"] if len(text) > LISTING_LIMIT else []
    options += ["-hex"] if HIDDEN.search(text) else []
    return run_tool([nvdisasm, *options, "kernel.cubin"], directory) if options else text


def main(names: list[str]) -> int:
    """Build the named kernels, or all of them; the exit status of the command."""
    try:
        for name in names or sorted(path.parent.name for path in KERNELS.glob("*/kernel.cu")):
            if not (KERNELS / name / "kernel.cu").is_file():
                raise ToolError(f"kernel must be a directory with a kernel.cu, not {name!r}")
            build(KERNELS / name)
            print(f"built {name}")
    except ToolError as error:
        print(f"kernels.build: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
