"""Files that appear whole or not at all."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from warpfile.spec.reading import named

_LONGEST_NAME = 120


def file_name(name: str) -> str:
    """A name from an input as the stem of a file in the current folder: never a path, a hidden file or an option."""
    return re.sub("[^A-Za-z0-9_.-]+", "_", name).lstrip(".-")[:_LONGEST_NAME] or "kernel"


def write_files(texts: Mapping[Path, str]) -> None:
    """Write all files, or none: each is first written beside its place and renamed when all are complete."""
    partials = {path: path.with_name(f"{path.name}.{os.getpid()}.partial") for path in texts}
    try:
        for path, text in texts.items():
            if path.is_dir():
                raise IsADirectoryError(f"{path} must be a file, not a directory")
            path.parent.mkdir(parents=True, exist_ok=True)
            with named(path):
                partials[path].write_text(text, encoding="utf-8")
        for path, partial in partials.items():
            partial.replace(path)
    finally:
        for partial in partials.values():
            _discard(partial)


def write_json(path: Path, document: object) -> None:
    """Write a JSON document, whole or not at all."""
    write_files({path: json_text(document)})


def write_rows(path: Path, document: Mapping[str, object]) -> None:
    """Write a JSON document of many rows, whole or not at all: what is below the fourth level is on one line."""
    write_files({path: _rows(document, 4, "") + "\n"})


def _rows(value: object, levels: int, indent: str) -> str:
    if not levels or not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(str(key))}: {_rows(one, levels - 1, inner)}" for key, one in value.items()]
        return "{\n" + ",\n".join(f"{inner}{part}" for part in parts) + f"\n{indent}}}"
    return "[\n" + ",\n".join(f"{inner}{_rows(one, levels - 1, inner)}" for one in value) + f"\n{indent}]"


def json_text(document: object) -> str:
    """JSON as this project writes it: indented, non-ASCII kept, no bare NaN."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _discard(partial: Path) -> None:
    try:
        partial.unlink(missing_ok=True)
    except NotADirectoryError:
        # Its directory could not be made because a file has that name.
        return
