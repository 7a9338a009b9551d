"""Which name every live register has at every point, and the moves that this takes (index compaction).

While a warp has no section, what a lane needs stands below the base set's end. Names of a lane's registers depend on
the point where the lane is alone, so that lanes apart may have different ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from warpfile.compiler.liveness import general_registers
from warpfile.compiler.operands import effects
from warpfile.compiler.passes.regmutex.copies import acquire, parallel_copy, release
from warpfile.compiler.passes.regmutex.groups import Groups
from warpfile.compiler.passes.regmutex.stretches import GENERAL, Stretches
from warpfile.compiler.passes.wide_operands import power
from warpfile.spec.trace import StaticInstruction

Names = Mapping[int, int]
Program = list[StaticInstruction]


class Scattered(Exception):
    """An instruction finds no names although the warp has its section, because free ones are not neighbours.

    ``wanted``: those that its results have in the listing.
    """

    def __init__(self, index: int, wanted: frozenset[int]) -> None:
        super().__init__(index)
        self.index, self.wanted = index, wanted


@dataclass
class Rewriting:
    """What to do with the code: names by instruction, code before instructions and on edges between blocks.

    The edge from -1 is the way into the kernel.
    """

    names: dict[int, dict[int, int]] = field(default_factory=dict)
    before: dict[int, Program] = field(default_factory=dict)
    edges: dict[tuple[int, int], Program] = field(default_factory=dict)

    @property
    def inserted(self) -> Iterator[StaticInstruction]:
        """All instructions that are inserted anywhere."""
        for program in (*self.before.values(), *self.edges.values()):
            yield from program


class _Slots:
    """Names that are taken at a point: by live registers, and by blocks of which some register is still to come."""

    def __init__(self, names: Names, groups: Groups, wide: int, leaving: Iterable[int]) -> None:
        self._owner = dict(zip(names.values(), names, strict=True))
        for register in leaving:
            if register in names:
                del self._owner[names[register]]
        self._groups, self._wide = groups, wide
        self._near = range(1 - groups.largest, groups.largest)

    def admit(self, wanted: Names) -> bool:
        """Whether registers may have these names."""
        return all(
            self._owner.get(slot, register) == register and all(one == register for one in self._kept(slot))
            for register, slot in wanted.items()
        )

    def _kept(self, slot: int) -> Iterator[int]:
        """Registers that may come to a name because neighbours in their blocks stand beside it."""
        for distance in self._near:
            owner = self._owner.get(slot - distance)
            if owner is not None and self._wide >> owner & 1:
                block = self._groups.block(owner)
                if len(block) > 1 and owner + distance in block:
                    yield owner + distance


class Layout:
    """One walk over the code. ``reserved``: by point, names that only their own registers should have there.

    Where names of the base set do not suffice, S becomes 1 for the rest of the walk. Such points are in ``more`` (heads
    of blocks as -1 - block), and what was found is for nothing: another walk must start with them.
    """

    def __init__(
        self,
        found: Stretches,
        groups: Groups,
        base: int,
        registers: int,
        *,
        reserved: Mapping[int, frozenset[int]],
        again: bool,
    ) -> None:
        self.code, self.found, self.groups = found.code, found, groups
        self.base, self.registers, self.reserved, self.again = base, registers, reserved, again
        self.result, self.more = Rewriting(), set[int]()
        self.entry: dict[int, dict[int, int]] = {}
        self.leave: dict[int, dict[int, int]] = {}
        self.shares = cache(self._shares)  # of a block that many calls lead to, once

    def walk(self) -> Rewriting:
        """All names and code."""
        for block in self.code.order:
            names = self.entry[block] = self._enter(block)
            for index in self.code.cfg.blocks[block].instructions:
                names = self._step(index, self._cross(index, names, self._held_before(block, index)))
            self.leave[block] = names
        for block in self.code.order:
            for source in self.code.before[block]:
                self._edge(source, block)
        return self.result

    def _state(self, point: int) -> bool:
        return self.found.head[-1 - point] if point < 0 else self.found.held[point]

    def _hold(self, point: int) -> None:
        """Let S be 1 at a point."""
        self.more.add(point)
        states = self.found.head if point < 0 else self.found.held
        states[-1 - point if point < 0 else point] = True

    def _held_before(self, block: int, index: int) -> bool:
        return self.found.head[block] if index == self.code.cfg.blocks[block].start else self.found.held[index - 1]

    def _live(self, index: int) -> list[int]:
        return list(general_registers(self.code.live.live_in[index] & GENERAL))

    def _enter(self, block: int) -> dict[int, int]:
        """Names at the head of a block: those of the first predecessor that is known, as far as S lets them be."""
        start = self.code.cfg.blocks[block].start
        source = next((one for one in self.code.before[block] if one in self.leave), None)
        held = source is not None and self.found.exit_of(source)
        names = self.leave[source] if source is not None else {}
        names = {register: names.get(register, register) for register in self._live(start)}
        names = self._fitting(start, -1 - block, names, held or source is None)
        if block == 0 and self.found.head[0]:
            self.result.edges[-1, 0] = [acquire(0)]
        return names

    def _fitting(self, index: int, point: int, names: dict[int, int], before: bool) -> dict[int, int]:
        """Names at a point in front of an instruction, behind one with S = ``before``."""
        if before and not self._state(point):
            fitting = self._compact(index, names)
            if fitting is not None:
                return fitting
            self._hold(point)
        if not before and self._state(point) and point in self.reserved:
            return self._clear(index, names, self.reserved[point])
        return names

    def _clear(self, index: int, names: dict[int, int], reserved: frozenset[int]) -> dict[int, int]:
        """Registers go away from names that are reserved for others; all to their own ones if all are reserved."""
        if len(reserved) == self.registers:
            return {register: register for register in names}
        foreign = {register for register, name in names.items() if name in reserved and name != register}
        return self._moved(index, names, foreign, self.registers, reserved) or names

    def _cross(self, index: int, names: dict[int, int], before: bool) -> dict[int, int]:
        """Code and names in front of an instruction inside a block."""
        new = self._fitting(index, index, names, before)
        held = before, self.found.held[index]
        code = self._code(index, names, new, held, held == (False, True))
        if code:
            self.result.before[index] = code
        return new

    def _code(
        self, index: int, names: Names, new: Names, held: tuple[bool, bool], acquiring: bool
    ) -> list[StaticInstruction]:
        """Moves from names to names in front of an instruction, with ACQ before or REL behind them."""
        offset = 16 * index
        live = self._live(index) if new is not names else []
        moves = {new[register]: names.get(register, register) for register in live}
        code = [acquire(offset)] if acquiring else []
        code += parallel_copy(offset, moves, range(self.registers if any(held) else min(self.base, self.registers)))
        return [*code, release(offset)] if held == (True, False) else code

    def _edge(self, source: int, target: int) -> None:
        """Code on an edge. Where the ACQ of another edge has room only at the block's head, all who come meet it."""
        held = self.found.exit_of(source), self.found.head[target]
        acquiring = held[1] and (not held[0] or (self.again and self.shares(target)))
        start = self.code.cfg.blocks[target].start
        code = self._code(start, self.leave[source], self.entry[target], held, acquiring)
        if code:
            self.result.edges[source, target] = code

    def _shares(self, target: int) -> bool:
        """Whether an ACQ stands at the head of a block: its edge comes from where there are other ways to go, too."""
        released = (one for one in self.code.before[target] if not self.found.exit_of(one))
        return any(len(self.code.cfg.flow_successors[one]) > 1 for one in released)

    def _compact(self, index: int, names: dict[int, int]) -> dict[int, int] | None:
        """Every register in the extended set gets a free place in the base set."""
        wide = self.groups.wide_in[index]
        stops = {register: name + self._unit(register, wide).stop - register for register, name in names.items()}
        high = {register for register, stop in stops.items() if stop > self.base}
        return self._moved(index, names, high, self.base)

    def _moved(
        self, index: int, names: dict[int, int], moving: set[int], limit: int, avoided: frozenset[int] = frozenset()
    ) -> dict[int, int] | None:
        """Names of which some registers, ascending and blocks as a whole, have others; None if there is no room."""
        new, wide, done = dict(names), self.groups.wide_in[index], set[int]()
        for register in sorted(moving):
            if register in done:
                continue
            unit = self._unit(register, wide)
            movers = frozenset(one for one in unit if one in names and (len(unit) == 1 or wide >> one & 1))
            slots = _Slots(new, self.groups, wide, movers)
            place = self._place(unit, len(unit), limit, slots, avoided)
            if place is None:
                return None
            new |= {one: place + one - unit.start for one in movers}
            done |= movers
        return new

    def _unit(self, register: int, wide: int) -> range:
        return self.groups.block(register) if wide >> register & 1 else range(register, register + 1)

    @staticmethod
    def _place(unit: range, size: int, limit: int, slots: _Slots, avoided: frozenset[int]) -> int | None:
        """Aligned place for some neighbours below a limit: the lowest, if possible outside of what is avoided."""
        places = [
            low
            for low in range(0, limit - len(unit) + 1, size)
            if slots.admit({register: low + register - unit.start for register in unit})
        ]
        return min(places, key=lambda low: not avoided.isdisjoint(range(low, low + len(unit))), default=None)

    def _step(self, index: int, names: dict[int, int]) -> dict[int, int]:
        """Names behind an instruction; notes those in it."""
        found = effects(self.code.cfg.function.instructions[index])
        placed = self._define(index, found.defs, names) if found.defs else {}
        self.result.names[index] = {register: names.get(register, register) for register in found.uses} | placed
        live = self.code.live
        before, behind = live.live_in[index] & GENERAL, live.live_out[index] & GENERAL
        if before == behind and not placed:
            return names
        coming = {register: register for register in general_registers(behind & ~before)}
        coming |= {register: slot for register, slot in placed.items() if behind >> register & 1}
        after = names | coming
        for register in general_registers(before & ~behind):
            del after[register]
        return after

    def _define(self, index: int, defs: tuple[int, ...], names: dict[int, int]) -> dict[int, int]:
        """Names of what an instruction defines."""
        live, base = self.code.live, min(self.base, self.registers)
        leaving = {*general_registers(live.live_in[index] & ~live.live_out[index] & GENERAL), *defs}
        slots = _Slots(names, self.groups, self.groups.wide_out[index], leaving)
        for limit in (self.registers,) if self.found.held[index] else (base, self.registers):
            for low in self._choices(index, defs, names, limit, slots):
                placed = {register: low + register - defs[0] for register in defs}
                if low >= 0 and max(placed.values()) < limit and slots.admit(placed):
                    return placed
            if not self.found.held[index]:
                self._hold(index)
        raise Scattered(index, frozenset(defs))

    def _choices(self, index: int, defs: tuple[int, ...], names: Names, limit: int, slots: _Slots) -> Iterator[int]:
        """Names for the first destination, best first."""
        instruction, wide = self.code.cfg.function.instructions[index], self.groups.wide_out[index]
        same = [one for one in defs if one in names and (instruction.is_guarded or one in effects(instruction).uses)]
        block = self.groups.block(defs[0])
        stay = wide & self.code.live.live_out[index] if _any(wide, defs) else 0
        near = [one for one in block if one in names and one not in defs and stay >> one & 1]
        for one in same[:1]:
            yield names[one] - (one - defs[0])
            return
        for one in near[:1]:
            yield names[one] - (one - defs[0])
            return
        yield defs[0]
        unit = block if len(block) >= len(defs) and _any(wide, defs) else range(defs[0], defs[0] + len(defs))
        place = self._place(unit, power(len(unit)), limit, slots, self.reserved.get(index, frozenset()))
        if place is not None:
            yield place + defs[0] - unit.start


