"""What every division of code into units must keep, judged instruction by instruction from the code alone."""

from __future__ import annotations

from collections.abc import Iterator

from warpfile.compiler.passes.ltrf.code import Code
from warpfile.compiler.passes.ltrf.units import NONE, Units


def steps(code: Code) -> set[tuple[int, int]]:
    """All pairs of instructions that may follow each other."""
    count = len(code.registers)
    ends = {start - 1 for start in code.starts} | {count - 1}
    return set(code.edges) | {(index, index + 1) for index in range(count - 1) if index not in ends}


def reached(start: set[int], pairs: set[tuple[int, int]]) -> set[int]:
    """What can be reached, by looking at all pairs again and again."""
    found = set(start)
    while more := {target for source, target in pairs if source in found} - found:
        found |= more
    return found


def faults(code: Code, units: Units, limit: int) -> Iterator[str]:
    """What is wrong with units of any kind."""
    pairs = steps(code)
    live = reached(set(code.entries), pairs)
    pairs = {(source, target) for source, target in pairs if source in live}
    for index, unit in enumerate(units.of):
        if (unit != NONE) != (index in live):
            yield f"{index} is reached or not, and is in unit {unit}"
    for source, target in pairs:
        unit = units.of[target]
        if units.of[source] != unit and units.heads[unit] != target:
            yield f"unit {unit} is entered at {target}"
    for head in (code.entries | code.heads) & live:
        if head not in units.heads:
            yield f"{head} is not the head of a unit"
    for unit, (head, registers) in enumerate(zip(units.heads, units.sets, strict=True)):
        members = {index for index, one in enumerate(units.of) if one == unit}
        inside = {(source, target) for source, target in pairs if {source, target} <= members}
        if head not in members or reached({head}, inside) != members:
            yield f"unit {unit} is not reached from its head"
        if {bit for bit in range(256) if registers >> bit & 1} != named(code, members):
            yield f"the set of unit {unit} is not that of its registers"
        if len(named(code, members)) > limit:
            yield f"unit {unit} has too many registers"
        if members & code.calls and len(members) > 1:
            yield f"a call is not alone in unit {unit}"


def named(code: Code, members: set[int]) -> set[int]:
    """Registers of some instructions."""
    return {bit for bit in range(256) for index in members if code.registers[index] >> bit & 1}


def mergeable(code: Code, units: Units, limit: int) -> Iterator[tuple[int, int]]:
    """Units that could still be merged: only one other leads there, none must begin, and the registers fit."""
    before: dict[int, set[int]] = {unit: set() for unit in range(len(units.heads))}
    for source, target in steps(code):
        if NONE not in (units.of[source], units.of[target]) and units.of[source] != units.of[target]:
            before[units.of[target]].add(units.of[source])
    for unit, sources in before.items():
        if len(sources) == 1 and units.heads[unit] not in code.heads | code.entries:
            (other,) = sources
            if (units.sets[unit] | units.sets[other]).bit_count() <= limit:
                yield other, unit


def strand_faults(code: Code, units: Units) -> Iterator[str]:
    """What a strand must not have inside: anything behind a wait or a backward branch, or a target of one."""
    for source, target in steps(code):
        backward = (source, target) in code.edges and target <= source
        ends = backward or source in code.waits
        parts = any(other <= source for one, other in code.edges if one == source)
        if units.of[source] != NONE and (ends or parts) and target not in units.heads:
            yield f"{target} behind {source} is inside a strand"
    if not units.repeats:
        yield "a strand goes on over a backward branch to its head"
