"""Rows of the launch file, checked: arguments, their arrays, and contents of constants. All raise ``LaunchError``."""

from __future__ import annotations

import math
import struct
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from warpfile.compiler import Listing
from warpfile.emulator.arguments import SCALARS, Argument, buffers
from warpfile.emulator.constants import BANK_STRIDE, Constant
from warpfile.emulator.errors import LaunchError
from warpfile.spec.reading import array_headers, check_input

_KEYS = {
    "buffer": {"name", "type", "init", "expect", "rtol", "atol"},
    "pointer": {"name", "type", "buffer", "offset"},
    "struct": {"name", "type", "fields", "align"},
}
_SCALAR_KEYS = {"name", "type", "value"}
#: What a row needs in addition to name and type; a number needs its value.
_WANTED = {"buffer": ("init",), "pointer": ("buffer",), "struct": ("fields",)}
_LARGEST_ARRAY = 1 << 30  #: bytes of a file
_REASON = 200  #: characters of what NumPy says
_ALIGNMENTS = (0, 1, 2, 4, 8, 16)


def load_argument(path: Path, number: int, row: dict[str, Any], what: str = "argument") -> Argument:
    """Check one ``[[args]]`` row, or one of the fields of a structure, and load its arrays."""
    name = row.get("name")
    if not isinstance(name, str) or not name:
        raise LaunchError(f"{path}: name of {what} {number} must be a string, not {name!r}")
    where = f"{path}: {what} {name!r}"
    kind = row.get("type")
    if kind not in (*SCALARS, *_KEYS):
        raise LaunchError(f"{where}: type must be one of {', '.join((*SCALARS, *_KEYS))}, not {kind!r}")
    allowed = _KEYS.get(str(kind), _SCALAR_KEYS)
    for key in row:
        if key not in allowed:
            raise LaunchError(f"{where}: key of a {kind} must be one of {', '.join(sorted(allowed))}, not {key!r}")
    if kind == "buffer":
        return _buffer(where, path.parent, name, row)
    if kind == "pointer":
        return _pointer(where, name, row)
    if kind == "struct":
        return _structure(path, where, name, row)
    return Argument(name, str(kind), data=_scalars(where, str(kind), row.get("value")))


def missing_of(directory: Path, rows: object, of: str = "argument") -> Iterator[str]:
    """What ``[[args]]`` rows lack: keys that their types want, and files that are not there.

    A row with a key that its type does not have is passed over: that key may be meant for the one that is missing.
    """
    for number, row in enumerate(rows if isinstance(rows, list) else [], start=1):
        kind = str(row.get("type")) if isinstance(row, dict) else ""
        if not isinstance(row, dict) or not row.keys() <= _KEYS.get(kind, _SCALAR_KEYS):
            continue
        keys = ("name", "type", *_WANTED.get(kind, ("value",) if kind in SCALARS else ()))
        yield from (f"{key} of {of} {row.get('name', number)!r}" for key in keys if key not in row)
        for file in (row.get("init"), row.get("expect")) if kind == "buffer" else ():
            if isinstance(file, str) and _may_be_read(file) and _is_missing(directory / file):
                yield f"file {file!r}"
        if kind == "struct":
            yield from missing_of(directory, row.get("fields"), f"field of {row.get('name')!r}")


def check_names(path: Path, arguments: tuple[Argument, ...]) -> None:
    """Names of arguments and of buffers must differ, and pointers lead into a buffer."""
    sizes = {leaf.name: init.nbytes for leaf, init in buffers(arguments)}
    names = [one.name for one in arguments]
    names += [leaf.name for one in arguments if one.fields for leaf in one.leaves() if leaf.init is not None]
    for name in names:
        if names.count(name) > 1:
            raise LaunchError(f"{path}: names of args must differ, {name!r} is given twice")
    for leaf in (leaf for one in arguments for leaf in one.leaves() if leaf.type == "pointer"):
        if leaf.target not in sizes:
            known = ", ".join(sizes) or "there is none"
            raise LaunchError(f"{path}: buffer of pointer {leaf.name!r} must be one of {known}, not {leaf.target!r}")
        if leaf.offset > sizes[leaf.target]:
            size = sizes[leaf.target]
            raise LaunchError(f"{path}: offset of pointer {leaf.name!r} must be at most {size}, not {leaf.offset}")


