"""Files that appear whole or not at all."""

from __future__ import annotations

import io
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path

import numpy as np

from warpfile.spec.writing import atomic_file

_LONGEST_NAME = 120


def file_name(name: str) -> str:
    """A name from an input as the stem of a file in the current folder: never a path, a hidden file or an option."""
    return re.sub("[^A-Za-z0-9_.-]+", "_", name).lstrip(".-")[:_LONGEST_NAME] or "kernel"


def write_files(texts: Mapping[Path, str | bytes | Iterable[str]]) -> None:
    """Write all files, or none: each is first written beside its place and renamed when all are complete."""
    with ExitStack() as partials:
        for path, text in texts.items():
            if path.is_dir():
                raise IsADirectoryError(f"{path} must be a file, not a directory")
            partial = partials.enter_context(atomic_file(path))
            if isinstance(text, bytes):
                partial.write_bytes(text)
            elif isinstance(text, str):
                partial.write_text(text, encoding="utf-8")
            else:
                with partial.open("w", encoding="utf-8") as stream:
                    stream.writelines(text)


def check_folder(path: Path) -> None:
    """Refuse a folder that cannot be made because a file is in its way, before long work is done for it."""
    there = next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())
    if not there.is_dir():
        raise NotADirectoryError(f"{path} must be a folder, but {there} is a file")


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to write to, which has the name ``path`` when all is done; nothing stays of one that is not.

    Raises ``FileExistsError`` where something of that name is already there, except for an empty folder.
    """
    if path.exists() and not (path.is_dir() and not any(path.iterdir())):
        raise FileExistsError(f"{path} must be a new or an empty folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as name:
        built = Path(name) / "built"
        built.mkdir()
        yield built
        built.replace(path)


def write_arrays(folder: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays as ``NAME.npy`` into a folder, all or none. Raises ``ValueError`` for names too much alike."""
    files: dict[Path, bytes] = {}
    for name, array in arrays.items():
        path = folder / f"{file_name(name)}.npy"
        if path in files:
            raise ValueError(f"names of buffers must differ in letters and digits, but two are written to {path}")
        files[path] = array_bytes(array)
    write_files(files)


def array_bytes(array: np.ndarray) -> bytes:
    """Contents of a ``.npy`` file."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def write_json(path: Path, document: object) -> None:
    """Write a JSON document, whole or not at all."""
    write_files({path: json_text(document)})


def write_rows(path: Path, document: Mapping[str, object]) -> None:
    """Write a JSON document of many rows, whole or not at all: what is below the fourth level is on one line."""
    write_files({path: chain(_rows(document, 4, ""), "\n")})


def _rows(value: object, levels: int, indent: str) -> Iterator[str]:
    if not levels or not isinstance(value, dict | list) or not value:
        yield json.dumps(value, ensure_ascii=False, allow_nan=False)
        return
    is_table = isinstance(value, dict)
    before, inner = "{\n" if is_table else "[\n", indent + "  "
    for key, one in value.items() if isinstance(value, dict) else enumerate(value):
        yield f"{before}{inner}{json.dumps(str(key)) + ': ' if is_table else ''}"
        yield from _rows(one, levels - 1, inner)
        before = ",\n"
    yield f"\n{indent}{'}' if is_table else ']'}"


def json_text(document: object) -> str:
    """JSON as this project writes it: indented, non-ASCII kept, no bare NaN."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