def _any(registers: int, of: tuple[int, ...]) -> bool:
    return any(registers >> one & 1 for one in of)


def rewriting(
    stretches: Callable[[frozenset[int]], Stretches], groups: Groups, base: int, registers: int, again: bool
) -> tuple[Stretches, Rewriting]:
    """Names and code for stretches that grow until names suffice. Raises ``ValueError`` where they never do.

    ``stretches`` gives those in which S is 1 at some points; it raises ``ValueError`` where that must not be.
    """
    forced, reserved = frozenset[int](), dict[int, frozenset[int]]()
    while True:
        found = stretches(forced)
        layout = Layout(found, groups, base, registers, reserved=reserved, again=again)
        try:
            result = layout.walk()
            if not layout.more:
                return found, result
        except Scattered as scattered:
            if not layout.more:
                reserved = _more_reserved(reserved, scattered, found, frozenset(range(registers)))
        forced |= layout.more


def _more_reserved(
    reserved: dict[int, frozenset[int]], scattered: Scattered, found: Stretches, every: frozenset[int]
) -> dict[int, frozenset[int]]:
    """Names reserved all over a stretch: those that its instruction did not find free, and if they were, all.

    All at once with a loop in the stretch: a move where the section is taken is cheaper than a copy in every trip.
    Raises ``ValueError`` where all were.
    """
    points = found.stretch(scattered.index)
    loops = any(-1 - header in points for header in found.code.headers)
    for names in (every,) if loops else (scattered.wanted, every):
        if not all(names <= reserved.get(point, frozenset()) for point in points):
            return reserved | {point: reserved.get(point, frozenset()) | names for point in points}
    raise ValueError("free registers are not neighbours")
