"""The table at the end of a study: a line per machine, over its kernels and seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from statistics import fmean

from warpfile.evidence.markdown import signed
from warpfile.evidence.spread import Spread
from warpfile.studies.table import Row
from warpfile.studies.tasks import OK, REFUSED

COLUMNS = (
    *("scheme", "preset", "changes", "points", "refused", "failed", "IPC"),
    *("IPC growth", "accesses growth", "energy growth", "hits", "lockstep", "NAND2 eq.", "logic growth"),
)


def table(rows: Iterable[Row]) -> tuple[list[str], list[tuple[object, ...]]]:
    """The table without columns that say nothing of any machine."""
    lines = list(summary(rows))
    said = [name for name, column in zip(COLUMNS, zip(*lines, strict=True), strict=True) if {*column} - {"-", "", None}]
    places = [COLUMNS.index(name) for name in said]
    return said, [tuple(line[place] for place in places) for line in lines]


def summary(rows: Iterable[Row]) -> Iterator[tuple[object, ...]]:
    """Lines of the table, in the order in which machines first appear."""
    machines: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        machines.setdefault((row["scheme"], row["preset"], row["changes"]), []).append(row)
    return (_line(name, some) for name, some in machines.items())


def _line(name: tuple[str, str, str], rows: Sequence[Row]) -> tuple[object, ...]:
    refused = sum(row["status"] == REFUSED for row in rows)
    failed = sum(row["status"] not in (OK, REFUSED) for row in rows)
    ipc = [row["ipc"] for row in rows if row.get("ipc")]
    hits = [row["hit_ratio"] for row in rows if row.get("hit_ratio") is not None]
    growth = (_growth(rows, "ipc_over_baseline", _geometric), _growth(rows, "bank_accesses_over_baseline", fmean))
    area, logic = (rows[0].get(column) for column in ("area_nand2_equivalents", "area_logic_growth"))
    return (
        *(*name, len(rows), refused, failed, fmean(ipc) if ipc else None),
        *(*growth, _growth(rows, "energy_over_baseline", fmean), f"{fmean(hits):.1%}" if hits else "-"),
        *(_lockstep(rows), area, "-" if logic is None else f"{logic:+.1%}"),
    )


def _growth(rows: Sequence[Row], column: str, mean: Callable[[Sequence[float]], float]) -> str:
    """Mean over kernels at every seed; over several seeds with its interval, if every seed has the same kernels.

    The baseline has not grown over itself.
    """
    if all(row["scheme"] == row.get("baseline") for row in rows):
        return "-"
    by_seed = [
        [row[column] for row in some if row.get(column) is not None]
        for _, some in groupby(sorted(rows, key=lambda row: row.get("seed") or 0), lambda row: row.get("seed"))
    ]
    if not by_seed[0] or len({len(some) for some in by_seed}) > 1:
        return "-"
    values = [mean(some) - 1 for some in by_seed]
    return signed(Spread(values)) if len(values) > 1 else signed(values[0])


def _geometric(values: Sequence[float]) -> float:
    return math.exp(fmean(map(math.log, values)))


def _lockstep(rows: Sequence[Row]) -> str:
    found = [row["lockstep_mismatches"] for row in rows if row.get("lockstep_mismatches") is not None]
    return "-" if not found else "DIFFERENT" if any(found) else "equal"
