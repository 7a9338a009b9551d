"""Generated Verilog as simulators read it fastest: the same machine, without what only costs them time.

Amaranth names every field of every structure, so that half of the lines are of aliases without a reader: Verilator
takes a quarter of its time to drop them. A wire that is assigned part by part is a net of a kind of its own to Icarus,
resolved bit by bit whenever a part changes, which is more than half of all it does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache
from itertools import pairwise

_MODULES = re.compile(r"^(?=module )", re.MULTILINE)
_NAME = re.compile(r"\\\S+|[A-Za-z_$][\w$]*")
_WIRE = re.compile(r"^ *(?:output )?wire (?:\[(\d+):0\] )?(\\\S+|[\w$]+) *;$")
_WHOLE = re.compile(r"^ *assign (\\\S+|[\w$]+) += (.*);$")
_PART = re.compile(r"^ *assign (\\\S+|[\w$]+) *\[(\d+)(?::(\d+))?\] += (.*);$")


@lru_cache(8)
def for_simulators(machine: str, others: str = "") -> str:
    """The machine as text of the same modules, ports, registers and memories.

    Wires are left out that are not read, in their module or in ``others``, text that looks into the machine. A wire
    whose parts are assigned one by one is assigned once. Lines that do not look as yosys writes them stay as they are.
    """
    seen = frozenset(_names(others))
    modules = (module.split("\n") for module in _MODULES.split(machine))
    return "".join("\n".join(_joined(_read(module, seen))) for module in modules)


def _names(line: str) -> list[str]:
    return [name.removeprefix("\\") for name in _NAME.findall(line)]


def _read(lines: list[str], seen: Collection[str]) -> list[str]:
    """The lines without wires that are declared and assigned and nothing else."""
    uses = Counter(name for line in lines for name in _names(line))
    bare = [line for before, line in pairwise(lines) if not before.lstrip().startswith("(*")]  # without attributes
    declared = {name for line in bare if (found := _WIRE.match(line)) for name in _names(found[2])}
    assigned = {name: _names(found[2]) for line in bare if (found := _WHOLE.match(line)) for name in _names(found[1])}
    gone: set[str] = set()
    pending = [name for name in assigned if uses[name] == 2 and name in declared and name not in seen]
    while pending:
        gone.add(name := pending.pop())
        for source in assigned[name]:
            uses[source] -= 1
            if uses[source] == 2 and source in assigned and source in declared and source not in seen:
                pending.append(source)
    return [line for line in lines if not gone.intersection(_names(_target(line)))]


def _target(line: str) -> str:
    """The name that a line declares or assigns as a whole."""
    if found := _WHOLE.match(line):
        return found[1]
    found = _WIRE.match(line)
    return found[2] if found else ""


def _joined(lines: list[str]) -> Iterable[str]:
    """The lines with one assignment of every wire that has one of each of its parts."""
    widths = {found[2]: int(found[1] or 0) + 1 for line in lines if (found := _WIRE.match(line))}
    parts: dict[str, dict[int, int]] = {}
    for found in filter(None, map(_PART.match, lines)):
        parts.setdefault(found[1], {})[int(found[3] or found[2])] = int(found[2]) + 1
    whole = {name for name, ends in parts.items() if _covered(ends, widths.get(name, 0))}
    for line in lines:
        found = _PART.match(line)
        if found is None or found[1] not in whole:
            yield line
            continue
        name, high, low = found[1], int(found[2]), int(found[3] or found[2])
        yield f"  wire [{high - low}:0] {_part(name, low)} = {found[4]};"
        if low == 0:
            ordered = ", ".join(_part(name, start) for start in sorted(parts[name], reverse=True))
            yield f"  assign {name} = {{ {ordered} }};"


def _covered(ends: dict[int, int], width: int) -> bool:
    """Whether parts, as ends by starts, follow each other without gap or overlap up to a width."""
    return [0, *(ends[start] for start in sorted(ends))] == [*sorted(ends), width]


def _part(name: str, low: int) -> str:
    """The wire that has one part; the expression keeps the width that it is assigned to."""
    return f"\\{name.removeprefix(chr(92))}.from.{low} "
