"""Entry point: ``warpfile`` and ``python -m warpfile``. Nothing is imported before an interrupt is one line."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

INTERRUPTED = 130
_AGAIN = 0.1  #: seconds between looks whether Python is out of what loses an interrupt, and has raised the next one


def main() -> None:
    """Run the command line and exit."""
    # The interpreter takes handlers away before it has ended: an interrupt then would kill what has done its work.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    normal = signal.signal(signal.SIGINT, _leave)
    from warpfile.cli.program import main as group

    sys.unraisablehook = _once_more
    signal.signal(signal.SIGINT, _interrupt if normal is signal.default_int_handler else normal)
    try:
        group()
    finally:
        signal.signal(signal.SIGINT, _leave)


class _Raised:
    """How many interrupts Python has raised in the main thread."""

    count = 0


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    _Raised.count += 1
    raise KeyboardInterrupt


def _once_more(lost: UnraisableHookArgs) -> None:
    """An interrupt in a callback or while an object is taken down is lost there, and the work would go on."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        threading.Thread(target=_send_again).start()
    else:
        sys.__unraisablehook__(lost)


def _send_again() -> None:
    """Interrupt once the main thread has left the hook, in which the interrupt would be lost again.

    A signal just before a call that waits does not end the call: it is sent until Python has seen one.
    """
    raised = _Raised.count
    main_thread = threading.main_thread().ident
    while _Raised.count == raised:
        if main_thread is None or not _in_hook(sys._current_frames().get(main_thread)):
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(_AGAIN)


def _in_hook(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code is not _once_more.__code__:
        frame = frame.f_back
    return frame is not None


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Before the work and behind it there is nothing to be ended."""
    os.write(2, b"warpfile: interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
