"""Rebuild the cubin and the listing of bundled kernels with NVIDIA's tools (maintainers only).

    python -m warpfile.kernels.build [NAME]...

needs ``nvcc`` (CUDA 13.0) on PATH, and ``nvdisasm`` on PATH or from the wheel ``nvidia-cuda-nvdisasm``.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

KERNELS = Path(__file__).resolve().parent
ARCHITECTURE = "sm_75"
LISTING_LIMIT = 300_000  # characters; a larger listing goes without the data sections
HIDDEN = re.compile(r"\bFSEL [^;]*QNAN")  # literals whose bits only the encoding tells


class BuildError(Exception):
    """A tool is missing, a kernel is unknown, or a tool refused its input."""


def find_tool(name: str) -> Path:
    """Path of an NVIDIA tool, looked for on PATH and then among the installed wheels."""
    found = shutil.which(name)
    if found:
        return Path(found)
    wheels = Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    for candidate in sorted(wheels.glob(f"**/bin/{name}")):
        return candidate
    raise BuildError(f"{name} not found: put it on PATH, or install the wheel nvidia-cuda-{name}")


def run_tool(command: list[str], directory: Path) -> str:
    """Standard output of a command run in ``directory``, so that no path of this machine enters its output."""
    done = subprocess.run(command, check=False, cwd=directory, capture_output=True, text=True)
    if done.returncode != 0:
        complaint = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise BuildError(f"{Path(command[0]).name} failed in {directory.name}: {complaint[0]}")
    return done.stdout


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
                raise BuildError(f"kernel must be a directory with a kernel.cu, not {name!r}")
            build(KERNELS / name)
            print(f"built {name}")
    except BuildError as error:
        print(f"kernels.build: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
