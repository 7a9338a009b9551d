"""Files that appear whole or not at all."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from warpfile.spec.reading import named

_LONGEST_NAME = 120


def file_name(name: str) -> str:
    """A name from an input as the stem of a file in the current folder: never a path, a hidden file or an option."""
    return re.sub("[^A-Za-z0-9_.-]+", "_", name).lstrip(".-")[:_LONGEST_NAME] or "kernel"


def write_files(texts: Mapping[Path, str | Iterable[str]]) -> None:
    """Write all files, or none: each is first written beside its place and renamed when all are complete."""
    partials = {path: path.with_name(f"{path.name}.{os.getpid()}.partial") for path in texts}
    try:
        for path, text in texts.items():
            if path.is_dir():
                raise IsADirectoryError(f"{path} must be a file, not a directory")
            path.parent.mkdir(parents=True, exist_ok=True)
            with named(path):
                if isinstance(text, str):
                    partials[path].write_text(text, encoding="utf-8")
                else:
                    with partials[path].open("w", encoding="utf-8") as stream:
                        stream.writelines(text)
        for path, partial in partials.items():
            partial.replace(path)
    finally:
        for partial in partials.values():
            _discard(partial)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A file beside ``path`` that takes its place at the end, unless something was raised."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        _discard(partial)


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


def _discard(partial: Path) -> None:
    try:
        partial.unlink(missing_ok=True)
    except NotADirectoryError:
        # Its directory could not be made because a file has that name.
        return
