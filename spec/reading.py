"""Reading input files: regular ones of a bounded size, so that no pipe and no bomb makes a program wait or swell."""

from __future__ import annotations

import re
import stat
import tokenize
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_TOML_BYTES = 1 << 18
_KEY_PARTS = 100  #: dots in one line of TOML; the time for a dotted key grows with the cube of its parts
_DOT = re.compile(r"[\w\"'-][ \t]*\.[ \t]*(?=[\w\"'-])")
_WORD_BITS = 64
_KINDS = (
    (stat.S_ISDIR, "a directory"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
#: What the header of an array is said to have instead of Python's own words. NumPy evaluates it and sorts its keys.
_HEADERS = {
    OverflowError: "sizes beyond 64 bits",
    tokenize.TokenError: "no end",
    TypeError: "keys or values of the wrong kind",
}


class InputError(ValueError):
    """A file that is not read; the message names it and the rule it breaks."""


def check_input(path: Path, limit: int) -> None:
    """Refuse what is no regular file or has more than ``limit`` bytes.

    Raises :class:`InputError`, ``FileNotFoundError`` and other errors of the operating system.
    """
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        what = next((name for is_kind, name in _KINDS if is_kind(found.st_mode)), "a special file")
        raise InputError(f"{path} must be a regular file, not {what}")
    if found.st_size > limit:
        raise InputError(f"{path} must have at most {limit:,} bytes, not {found.st_size:,}")


@contextmanager
def array_headers() -> Iterator[None]:
    """What Python raises over the header of an array that NumPy reads inside becomes a ``ValueError`` in our words."""
    try:
        yield
    except tuple(_HEADERS) as error:
        words = next(words for kind, words in _HEADERS.items() if isinstance(error, kind))
        raise ValueError(f"the header of an array has {words}") from None


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Errors of the operating system inside are about this file: a full disk does not say which."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise


def read_input(path: Path, limit: int) -> bytes:
    """Contents of a regular file of at most ``limit`` bytes. Raises as :func:`check_input`."""
    check_input(path, limit)
    with path.open("rb") as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:  # files of /proc have no size
        raise InputError(f"{path} must have at most {limit:,} bytes")
    return data


def read_toml(path: Path) -> dict[str, Any]:
    """The table in a TOML file. Raises :class:`InputError`, and errors of the operating system."""
    try:
        text = read_input(path, _TOML_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: must be TOML in UTF-8, but byte {error.start} is not") from None
    for number, line in enumerate(text.split("\n"), 1):
        if len(_DOT.findall(line)) > _KEY_PARTS:
            raise InputError(f"{path}, line {number}: a line of TOML must have at most {_KEY_PARTS} dotted parts")
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{path}: must be TOML that nests less deeply") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: must be TOML ({error})") from None
    except ValueError:  # from Python's int() and datetime()
        raise InputError(f"{path}: must be TOML whose numbers and dates are not out of all measure") from None
    _check_numbers(path, table)
    return table


def _check_numbers(path: Path, table: dict[str, Any]) -> None:
    """TOML has whole numbers of 64 bits; Python would take any."""
    work: list[object] = [table]
    while work:
        value = work.pop()
        if isinstance(value, dict):
            work.extend(value.values())
        elif isinstance(value, list):
            work.extend(value)
        elif isinstance(value, int) and value.bit_length() > _WORD_BITS:
            raise InputError(f"{path}: must be TOML whose whole numbers fit {_WORD_BITS} bits")
