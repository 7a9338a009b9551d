"""What work costs on this machine now: a ratio, which a slow or busy machine leaves as it is."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

_COUNTS = 1_000_000


def effort(work: Callable[[], object]) -> float:
    """Processor time of ``work`` over that of a loop that counts to a million.

    The loop runs before and behind it, and the slower one counts: other programs slow down both alike. The garbage
    collector is off, because what it takes depends on all that earlier tests have left.
    """
    gc.disable()
    try:
        before, taken, behind = (_seconds(one) for one in (_count, work, _count))
    finally:
        gc.enable()
    return taken / max(before, behind)


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _count() -> None:
    number = 0
    while number < _COUNTS:
        number += 1
