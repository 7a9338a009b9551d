"""Cache of outcomes on disk, each under a key of everything that decides it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from warpfile.output.files import write_files
from warpfile.schemes import Part
from warpfile.schemes.fingerprint import fingerprint, other_packages

KEPT = Path("build") / "evidence"


@dataclass(frozen=True)
class Sources:
    """Folders of this package and installed distributions that decide an outcome, beside packages of foreign parts."""

    folders: tuple[str, ...]
    tools: tuple[str, ...]


def key(what: object, sources: Sources, parts: Iterable[Part]) -> str:
    """Name of an outcome: a hash of ``what`` as Python writes it, and of the code that decides."""
    code = code_hash(sources, tuple(sorted(other_packages(parts))))
    return hashlib.sha256(repr((what, code)).encode()).hexdigest()[:24]


def find(name: str) -> dict[str, Any] | None:
    """The outcome of that key, if it is kept."""
    try:
        facts: dict[str, Any] = json.loads(_path(name).read_text())
    except (OSError, ValueError):
        return None
    return facts


def keep(name: str, facts: Mapping[str, Any]) -> None:
    """Keep an outcome, whole or not at all; several processes may keep the same one."""
    write_files({_path(name): json.dumps(facts)})


def _path(name: str) -> Path:
    return KEPT / f"{name}.json"


@cache
def code_hash(sources: Sources, packages: tuple[tuple[str, Path], ...]) -> str:
    """Hash of the code, computed once per process."""
    return fingerprint(sources.folders, packages, sources.tools)
