"""Compiled golden models: modules that stand in for their Python source as long as they were compiled from it.

``python -m warpfile.compile`` writes them to :func:`home`, in a folder whose name is a key: a hash of all that
decides what they do. An import of one of these modules gets it from the folder whose key is that of the sources as
they are now, and from the source where there is none: an edit runs at once, as Python. ``WARPFILE_COMPILED=0`` turns it
off.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

#: Packages with compiled modules. A change in any of them makes all compiled code stale.
PACKAGES = ("golden", "sim", "spec")
#: Name of what all compiled modules share.
LIBRARY = "warpfile__mypyc"
VARIABLE = "WARPFILE_COMPILED"

_HERE = Path(__file__).resolve().parent
_OWN = tuple(f"warpfile.{package}." for package in PACKAGES)


def folders() -> dict[str, Path]:
    """Where the packages are; in the repository these are links."""
    return {name: (_HERE / name).resolve() for name in PACKAGES}


def home() -> Path:
    """Where compiled modules are kept; of an installed package, which may be read-only, in the user's cache."""
    if (_HERE.parent / "pyproject.toml").is_file():
        return _HERE.parent / "build" / "compiled"
    cache = os.environ.get("XDG_CACHE_HOME") or Path(os.environ.get("HOME") or "/", ".cache")
    return Path(cache, "warpfile", "compiled", hashlib.sha256(os.fsencode(_HERE)).hexdigest()[:16])


def key(packages: Mapping[str, Path]) -> str:
    """Hash of the sources of some packages, of what compiles them, and of the Python that they are compiled for."""
    digest = hashlib.sha256(f"{sys.version} {sysconfig.get_config_var('EXT_SUFFIX')} {_mypy()}".encode())
    for path in (_HERE / "compiled.py", _HERE / "compile.py"):
        digest.update(path.read_bytes())
    for name, folder in packages.items():
        for path in sorted(folder.rglob("*.py")):
            digest.update(f"\0{name}/{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:32]


def _mypy() -> str:
    from importlib import metadata  # half of what a short simulation takes to start

    try:
        return metadata.version("mypy")
    except metadata.PackageNotFoundError:
        return "no mypy"


class Finder:
    """Finds compiled modules; which there are is decided once, when the first one is asked for."""

    def __init__(self) -> None:
        self._places: dict[str, Path] | None = None

    @property
    def places(self) -> Mapping[str, Path]:
        """Files of the compiled modules by name, none if what was compiled are other sources."""
        if self._places is None:
            self._places = {} if os.environ.get(VARIABLE) == "0" else _modules(_used(home() / key(folders())))
        return self._places

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See :class:`importlib.abc.MetaPathFinder`."""
        if name != LIBRARY and not name.startswith(_OWN):
            return None
        place = self.places.get(name)
        return spec_from_file_location(name, place) if place else None


def _modules(folder: Path) -> dict[str, Path]:
    """Every file is named as its module, with the suffix of extensions."""
    suffix = str(sysconfig.get_config_var("EXT_SUFFIX"))
    return {path.name.removesuffix(suffix): path for path in folder.glob(f"*{suffix}")}


def _used(folder: Path) -> Path:
    """The folder, which no process removes while this one lives: modules are loaded one by one."""
    with contextlib.suppress(OSError):
        fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_SH)
    return folder


def unused(folder: Path) -> int | None:
    """A file descriptor that keeps other processes from the folder until it is closed; None if one uses it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


FINDER = Finder()


def install() -> None:
    """Prefer compiled modules from now on."""
    if FINDER not in sys.meta_path:
        sys.meta_path.insert(0, FINDER)


def form() -> str:
    """How the golden models run in this process, for people."""
    if FINDER.places:
        return f"compiled, with mypy {_mypy()}"
    if os.environ.get(VARIABLE) == "0":
        return f"plain Python, because of {VARIABLE}=0"
    return "plain Python, because these sources were not compiled (python -m warpfile.compile)"
