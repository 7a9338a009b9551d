"""The table at the end of a study: a line per machine, over its kernels and seeds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean

from warpfile.results.studies.means import GROWTHS, by_machine, growth
from warpfile.results.studies.table import Row
from warpfile.results.studies.tasks import OK, REFUSED

COLUMNS = (
    *("scheme", "preset", "changes", "points", "refused", "failed", "IPC", "resident", "eligible", "sparse"),
    *(*GROWTHS, "hits", "lockstep", "NAND2 eq.", "logic growth"),
)


def table(rows: Iterable[Row]) -> tuple[list[str], list[tuple[object, ...]]]:
    """The table without columns that say nothing of any machine."""
    lines = list(summary(rows))
    said = [name for name, column in zip(COLUMNS, zip(*lines, strict=True), strict=True) if {*column} - {"-", "", None}]
    places = [COLUMNS.index(name) for name in said]
    return said, [tuple(line[place] for place in places) for line in lines]


def summary(rows: Iterable[Row]) -> Iterator[tuple[object, ...]]:
    """Lines of the table, in the order in which machines first appear."""
    return (_line(name, some) for name, some in by_machine(rows).items())


def differences(rows: Iterable[Row]) -> Iterator[tuple[str, str]]:
    """Machines with the fields in which they differ from their baselines, as text."""
    machines = by_machine(rows)
    several = len({preset for _, preset, _ in machines}) > 1
    for (scheme, preset, changes), some in machines.items():
        name = " ".join(filter(None, (scheme, preset if several else "", changes)))
        yield name, some[0].get("differs") or ""


def starting(rows: Iterable[Row]) -> str:
    """Which kernels measure start and end, on every machine that ran them; empty without observation."""
    seen: dict[str, list[bool]] = {}
    for row in rows:
        if row.get("starts_and_ends") is not None:
            seen.setdefault(row["kernel"], []).append(row["starts_and_ends"])
    flagged = [kernel for kernel, found in seen.items() if all(found)]
    share = f"{len(flagged)} of {len(seen)} kernels" if seen else ""
    return share and f"{share} measure start and end on every machine{': ' if flagged else ''}{', '.join(flagged)}"


def _line(name: tuple[str, str, str], rows: Sequence[Row]) -> tuple[object, ...]:
    refused = sum(row["status"] == REFUSED for row in rows)
    failed = sum(row["status"] not in (OK, REFUSED) for row in rows)
    growths = (growth(rows, column) for column in GROWTHS.values())
    area, logic = (rows[0].get(column) for column in ("area_nand2_equivalents", "area_logic_growth"))
    return (
        *(*name, len(rows), refused, failed, _mean(rows, "ipc")),
        *(_mean(rows, "mean_resident_warps"), _mean(rows, "mean_eligible_warps"), _share(rows, "sparse_share")),
        *(str(one) if one else "-" for one in growths),
        *(_share(rows, "hit_ratio"), _lockstep(rows), area, "-" if logic is None else f"{logic:+.1%}"),
    )


def _mean(rows: Sequence[Row], column: str) -> float | None:
    values = [row[column] for row in rows if row.get(column) is not None]
    return fmean(values) if values else None


def _share(rows: Sequence[Row], column: str) -> str:
    mean = _mean(rows, column)
    return "-" if mean is None else f"{mean:.1%}"


def _lockstep(rows: Sequence[Row]) -> str:
    found = [row["lockstep_mismatches"] for row in rows if row.get("lockstep_mismatches") is not None]
    return "-" if not found else "DIFFERENT" if any(found) else "equal"
