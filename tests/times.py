"""Where the time of the tests goes: ``python -m tests.times junit.xml`` prints a table of a run with ``--junitxml``.

Seconds of a test are its own, of its fixtures, and of the programs that it starts. What several tests share counts for
the first one.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as xml
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: Property of a test case that conftest.py writes.
CPU = "cpu_seconds"
_SLOWEST = 12


@dataclass(frozen=True)
class Case:
    """One test: the folder or file that it is in, its name, seconds of the clock and of the processors."""

    part: str
    name: str
    wall: float
    cpu: float


def cases(path: Path) -> Iterator[Case]:
    """All tests of a JUnit file. Raises ``ValueError`` for a file without their processor time."""
    for case in xml.parse(path).iter("testcase"):
        found = [one.get("value", "") for one in case.iter("property") if one.get("name") == CPU]
        if not found:
            raise ValueError(f"{path} must have a property {CPU} of every test, not of some")
        place = case.get("classname", "").removeprefix("tests.").split(".")
        yield Case(place[0], f"{'/'.join(place)}: {case.get('name')}", float(case.get("time", 0)), float(found[0]))


def table(found: list[Case]) -> str:
    """Parts and slowest tests, Markdown."""
    parts: dict[str, list[Case]] = {}
    for case in found:
        parts.setdefault(case.part, []).append(case)
    rows = [(part, len(some), *_sums(some)) for part, some in parts.items()]
    rows.sort(key=lambda row: -row[3])
    lines = ["| part of `tests/` | tests | wall s | CPU s |", "|---|---:|---:|---:|"]
    lines += [f"| {part} | {count:,} | {wall:,.0f} | {cpu:,.0f} |" for part, count, wall, cpu in rows]
    lines.append("| all | {:,} | {:,.0f} | {:,.0f} |".format(len(found), *_sums(found)))
    lines += ["", "| slowest tests | wall s | CPU s |", "|---|---:|---:|"]
    slowest = sorted(found, key=lambda case: -case.cpu)[:_SLOWEST]
    return "\n".join([*lines, *(f"| {case.name} | {case.wall:,.0f} | {case.cpu:,.0f} |" for case in slowest)])


def _sums(some: list[Case]) -> tuple[float, float]:
    return sum(case.wall for case in some), sum(case.cpu for case in some)


if __name__ == "__main__":
    print(table(list(cases(Path(sys.argv[1])))))
