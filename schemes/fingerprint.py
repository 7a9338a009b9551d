"""What generated text and recorded runs depend on, as a hash: the key of everything that is kept on disk."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from warpfile.schemes.part import Part

#: Folders of this package; their files decide together with the packages of foreign parts.
_ROOT = Path(__file__).resolve().parent.parent
_OWN = "warpfile"


def fingerprint(folders: Iterable[str], packages: Iterable[tuple[str, Path]], tools: Iterable[str]) -> str:
    """Hash of all files in folders of this repository and in other packages (:func:`other_packages`), and of versions.

    ``tools`` are names of installed distributions; Python's version always counts.
    """
    digest = hashlib.sha256(f"Python {platform.python_version()}".encode())
    for tool in tools:
        digest.update(f"\0{tool} {version(tool)}".encode())
    for name in folders:
        _add(digest, name, _ROOT / name)
    for name, place in sorted(packages):
        _add(digest, name, place)
    return digest.hexdigest()


def other_packages(parts: Iterable[Part]) -> set[tuple[str, Path]]:
    """Name and place of every other package that a part comes from: the whole of it, with all that lies beside it."""
    names = {module.partition(".")[0] for part in parts for module in part.modules} - {_OWN}
    return {(name, place) for name in names for place in _places(name)}


def _places(name: str) -> Iterator[Path]:
    spec = find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"no package {name}")
    if spec.submodule_search_locations:
        yield from map(Path, spec.submodule_search_locations)
    elif spec.origin:
        yield Path(spec.origin)


def _add(digest: hashlib._Hash, name: str, place: Path) -> None:
    paths = sorted(path for path in place.rglob("*") if path.is_file()) if place.is_dir() else [place]
    for path in paths:
        if "__pycache__" not in path.parts:
            digest.update(f"\0{name}/{path.relative_to(place)}\0".encode() + path.read_bytes())
