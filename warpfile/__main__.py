"""Entry point: ``warpfile`` and ``python -m warpfile``. Nothing is imported before an interrupt is one line."""

from __future__ import annotations

import atexit
import os
import signal
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit."""
    # The interpreter takes handlers away before it has ended: an interrupt then would kill what has done its work.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    normal = signal.signal(signal.SIGINT, _leave)
    from warpfile.program import main as group

    signal.signal(signal.SIGINT, normal)
    try:
        group()
    finally:
        signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Before the work and behind it there is nothing to be ended."""
    os.write(2, b"warpfile: interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
