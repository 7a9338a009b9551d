"""What is made once and then kept: by one process while all others wait, and said on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

_PATIENCE = 2.0  #: seconds that a process waits for another one without a word
_CLEAR = "\r\x1b[2K"  #: a progress bar may stand in the line


def once(lock: Path, doing: str, usually: str, find: Callable[[], T | None], make: Callable[[], T]) -> T:
    """What ``find`` finds, or else what ``make`` makes, which only one process at a time does.

    ``doing`` says in a line what is made, and ``usually`` how long that takes. ``lock`` is a file beside it.
    """
    if (found := find()) is not None:
        return found
    with turn(lock, doing):
        if (found := find()) is not None:
            return found
        announce(doing, usually)
        return make()


@contextmanager
def turn(path: Path, doing: str) -> Iterator[Callable[[], None]]:
    """Inside, this process alone holds the lock ``path``, unless it calls what it is given, which lets others go on.

    A process that waits long prints a line, unless the one that works is of the same command and has printed its own.
    """
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock, owner = FileLock(path), path.with_name(f"{path.name}.owner")
    try:
        lock.acquire(timeout=_PATIENCE)
    except Timeout:
        if not owner.is_file() or owner.read_text() != str(os.getpgrp()):
            _say(f"waiting for another process: {doing}")
        lock.acquire()
    try:
        owner.write_text(str(os.getpgrp()))
        yield lock.release
    finally:
        lock.release()


def announce(doing: str, usually: str) -> None:
    """Say on standard error what takes a while now and never again."""
    _say(f"{doing}, once; {usually}")


def _say(line: str) -> None:
    stream = sys.stderr
    stream.write(f"{_CLEAR if stream.isatty() else ''}warpfile: {line}\n")
    stream.flush()
