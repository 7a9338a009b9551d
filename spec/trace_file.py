"""The file of a trace (docs/trace.md): written whole or not at all, read only if all of it keeps the rules."""

from __future__ import annotations

import json
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from warpfile.spec.reading import array_headers, check_input
from warpfile.spec.trace import Access, Drain, Kind, Port, Space, StaticInstruction, Trace, TraceError
from warpfile.spec.trace_schema import check_trace
from warpfile.spec.writing import atomic_file

FORMAT = "warpfile-trace"
VERSION = 5
_LARGEST = 1 << 32  #: bytes of a file, and of its arrays when they are unpacked
_REASON = 300  #: characters of what the libraries say

_ARRAYS = tuple(f.name for f in fields(Trace) if f.type == "np.ndarray")
_SCALARS = tuple(f.name for f in fields(Trace) if f.type != "np.ndarray" and f.name != "program")
_STATIC = tuple(f.name for f in fields(StaticInstruction))
_ENUMS = {"port": Port, "kind": Kind, "space": Space, "access": Access, "drain": Drain}


def write_trace(trace: Trace, path: Path) -> None:
    """Write a compressed ``.npz``; the file appears whole or not at all."""
    arrays = {name: getattr(trace, name) for name in _ARRAYS}
    meta = {name: getattr(trace, name) for name in _SCALARS}
    meta |= {"format": FORMAT, "version": VERSION, "program": [_static_to_json(i) for i in trace.program]}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    with atomic_file(path) as partial, partial.open("wb") as stream:
        np.savez_compressed(stream, allow_pickle=False, **arrays)


def read_trace(path: Path) -> Trace:
    """Read what :func:`write_trace` wrote. Raises :class:`TraceError` for anything else, down to a single index."""
    try:
        check_input(path, _LARGEST)
        meta, arrays = _contents(path)
        trace = _assembled(meta, arrays)
        check_trace(trace)
    except FileNotFoundError:
        raise TraceError(f"{path}: no such trace file") from None
    except _VersionError as error:
        raise TraceError(f"{path} must have {error}") from None
    except (zipfile.BadZipFile, EOFError):
        raise TraceError(f"{path} must be a trace written by 'warpfile trace' (it is no archive)") from None
    except Exception as error:  # NumPy and zipfile pass on whatever a damaged file makes them raise
        reason = " ".join(str(error).split())[:_REASON] or type(error).__name__
        raise TraceError(f"{path} must be a trace written by 'warpfile trace' ({reason})") from None
    return trace


class _VersionError(ValueError):
    """Another format, or another version of it."""


def _contents(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Metadata and arrays of a file of this format and version."""
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > _LARGEST:
        raise ValueError(f"its arrays must have at most {_LARGEST:,} bytes, not {size:,}")
    with warnings.catch_warnings(), array_headers(), path.open("rb") as stream:
        warnings.simplefilter("ignore")
        with np.load(stream, allow_pickle=False) as archive:
            missing = [name for name in ("meta", *_ARRAYS) if name not in archive.files]
            if "meta" in missing:
                raise ValueError("it has no 'meta'")
            meta = _json(archive["meta"].tobytes())
            if not isinstance(meta, dict):
                raise ValueError("its 'meta' must be a table")
            found = meta.get("format"), meta.get("version")
            if found != (FORMAT, VERSION):
                raise _VersionError(f"format {FORMAT} version {VERSION}, not {str(found[1])[:20]}")
            if missing:
                raise ValueError(f"it has no {', '.join(missing)}")
            return meta, {name: archive[name] for name in _ARRAYS}


def _json(data: bytes) -> object:
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError):
        raise ValueError("its 'meta' must be JSON in UTF-8") from None


def _assembled(meta: Mapping[str, Any], arrays: Mapping[str, Any]) -> Trace:
    missing = [name for name in (*_SCALARS, "program") if name not in meta]
    if missing:
        raise ValueError(f"its 'meta' has no {', '.join(missing)}")
    if not isinstance(meta["program"], list):
        raise ValueError("program must be a list of instructions")
    scalars: dict[str, Any] = {name: _tupled(meta[name]) for name in _SCALARS}
    program = tuple(_static_from_json(number, row) for number, row in enumerate(meta["program"]))
    return Trace(program=program, **scalars, **arrays)


def _tupled(value: object) -> object:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def _static_to_json(instruction: StaticInstruction) -> list[object]:
    return [getattr(instruction, name) for name in _STATIC]


def _static_from_json(number: int, row: object) -> StaticInstruction:
    if not isinstance(row, list) or len(row) != len(_STATIC):
        raise ValueError(f"program[{number}] must be a list of {len(_STATIC)} values")
    values: dict[str, Any] = {name: _tupled(value) for name, value in zip(_STATIC, row, strict=True)}
    for name, enum in _ENUMS.items():
        if type(values[name]) is not int or not 0 <= values[name] < len(enum):
            raise ValueError(f"program[{number}].{name} must be a number from 0 to {len(enum) - 1}")
        values[name] = enum(values[name])
    return StaticInstruction(**values)
