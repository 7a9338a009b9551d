"""From the KERNEL of a command line to a trace."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from warpfile import kernels
from warpfile.output.difference import Difference
from warpfile.output.display import Report
from warpfile.schemes.fingerprint import fingerprint
from warpfile.spec.suggestions import suggestion
from warpfile.spec.trace import Trace

if TYPE_CHECKING:
    from warpfile.compiler import Listing
    from warpfile.emulator.run import Result

TRACES = Path("build") / "traces"  #: traces of bundled kernels, by a hash of all they depend on
_GENERATORS = ("spec", "compiler", "emulator")
FILES = ("launch", "large")
SETTINGS = (*FILES, "steady")  #: the last one: the larger of them, again and again, until no machine is ever half empty
STEADY_WARPS = 8 * 64  #: eight waves of the largest SM


class KernelError(ValueError):
    """A KERNEL that is neither a bundled kernel nor a kernel directory nor a trace."""


def bundled_kernels() -> dict[str, Path]:
    """Directories of the kernels that come with the project, by name."""

    root = Path(kernels.__file__).resolve().parent
    return {path.parent.name: path.parent for path in sorted(root.glob("*/kernel.sass"))}


def kernel_directory(kernel: str) -> Path:
    """Directory of a bundled kernel or the directory itself. Raises :class:`KernelError`."""
    bundled = bundled_kernels()
    if kernel in bundled:
        return bundled[kernel]
    if Path(kernel).is_dir():
        return Path(kernel)
    raise KernelError(
        "KERNEL must be a bundled kernel ('warpfile kernels' lists them), a kernel directory or a .npz trace, not"
        f" {kernel!r}{suggestion(kernel, bundled)}"
    )


def listing_file(listing: str) -> Path:
    """The listing of a bundled kernel or of a kernel directory, or the file itself."""
    path = bundled_kernels().get(listing, Path(listing))
    return path / "kernel.sass" if path.is_dir() else path


def spelled(folder: Path) -> str:
    """A kernel directory as a KERNEL of a command line, which no bundled kernel hides."""
    return f"./{folder}" if str(folder) in bundled_kernels() else str(folder)


def obtain_trace(kernel: str, setting: str, limit: int | None, report: Report) -> Trace:
    """Load a trace file, or execute a kernel whose expectations must hold.

    Traces of bundled kernels are kept under ``build/traces``. Raises ``ValueError`` for a wrong input and
    :class:`Difference` for a failed expectation.
    """
    if kernel.endswith(".npz"):
        return Trace.load(Path(kernel))
    directory = kernel_directory(kernel)
    kept = TRACES / f"{kernel}-{fingerprint_of(directory, setting)}.npz" if kernel in bundled_kernels() else None
    if kept and kept.exists() and limit is None:
        return Trace.load(kept)
    trace = executed(directory, setting, limit, report)
    if kept:
        trace.save(kept)
    return trace


def contents(kernel: str, setting: str) -> str:
    """Hash of a trace, or of the files of a kernel directory and the code that executes it; empty for a bundled kernel.

    Raises :class:`KernelError`, and errors of the operating system.
    """
    if kernel.endswith(".npz"):
        return hashlib.sha256(Path(kernel).read_bytes()).hexdigest()[:16]
    return "" if kernel in bundled_kernels() else fingerprint_of(kernel_directory(kernel), setting)


def executed(
    directory: Path, setting: str, limit: int | None, report: Report, architecture: int | None = None
) -> Trace:
    """Trace of a kernel directory whose expectations must hold; with an architecture of its code for that GPU."""
    result = execute_kernel(directory, setting, limit, report, architecture)
    failed = [expectation for expectation in result.expectations if not expectation.ok]
    if failed:
        raise Difference(f"{directory}: buffers are not what they must be: {'; '.join(one.report for one in failed)}")
    return result.trace


def execute_kernel(
    directory: Path, setting: str, limit: int | None, report: Report, architecture: int | None = None
) -> Result:
    """The emulator's result for a kernel directory; with an architecture for its code for that GPU."""
    from warpfile.emulator.launch import load_kernel
    from warpfile.emulator.run import execute

    if setting not in SETTINGS:
        raise KernelError(f"--setting must be one of {', '.join(SETTINGS)}, not {setting!r}")
    listing = None if architecture is None else listed(directory, architecture, report)
    if setting != "steady":
        launch, repeats = load_kernel(directory, setting, listing), 1
    else:
        launch = load_kernel(directory, "large" if (directory / "large.toml").is_file() else "launch", listing)
        repeats = -(-STEADY_WARPS // launch.warps)
    return execute(launch, limit, lambda done, total: report("execute", done, total), repeats)


def listed(directory: Path, architecture: int, report: Report) -> Listing:
    """Listing of a kernel for a GPU: that of the project's cubin, or else of its ``kernel.cu`` compiled anew."""
    from warpfile.kernels.packed import bundled_cubin, member
    from warpfile.workloads.cuda import compiled, disassembled

    cubin = bundled_cubin(directory.name, architecture) if directory in bundled_kernels().values() else None
    if cubin is not None:
        report("disassemble")
        return disassembled(cubin, f"listing of {member(directory.name, architecture)}")
    source = directory / "kernel.cu"
    if not source.is_file():
        raise KernelError(f"--arch compiles a kernel anew: {source} must be there")
    return compiled(source, architecture, report)


def fingerprint_of(directory: Path, setting: str) -> str:
    """Hash of the kernel's files and of the code that turns them into a trace."""
    digest = hashlib.sha256(f"{setting}/{_code_hash()}".encode())
    for path in sorted(directory.iterdir()):
        if path.suffix in (".sass", ".toml", ".npy"):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _code_hash() -> str:
    return fingerprint(_GENERATORS, (), ("numpy",))


def summary(directory: Path) -> dict[str, str | None]:
    """Launches of a bundled kernel as text for lists; None for a setting it does not have."""
    facts: dict[str, str | None] = {}
    for setting in FILES:
        path = directory / f"{setting}.toml"
        table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        for key in ("grid", "block"):
            name = key if setting == "launch" else f"{setting}_{key}"
            facts[name] = "x".join(map(str, table[key])) if key in table else None
        if "args" in table:
            facts["arguments"] = ", ".join(argument["name"] for argument in table["args"])
    return facts
