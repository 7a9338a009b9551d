"""The first tables of docs/cost.md: growth with small arrays in latches, paths with access times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from warpfile.results.designs import BASELINE
from warpfile.results.markdown import signed, table
from warpfile.synth.built import LATCH_ROWS
from warpfile.synth.overhead import NAND2_PER_BIT

#: A critical path is to be at most so many times its baseline's.
GOAL = 1.3

_INTRODUCTION = """\
Growth over the baseline of the same preset.
Small arrays are latches: arrays of operands as mapped, and memories of up to {rows} rows except register banks as
[arrays.md](arrays.md) builds them. The total is logic, small memories, and the bits of the other memories at that
density. A growth marked ~ is within the noise of the tools; - is a figure that is not kept yet. The variant, on the
right, has arrays of operands in flip-flops and all memories at the density.
"""
_ACCESS = """\
### Critical paths with access times, {library}

Memories take CACTI's access time of a slice ([area.md](area.md#critical-path)), in FO4 of the library. Ratio: over the
baseline of the same preset, timed alike; beside it the ratio of both paths if memories take no time. The goal is at
most {goal} for every scheme; {missed}.
"""


def section(schemes: Mapping[str, Mapping[str, Any]]) -> str:
    """The whole section, of the facts of ``warpfile area --json`` by scheme."""
    return "\n".join(_section(schemes))


def _section(schemes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield "## Headline\n"
    yield _INTRODUCTION.format(rows=LATCH_ROWS)
    columns = ("scheme", "preset", "logic", *(f"total, {name}" for name in NAND2_PER_BIT))
    variant = ("logic, flip-flops", *(f"total, {name}, flip-flops" for name in NAND2_PER_BIT))
    yield table((*columns, *variant), (_growth(name, one) for name, one in schemes.items() if name != BASELINE))
    for library in next(iter(schemes.values()))["critical_paths"]:
        paths = {name: one["critical_paths"].get(library, {}) for name, one in schemes.items()}
        if any(path.get("with_access") for path in paths.values()):
            yield _ACCESS.format(library=library, goal=GOAL, missed=_missed(paths))
            columns = ("scheme", "memory: FO4 of its access", "ns", "FO4", "ratio", "without", "from", "to")
            yield table(columns, (_path(name, path) for name, path in paths.items()))


def _growth(name: str, facts: Mapping[str, Any]) -> tuple[str, ...]:
    grown = facts["overhead"]
    forms = (_of_form(grown.get("latches")), _of_form(grown))
    return (f"`{name}`", facts["preset"], *(cell for form in forms for cell in form))


def _of_form(grown: Mapping[str, Any] | None) -> tuple[str, ...]:
    if not grown:
        return ("-",) * (1 + len(NAND2_PER_BIT))
    return (("~" if grown["noise"] else "") + signed(grown["logic"]), *map(signed, grown["total"].values()))


def _missed(paths: Mapping[str, Mapping[str, Any]]) -> str:
    ratios = {name: path.get("with_access_of_baseline") for name, path in paths.items()}
    unknown = [f"`{name}`" for name, ratio in ratios.items() if not ratio]
    missed = [f"`{name}`" for name, ratio in ratios.items() if ratio and ratio > GOAL]
    said = f"{', '.join(missed)} must still get there" if missed else "every one that is timed is within it"
    return f"{said}, {', '.join(unknown)} must still be timed" if unknown else said


def _path(name: str, path: Mapping[str, Any]) -> tuple[object, ...]:
    slow = path.get("with_access")
    if not slow:
        return (f"`{name}`", *["-"] * 7)
    times = ", ".join(f"`{memory}` {access:.1f}" for memory, access in slow["access_fo4"].items())
    own = (f"{slow['nanoseconds']:.2f}", f"{slow['nanoseconds'] / slow['fo4_ns']:.1f}")
    ratios = (path.get("with_access_of_baseline"), path.get("of_baseline"))
    over = (f"{ratio:.2f}" if ratio else "-" for ratio in ratios)
    return (f"`{name}`", times, *own, *over, f"`{slow['start']}`", f"`{slow['end']}`")
