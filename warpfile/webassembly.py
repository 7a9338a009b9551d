"""Programs that are installed as WebAssembly: compiled for this machine once, then loaded and run in any process.

The machine code is kept in the user's folder for such things. It is made under a lock and appears whole; a file that
is damaged is made anew. Where that folder cannot be written, or others can write it, one below the system's folder for
temporary files takes its place: machine code is run only if no other user can have written it.
"""

from __future__ import annotations

import functools
import os
import platform
import stat
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import platformdirs
import wasmtime

from warpfile.once import once
from warpfile.spec.writing import atomic_file

_CHECK_BYTES = 4  #: behind the machine code, which wasmtime does not mind: it checks no more than the end of the file


class WebAssemblyError(RuntimeError):
    """A program cannot be run; the text says why."""


@dataclass(frozen=True)
class Program:
    """A ``file``, which ``version`` names among all others; ``name`` is what people call it.

    ``usually`` says how long its compilation takes.
    """

    name: str
    file: Path
    version: str
    usually: str


@functools.cache
def installed(distribution: str, name: str, usually: str) -> Program:
    """The file ``yosys.wasm`` of an installed distribution, whose package has the same name."""
    package = find_spec(distribution.replace("-", "_"))  # importing Amaranth's would run it
    assert package and package.origin, f"{distribution} is installed with warpfile"
    version = f"{distribution}-{metadata.version(distribution)}"
    return Program(name, Path(package.origin).with_name("yosys.wasm"), version, usually)


def run(
    image: Path,
    arguments: Sequence[str],
    *,
    streams: tuple[Path, Path, Path] | None = None,
    folders: Mapping[str, Path] | None = None,
) -> int:
    """Run a program in this process, in a memory of its own; returns its exit status.

    ``image`` is what :func:`prepare` made of it, and ``arguments`` begin with the name that the program is to have.
    ``streams``: files that it reads and writes instead of the standard input, output and error of this process.
    ``folders``: the part of the file system that it sees, by the names under which it does.
    """
    engine, module = _loaded(image)
    process = wasmtime.WasiConfig()
    process.argv = tuple(arguments)
    if streams:
        process.stdin_file, process.stdout_file, process.stderr_file = map(str, streams)
    else:
        process.inherit_stdin(), process.inherit_stdout(), process.inherit_stderr()
    for name, folder in (folders or {}).items():
        process.preopen_dir(str(folder), name)
    store = wasmtime.Store(engine)
    store.set_wasi(process)
    linker = wasmtime.Linker(engine)
    linker.define_wasi()
    try:
        linker.instantiate(store, module).exports(store)["_start"](store)
    except wasmtime.ExitTrap as end:
        return end.code
    return 0


@functools.cache
def _loaded(image: Path) -> tuple[wasmtime.Engine, wasmtime.Module]:
    engine = _engine()
    return engine, wasmtime.Module.deserialize_file(engine, str(image))


def _engine() -> wasmtime.Engine:
    settings = wasmtime.Config()
    settings.wasm_exceptions = True  # yosys is written with them
    return wasmtime.Engine(settings)


@functools.cache
def prepare(program: Program) -> Path:
    """The file with a program's machine code, which is compiled unless it is there and whole.

    Raises :class:`WebAssemblyError` where there is no folder for it, and ``OSError`` where it cannot be written.
    """
    engine = _engine()
    name = f"{program.version}-wasmtime-{metadata.version('wasmtime')}-{platform.machine()}"

    def find() -> Path | None:
        return next((path for folder in _folders() if _sound(path := folder / name, engine)), None)

    def make() -> Path:
        image = wasmtime.Module(engine, program.file.read_bytes()).serialize()
        with atomic_file(folder / name) as partial, partial.open("wb") as stream:
            stream.write(image)
            stream.write(zlib.crc32(image).to_bytes(_CHECK_BYTES))
        return folder / name

    if (found := find()) is not None:
        return found
    folder = next((folder for folder in _folders() if os.access(folder, os.W_OK)), None)
    if folder is None:
        raise WebAssemblyError(f"there is no folder to keep {program.name} in: set XDG_CACHE_HOME to one that is yours")
    return once(folder / f"{name}.lock", f"compiling {program.name} for this machine", program.usually, find, make)


def _folders() -> Iterator[Path]:
    """Where machine code may lie: folders of this user that no other user can write."""
    temporary = Path(tempfile.gettempdir()) / f"warpfile-{os.getuid()}"
    for folder in (platformdirs.user_cache_path("warpfile", appauthor=False), temporary):
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = folder.lstat()
        except OSError:
            continue
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022:
            yield folder


def _sound(path: Path, engine: wasmtime.Engine) -> bool:
    """Whether a file is what was written, and code for this processor."""
    try:
        wasmtime.Module.deserialize_file(engine, str(path))
        content = path.read_bytes()
    except (OSError, wasmtime.WasmtimeError):
        return False
    return zlib.crc32(memoryview(content)[:-_CHECK_BYTES]).to_bytes(_CHECK_BYTES) == content[-_CHECK_BYTES:]
