"""Tables of the netlists of the timed flow, without and with wires (docs/area.md, docs/wires.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warpfile.output.display import say, show_table

if TYPE_CHECKING:
    from warpfile.synth.timed import TimedNetlist
    from warpfile.synth.timing import BankPath, CriticalPath
    from warpfile.synth.wires.result import Wires

    Path = CriticalPath | BankPath

#: Scheme, library, its netlist, and that of the baseline beside it.
Row = tuple[str, str, "TimedNetlist", "TimedNetlist"]


def show_netlists(rows: Sequence[Row]) -> None:
    """Table of the netlists of the timed flow, area and path each from the same; nothing where there are none."""
    columns = ("timed", "library", "script", "cells", "area", "NAND2 eq.", "over baseline", "clock gates", "ns", "FO4")
    if rows:
        show_table((*columns, "of baseline", "as mapped, ns", "swaps"), [_netlist_row(*row) for row in rows])
    for _, _, one, _ in rows:
        if one.ungated_area and one.gated_area:
            say(f"Clock gates: {one.gated_area:,} instead of {one.ungated_area:,} with enables, before sizing.")
    _show_wires([row for row in rows if row[2].wires])


def _show_wires(rows: Sequence[Row]) -> None:
    """Table of the netlists that were placed, and what is long and full in them; nothing where there are none."""
    columns = ("with wires", "library", "ns", "FO4", "of baseline", "with access, ns", "FO4", "of baseline")
    columns += ("without wires, ns", "FO4", "as placed, ns")
    sizes = ("repeaters", "swaps", "cells", "area", "wire, m", "die, um", "congestion", "mean")
    if rows:
        show_table((*columns, *sizes), [_wires_row(*row) for row in rows])
    for wires in (one.wires for _, _, one, _ in rows if one.wires):
        path = wires.path
        say(f"{path.nanoseconds} ns with wires: {path.start} to {path.end}, {len(path.cells)} cells")
        say(f"Longest nets: {', '.join(f'{name} {length:,.0f} um' for name, length in wires.longest)}")
        say(f"Most wire: {', '.join(f'{name} {metres} m' for name, metres in wires.parts)}")


def _netlist_row(scheme: str, library: str, netlist: TimedNetlist, beside: TimedNetlist) -> tuple[object, ...]:
    grown = f"{round(netlist.area / beside.area - 1, 6):+.1%}"
    sizes = (netlist.script, netlist.cells, netlist.area, netlist.nand2_equivalents, grown, netlist.clock_gates)
    path, longer = netlist.path.nanoseconds, _ratio(netlist.path.nanoseconds, beside.path.nanoseconds)
    times = (path, netlist.fo4 and round(netlist.fo4, 1), longer, netlist.mapped_ns, netlist.swaps)
    return (scheme, library, *sizes, *times)


def _wires_row(scheme: str, library: str, netlist: TimedNetlist, beside: TimedNetlist) -> tuple[object, ...]:
    wires, other = netlist.wires, beside.wires
    assert wires is not None, "rows are of netlists that are placed"
    unit = netlist.fo4_ns
    times = (*_times(wires.path, other and other.path, unit), *_times(wires.path.with_access, _slow(other), unit))
    times += (netlist.path.nanoseconds, netlist.fo4 and round(netlist.fo4, 1))
    sizes = (wires.placed_ns, wires.repeaters, wires.swaps, wires.cells, wires.area, wires.metres)
    die = f"{wires.width_um:,.0f} x {wires.height_um:,.0f}"
    return (scheme, library, *times, *sizes, die, wires.congestion, wires.mean_congestion)


def _slow(wires: Wires | None) -> BankPath | None:
    return wires and wires.path.with_access


def _times(path: Path | None, other: Path | None, unit: float | None) -> tuple[float | None, ...]:
    """Nanoseconds, FO4, and the ratio to the baseline."""
    ns, beside = path and path.nanoseconds, other and other.nanoseconds
    return ns, ns and unit and round(ns / unit, 1), _ratio(ns, beside)


def _ratio(one: float | None, other: float | None) -> float | None:
    return round(one / other, 2) if one and other else None