def load_constants(path: Path, rows: object, listing: Listing) -> tuple[Constant, ...]:
    """Check the ``[[constants]]`` rows: contents of ``__constant__`` variables, by name or by offset in bank 3."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise LaunchError(f"{path}: constants must be tables [[constants]]")
    return tuple(_constant(path, row, listing) for row in rows)


def _constant(path: Path, row: dict[str, Any], listing: Listing) -> Constant:
    where = f"{path}: constant {row.get('name')!r}"
    for key in row:
        if key not in ("name", "offset", "init"):
            raise LaunchError(f"{where}: key of a constant must be one of init, name, offset, not {key!r}")
    data = _array(where, path.parent, "init", row.get("init")).tobytes()
    if "offset" in row:
        offset = _number(where, "offset", row["offset"])
        limit = BANK_STRIDE - offset
    elif row.get("name") in listing.constant_symbols:
        symbol = listing.constant_symbols[row["name"]]
        offset, limit = symbol.offset, symbol.size
    else:
        known = ", ".join(listing.constant_symbols) or "nothing, give an offset"
        raise LaunchError(f"{where}: name must be a __constant__ variable that the listing shows ({known})")
    if len(data) > limit:
        raise LaunchError(f"{where}: init must have at most {limit} bytes, not {len(data)}")
    return Constant(offset, data)


def _structure(path: Path, where: str, name: str, row: dict[str, Any]) -> Argument:
    rows, align = row.get("fields"), row.get("align", 0)
    if not isinstance(rows, list) or not rows or not all(isinstance(one, dict) for one in rows):
        raise LaunchError(f"{where}: fields must be tables [[args.fields]]")
    if align not in _ALIGNMENTS:
        raise LaunchError(f"{where}: align must be one of {', '.join(map(str, _ALIGNMENTS))}, not {align!r}")
    fields = (load_argument(path, number, one, f"field of {name!r}") for number, one in enumerate(rows, start=1))
    return Argument(name, "struct", fields=tuple(fields), align=align)


def _pointer(where: str, name: str, row: dict[str, Any]) -> Argument:
    target = row.get("buffer")
    if not isinstance(target, str) or not target:
        raise LaunchError(f"{where}: buffer must be the name of one, not {target!r}")
    return Argument(name, "pointer", target=target, offset=_number(where, "offset", row.get("offset", 0)))


def _number(where: str, key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise LaunchError(f"{where}: {key} must be a number of bytes, not {value!r}")
    return value


def _scalars(where: str, kind: str, value: object) -> bytes:
    """One value, or those of an array in a structure."""
    if isinstance(value, list) and value:
        return b"".join(_scalar(where, kind, one) for one in value)
    return _scalar(where, kind, value)


def _scalar(where: str, kind: str, value: object) -> bytes:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LaunchError(f"{where}: value must be a number, not {value!r}")
    if kind[0] != "f" and not isinstance(value, int):
        raise LaunchError(f"{where}: value must be an integer for type {kind}, not {value!r}")
    try:
        return struct.pack(SCALARS[kind], value)
    except (struct.error, OverflowError):
        raise LaunchError(f"{where}: value must fit type {kind}, {value!r} does not") from None


def _buffer(where: str, directory: Path, name: str, row: dict[str, Any]) -> Argument:
    init = _array(where, directory, "init", row["init"])
    expect = _array(where, directory, "expect", row["expect"]) if "expect" in row else None
    tolerances = {key: _tolerance(where, key, row[key]) for key in ("rtol", "atol") if key in row}
    if tolerances and expect is None:
        raise LaunchError(f"{where}: expect must be given where rtol or atol is")
    if expect is not None and expect.nbytes > init.nbytes:
        raise LaunchError(f"{where}: expect must have at most the {init.nbytes} bytes of init, not {expect.nbytes}")
    if tolerances and expect is not None and expect.dtype.kind not in "fiu":
        raise LaunchError(f"{where}: expect must hold numbers where rtol or atol is given, not {expect.dtype}")
    return Argument(name, "buffer", init=init, expect=expect, rtol=tolerances.get("rtol"), atol=tolerances.get("atol"))


def _tolerance(where: str, key: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0 or math.isinf(value):
        raise LaunchError(f"{where}: {key} must be a number of at least 0, not {value!r}")
    return float(value)


def _array(where: str, directory: Path, key: str, file: object) -> np.ndarray:
    if not isinstance(file, str):
        raise LaunchError(f"{where}: {key} must be the name of a .npy file, not {file!r}")
    path = directory / file
    if not _may_be_read(file):
        raise LaunchError(f"{where}: {key} must be a file in the kernel's directory, not {file!r}")
    try:
        array = _read(path)
    except FileNotFoundError:
        raise LaunchError(f"{where}: {key} must be an existing .npy file, {file!r} does not exist") from None
    except Exception as error:  # NumPy reads the header as a Python literal, and passes on whatever that raises
        reason = " ".join(str(error).split())[:_REASON]
        raise LaunchError(f"{where}: {key} must be a .npy file, {file!r} is not ({reason})") from None
    if array.dtype.kind not in "fiub" or array.nbytes == 0:
        raise LaunchError(f"{where}: {key} must be a non-empty array of numbers, {file!r} is not")
    return array


def _is_missing(path: Path) -> bool:
    """Whether there is no such file. A name that the system refuses is refused when it is read, with the reason."""
    try:
        return not path.exists()
    except OSError:
        return False


def _may_be_read(file: str) -> bool:
    """Whether a name leads to the directory of the launch file or below it."""
    return not Path(file).is_absolute() and ".." not in Path(file).parts


def _read(path: Path) -> np.ndarray:
    """The array of a .npy file, little-endian as a GPU has it; pickled objects are refused, since they could run code.

    It is mapped first, so that a header that promises more than the file has costs nothing.
    """
    check_input(path, _LARGEST_ARRAY)
    with warnings.catch_warnings(), array_headers():
        warnings.simplefilter("ignore")
        array = np.lib.format.open_memmap(path, mode="r")
        return np.array(array, array.dtype.newbyteorder("<"), order="C")
