"""A netlist that is sized and timed with memories that take their access time (docs/area.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from warpfile.synth import fo4
from warpfile.synth.fanout import Netlist
from warpfile.synth.liberty import Liberty
from warpfile.synth.opensta import Session
from warpfile.synth.sizing import size
from warpfile.synth.timing import BankPath, CriticalPath, worst

#: Opens the timer with a netlist as it is. Its memories take so many ns, by name; the others take none.
Opened = Callable[[Mapping[str, float]], AbstractContextManager[Session]]


def sized_with_access(
    opened: Opened,
    path: CriticalPath,
    netlist: Netlist,
    top: str,
    library: Liberty,
    access_fo4: Mapping[str, float],
    passes: int | None = None,
) -> tuple[CriticalPath, int]:
    """Size ``netlist`` further with access times; the path with ``with_access``, and the number of exchanges.

    ``path`` is that of the netlist before, in which memories take no time. It is timed anew where a cell was exchanged,
    so that both paths are of one netlist. ``access_fo4`` is in FO4 of the library; ``passes`` as for :func:`size`.
    """
    unit = fo4.nanoseconds(library)
    with opened({name: access * unit for name, access in access_fo4.items()}) as timer:
        swaps = size(timer, netlist, top, library, passes)
        slow = worst(timer)
    if swaps:
        with opened({}) as timer:
            path = worst(timer, path.fan_out)
    assert slow.nanoseconds is not None, "the same netlist has the same ends"
    return replace(path, with_access=BankPath(slow.nanoseconds, slow.start, slow.end, unit, dict(access_fo4))), swaps
