"""Entry point: ``warpfile`` and ``python -m warpfile``. Nothing is imported before an interrupt is one line."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED = 130
_AGAIN = 0.3  #: seconds until Python is out of what loses an interrupt


def main() -> None:
    """Run the command line and exit."""
    # The interpreter takes handlers away before it has ended: an interrupt then would kill what has done its work.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    normal = signal.signal(signal.SIGINT, _leave)
    from warpfile.cli.program import main as group

    sys.unraisablehook = _once_more
    signal.signal(signal.SIGINT, normal)
    try:
        group()
    finally:
        signal.signal(signal.SIGINT, _leave)


def _once_more(lost: UnraisableHookArgs) -> None:
    """An interrupt in a callback or while an object is taken down is lost there, and the work would go on."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        threading.Timer(_AGAIN, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(lost)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Before the work and behind it there is nothing to be ended."""
    os.write(2, b"warpfile: interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
