"""Machine registers for virtual ones: colouring of the interference graph, in the order of first definitions.

Two registers interfere if one is defined where the other is live behind the instruction (G. Chaitin and others,
"Register allocation via coloring", 1981). Groups and pairs take aligned runs. Copies are not removed: GPGPU-Sim
executes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from warpfile.compiler.liveness import Transfer, members, solve
from warpfile.compiler.ptx.errors import PtxError
from warpfile.compiler.ptx.lower import Code, Lowered

PREDICATES = 7
GENERAL = 254  #: R254 is the last one that the emulator takes
_STACK_POINTER = 1  #: every EXIT of the listing reads R1, so no value is in it


@dataclass(frozen=True)
class Allocation:
    """First machine register of every virtual one, and how many there are up to the highest."""

    numbers: dict[str, int]
    registers: int


@dataclass(frozen=True)
class _Unit:
    """What is placed as one: a register, or a group; ``parts`` are its members with their distances."""

    parts: tuple[tuple[str, int], ...]
    size: int

    @property
    def step(self) -> int:
        """Alignment: the size, up to a power of two."""
        return 1 << (self.size - 1).bit_length()


def successors(code: Sequence[Code | str]) -> list[tuple[int, ...]]:
    """Where control goes behind every instruction, as indices into ``code``; a label leads to the next one."""
    places = {one: index for index, one in enumerate(code) if isinstance(one, str)}
    found = []
    for index, one in enumerate(code):
        text = "" if isinstance(one, str) else one.text
        follows = (index + 1,) if index + 1 < len(code) and not text.startswith(("BRA", "EXIT")) else ()
        target = (places[one.target],) if isinstance(one, Code) and one.target else ()
        found.append((*target, *follows))
    return found


def live_out(code: Sequence[Code | str], names: Sequence[str]) -> list[int]:
    """Registers that are live behind every instruction, as bit sets over ``names``."""
    bit = {name: 1 << at for at, name in enumerate(names)}
    steps = [
        Transfer(sum(bit[name] for name in set(one.uses)), sum(bit[name] for name in set(one.kills)))
        if isinstance(one, Code)
        else Transfer(0, 0)
        for one in code
    ]
    return solve(steps, successors(code))


def names_of(code: Sequence[Code | str]) -> list[str]:
    """All virtual registers, in the order in which they are first named."""
    named = ((*one.defs, *one.uses) for one in code if isinstance(one, Code))
    return list(dict.fromkeys(name for group in named for name in group))


def interference(code: Sequence[Code | str], names: Sequence[str]) -> dict[str, set[str]]:
    """By register, those that must not share its place."""
    found: dict[str, set[str]] = {name: set() for name in names}
    for one, live in zip(code, live_out(code, names), strict=True):
        defs = one.defs if isinstance(one, Code) else ()
        beside = {names[at] for at in members(live)} if defs and live else set()
        for name in defs:
            others = (beside | set(defs)) - {name}
            found[name] |= others
            for other in others:
                found[other].add(name)
    return found


def allocate(lowered: Lowered) -> Allocation:
    """Places of all registers; of several orders the one that needs the fewest registers. Raises :class:`PtxError`."""
    numbers = None
    while numbers is None:
        names = names_of(lowered.code)
        conflicts = interference(lowered.code, names)
        predicates = [name for name in names if not lowered.widths[name]]
        numbers = _placed([_Unit(((name, 0),), 1) for name in predicates], conflicts, lowered.widths, PREDICATES)
        if numbers is None:
            _keep_in_register(lowered, max(predicates, key=lambda name: len(conflicts[name])))
    units = _units([name for name in names if lowered.widths[name]], lowered)
    orders = (
        units,
        sorted(units, key=lambda unit: -unit.size),
        sorted(units, key=lambda unit: -_degree(unit, conflicts)),
    )
    tried = (_placed(order, conflicts, lowered.widths, GENERAL) for order in orders)
    found = min((one for one in tried if one is not None), key=lambda one: _height(one, lowered.widths), default=None)
    if found is None:
        raise PtxError(1, f"must need at most {GENERAL} registers at once")
    return Allocation(numbers | found, _height(found, lowered.widths))


def _keep_in_register(lowered: Lowered, predicate: str) -> None:
    """Keep a predicate as 1 or 0 in a register of its own, from each definition to each use."""
    word, code = f"{predicate}_kept", list[Code | str]()
    if word in lowered.widths or predicate.endswith("_near"):
        raise PtxError(1, f"must need at most {PREDICATES} predicates in one instruction")
    lowered.widths[word] = 1
    for at, one in enumerate(lowered.code):
        if isinstance(one, str) or predicate not in (*one.defs, *one.uses):
            code.append(one)
            continue
        near = f"{predicate}_{at}_near"
        lowered.widths[near] = 0
        if predicate in one.uses:
            code.append(Code(f"ISETP.NE.AND %{near}, PT, %{word}, RZ, PT", (near,), (word,), (near,)))
        code.append(_renamed(one, predicate, near))
        if predicate in one.defs:
            code.append(Code(f"SEL %{word}, 0x1, RZ, %{near}", (word,), (near,), (word,)))
    lowered.code = code


def _renamed(one: Code, name: str, other: str) -> Code:
    defs, uses, kills = (
        tuple(other if register == name else register for register in part) for part in (one.defs, one.uses, one.kills)
    )
    return replace(one, text=re.sub(rf"%{re.escape(name)}\b", f"%{other}", one.text), defs=defs, uses=uses, kills=kills)


def _units(names: Sequence[str], lowered: Lowered) -> list[_Unit]:
    groups = dict.fromkeys(lowered.groups.get(name, (name,)) for name in names)
    found = []
    for group in groups:
        parts, size = [], 0
        for name in group:
            parts.append((name, size))
            size += lowered.widths[name]
        found.append(_Unit(tuple(parts), size))
    return found


def _degree(unit: _Unit, conflicts: dict[str, set[str]]) -> int:
    return len(set().union(*(conflicts.get(name, set()) for name, _ in unit.parts)))


def _placed(
    units: Sequence[_Unit], conflicts: dict[str, set[str]], widths: dict[str, int], count: int
) -> dict[str, int] | None:
    """The lowest free place of every unit, one after the other; None where one finds none."""
    numbers: dict[str, int] = {}
    taken: dict[str, set[int]] = {}
    for unit in units:
        for name, _ in unit.parts:
            taken[name] = {_STACK_POINTER} if widths[name] else set()
            for other in conflicts.get(name, set()) & numbers.keys():
                taken[name] |= set(_span(other, numbers[other], widths))
        places = range(0, count - unit.size + 1, unit.step)
        first = next((one for one in places if _is_free(unit, one, taken, widths)), None)
        if first is None:
            return None
        numbers |= {name: first + at for name, at in unit.parts}
    return numbers


def _is_free(unit: _Unit, first: int, taken: dict[str, set[int]], widths: dict[str, int]) -> bool:
    return all(taken[name].isdisjoint(_span(name, first + at, widths)) for name, at in unit.parts)


def _span(name: str, number: int, widths: dict[str, int]) -> range:
    """Machine registers of one at a number."""
    return range(number, number + max(1, widths[name]))


def _height(numbers: dict[str, int], widths: dict[str, int]) -> int:
    return max((number + widths[name] for name, number in numbers.items()), default=0)
