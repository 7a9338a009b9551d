"""New numbers for registers: those that a warp needs first are the lowest (docs/schemes/owf.md, section 10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from warpfile.compiler.cfg import build_cfg
from warpfile.compiler.model import Function
from warpfile.compiler.operands import effects
from warpfile.compiler.passes.unknown_code import unknown
from warpfile.compiler.passes.wide_operands import power, wide_sources
from warpfile.compiler.program import static_instructions


@dataclass(frozen=True)
class Order:
    """New number by old number; ``reason`` says why registers keep their numbers."""

    names: dict[int, int] = field(default_factory=dict)
    reason: str = ""


def ordered(function: Function, registers: int) -> Order:
    """New numbers for all registers that a function of so many registers names."""
    if reason := next(filter(None, map(unknown, function.instructions)), ""):
        return Order(reason=reason)
    size: dict[int, int] = {}
    for group in sorted(_groups(function), key=len):
        unit = power(len(group))
        if group[0] % unit:
            return Order(reason=f"the operand from R{group[0]} on is not aligned")
        size |= dict.fromkeys(range(group[0], group[0] + unit), unit)
    names: dict[int, int] = {}
    taken: set[int] = set()
    for register in _first_named(function):
        unit = size.get(register, 1)
        first = register - register % unit
        if register not in names:
            place = _lowest(taken, unit)
            taken |= {*range(place, place + unit)}
            names |= {first + number: place + number for number in range(unit)}
    named = set(_first_named(function))
    names = {old: new for old, new in names.items() if old in named}
    if max(names.values(), default=0) >= registers:
        return Order(reason=f"new numbers need {1 + max(names.values())} registers, and the kernel has {registers}")
    return Order(names)


def _groups(function: Function) -> Iterator[range]:
    """Numbers of registers that some instruction names as one operand."""
    for one in function.instructions:
        yield from wide_sources(one)
        if len(dests := effects(one).defs) > 1:
            yield range(dests[0], dests[0] + len(dests))


def _first_named(function: Function) -> list[int]:
    """Registers in the order in which the code first names them, sources before destinations."""
    cfg, statics = build_cfg(function), static_instructions(function)
    order = (index for block in cfg.flow_order for index in cfg.blocks[block].instructions)
    return list(dict.fromkeys(register for i in order for register in (*statics[i].sources, *statics[i].dests)))


def _lowest(taken: set[int], unit: int) -> int:
    """The lowest free aligned block of so many numbers."""
    place = 0
    while not taken.isdisjoint(range(place, place + unit)):
        place += unit
    return place
