"""Arguments of a launch: checked rows of the launch file, and their place in the parameter bank."""

from __future__ import annotations

import math
import struct
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from warpfile.emulator.errors import LaunchError
from warpfile.spec.reading import check_input

_SCALARS = {"i32": "<i", "u32": "<I", "f32": "<f", "i64": "<q", "u64": "<Q", "f64": "<d"}
_POINTER = 8
_SCALAR_KEYS = {"name", "type", "value"}
_LARGEST_ARRAY = 1 << 30  #: bytes of a file
_REASON = 200  #: characters of what NumPy says
_BUFFER_KEYS = {"name", "type", "init", "expect", "rtol", "atol"}


@dataclass(frozen=True, eq=False)
class Argument:
    """One kernel argument: the bytes of a scalar, or a buffer with what it holds before and must hold after."""

    name: str
    type: str
    data: bytes = b""
    init: np.ndarray | None = None
    expect: np.ndarray | None = None
    rtol: float | None = None
    atol: float | None = None

    @property
    def size(self) -> int:
        """Bytes in the parameter bank; also its alignment."""
        return _POINTER if self.type == "buffer" else struct.calcsize(_SCALARS[self.type])


def parameter_bytes(arguments: tuple[Argument, ...], addresses: dict[str, int]) -> bytes:
    """The parameters as the kernel finds them, each aligned to its size; ``addresses`` are those of the buffers."""
    data = bytearray()
    for argument in arguments:
        data.extend(bytes(-len(data) % argument.size))
        data.extend(addresses[argument.name].to_bytes(8, "little") if argument.type == "buffer" else argument.data)
    return bytes(data)


def load_argument(path: Path, number: int, row: dict[str, Any]) -> Argument:
    """Check one ``[[args]]`` row and load its arrays. Raises :class:`LaunchError`."""
    name = row.get("name")
    if not isinstance(name, str) or not name:
        raise LaunchError(f"{path}: name of argument {number} must be a string, not {name!r}")
    where = f"{path}: argument {name!r}"
    kind = row.get("type")
    if kind not in (*_SCALARS, "buffer"):
        raise LaunchError(f"{where}: type must be one of {', '.join(_SCALARS)}, buffer, not {kind!r}")
    allowed = _BUFFER_KEYS if kind == "buffer" else _SCALAR_KEYS
    for key in row:
        if key not in allowed:
            raise LaunchError(f"{where}: key of a {kind} must be one of {', '.join(sorted(allowed))}, not {key!r}")
    if kind == "buffer":
        return _buffer(where, path.parent, name, row)
    return Argument(name, str(kind), data=_scalar(where, str(kind), row.get("value")))


def _scalar(where: str, kind: str, value: object) -> bytes:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise LaunchError(f"{where}: value must be a number, not {value!r}")
    if kind[0] != "f" and not isinstance(value, int):
        raise LaunchError(f"{where}: value must be an integer for type {kind}, not {value!r}")
    try:
        return struct.pack(_SCALARS[kind], value)
    except (struct.error, OverflowError):
        raise LaunchError(f"{where}: value must fit type {kind}, {value!r} does not") from None


def _buffer(where: str, directory: Path, name: str, row: dict[str, Any]) -> Argument:
    if "init" not in row:
        raise LaunchError(f"{where}: init must name the .npy file with the buffer's contents")
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
    if Path(file).is_absolute() or ".." in Path(file).parts:
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


def _read(path: Path) -> np.ndarray:
    """The array of a .npy file; pickled objects are refused, since they could run code.

    It is mapped first, so that a header that promises more than the file has costs nothing.
    """
    check_input(path, _LARGEST_ARRAY)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.array(np.lib.format.open_memmap(path, mode="r"), order="C")
