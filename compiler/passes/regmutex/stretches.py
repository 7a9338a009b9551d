"""Where a warp needs its section: at the instructions where more registers are live than its base set has.

A point is an instruction, with what holds before and in it, or the head of a block, behind the edges that lead there.
S = 1: the hardware has a section for the warp while some lane, running or parked, is at the point; a live register may
then be in the extended set. Between points S goes up by ACQ and down by REL. A warp has one section for all its lanes,
so that a REL must not take it from lanes that are parked where S = 1. The order in which the sides of a
divergent branch run is unknown, and so is where their lanes are parked, therefore a REL may stand in a side only if S =
0 at the branch, all over its other sides and at the head of the block where they rejoin; elsewhere S stays 1 for
longer. Then a warp has a section if and only if one of its lanes is at a point with S = 1 (or exited there).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.divergence import divergence
from warpfile.compiler.liveness import Liveness, liveness
from warpfile.compiler.loops import Loop, natural_loops
from warpfile.compiler.operands import effects
from warpfile.compiler.regions import Regions, by_rejoin
from warpfile.compiler.warp_liveness import warp_liveness

GENERAL = (1 << 255) - 1
_LEAVES = ("EXIT", "KILL")
_SPINS = frozenset("CAS EXCH STRONG VOLATILE".split())  #: modifiers of what may wait for another warp


@dataclass(frozen=True)
class Sides:
    """A branch that may part lanes: its block, the blocks of each side and where they rejoin.

    The blocks are a bit set of places in the :class:`Regions` of all branches that rejoin there.
    """

    block: int
    regions: tuple[int, ...]
    rejoin: int | None


@dataclass(frozen=True)
class Code:
    """A function's graph with what the pass asks of it again and again."""

    cfg: Cfg

    @cached_property
    def live(self) -> Liveness:
        """Registers that a lane needs."""
        return liveness(self.cfg)

    @cached_property
    def kept(self) -> Liveness:
        """Registers that some lane of the warp needs."""
        return warp_liveness(self.cfg, self.live, divergence(self.cfg))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Blocks that can be reached, each behind its predecessors where no loop forbids it."""
        reachable = self.cfg.reachable()
        return tuple(block for block in self.cfg.flow_order if block in reachable)

    @cached_property
    def before(self) -> dict[int, list[int]]:
        """By block, its predecessors in layout order, those that can be reached."""
        found: dict[int, list[int]] = {block: [] for block in self.order}
        for source in sorted(self.order):
            for target in dict.fromkeys(self.cfg.flow_successors[source]):
                found[target].append(source)
        return found

    @cached_property
    def sides(self) -> tuple[tuple[Regions, tuple[Sides, ...]], ...]:
        """All branches that may part lanes, those that rejoin at one block together."""
        parting = [branch.influence for branch in divergence(self.cfg).branches if not branch.is_uniform]
        return tuple(
            (regions, tuple(Sides(one.block, tuple(map(regions.region, one.sides)), one.rejoin) for one in group))
            for regions, group in by_rejoin(self.cfg, parting)
        )

    @cached_property
    def pressure(self) -> tuple[int, ...]:
        """By instruction, how many general registers the warp needs before it or just behind its definitions."""
        found = []
        for index, instruction in enumerate(self.cfg.function.instructions):
            defs = sum(1 << register for register in effects(instruction).defs)
            after = (self.kept.live_out[index] | defs) & GENERAL
            found.append(max((self.kept.live_in[index] & GENERAL).bit_count(), after.bit_count()))
        return tuple(found)

    @cached_property
    def peak(self) -> int:
        """Most registers that a warp needs anywhere."""
        return max(self.pressure[index] for block in self.order for index in self.cfg.blocks[block].instructions)

    @cached_property
    def at_barriers(self) -> int:
        """Most registers that a warp needs where it waits for its CTA."""
        return max((self.pressure[index] for index in self.barriers), default=0)

    @cached_property
    def barriers(self) -> frozenset[int]:
        """Instructions at which a warp waits for others."""
        return frozenset(i for i, one in enumerate(self.cfg.function.instructions) if one.opcode == "BAR")

    @cached_property
    def exits(self) -> frozenset[int]:
        """Instructions at which lanes end."""
        return frozenset(i for i, one in enumerate(self.cfg.function.instructions) if one.opcode in _LEAVES)

    @cached_property
    def stops(self) -> frozenset[int]:
        """Instructions at which S must be 0 where it can be."""
        return self.barriers | self.exits

    @cached_property
    def headers(self) -> frozenset[int]:
        """Blocks at which a loop begins."""
        return frozenset(loop.header for loop in self.loops)

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """Natural loops."""
        return natural_loops(self.cfg)


@dataclass
class Stretches:
    """S of every instruction and of every block's head."""

    code: Code
    held: list[bool]
    head: list[bool] = field(default_factory=list)

    def exit_of(self, block: int) -> bool:
        """S at the end of a block."""
        return self.held[self.code.cfg.blocks[block].end - 1]

    def somewhere(self, block: int) -> bool:
        """Whether S is 1 anywhere in a block."""
        return self.head[block] or any(self.held[index] for index in self.code.cfg.blocks[block].instructions)

    def crowded(self) -> set[int]:
        """Blocks in which lanes elsewhere may be at points with S = 1."""
        found: set[int] = set()
        busy = {block for block in self.code.order if self.somewhere(block)}
        for regions, group in self.code.sides:
            crowd, occupied = 0, regions.places(busy)
            for sides in group:
                waits = self.exit_of(sides.block) or (sides.rejoin is not None and self.head[sides.rejoin])
                busy_sides = [number for number, region in enumerate(sides.regions) if region & occupied]
                for number, region in enumerate(sides.regions):
                    if waits or any(other != number for other in busy_sides):
                        crowd |= region
            found.update(regions.members(crowd))
        return found

    def rises(self) -> Iterator[int]:
        """The block of every ACQ."""
        yield from (block for block, before, after in self._steps() if after and not before)

    def _steps(self) -> Iterator[tuple[int, bool, bool]]:
        """Every two neighbouring points: the block of the second, and S of both."""
        cfg = self.code.cfg
        for block in self.code.order:
            yield from ((target, self.exit_of(block), self.head[target]) for target in cfg.flow_successors[block])
            states = [self.head[block], *(self.held[index] for index in cfg.blocks[block].instructions)]
            yield from ((block, before, after) for before, after in pairwise(states))
        yield 0, False, self.head[0]

    def stretch(self, index: int) -> frozenset[int]:
        """Points with S = 1 from which one leads to an instruction over no other; heads of blocks as -1 - block."""
        seen, waiting = {index}, [index]
        while waiting:
            news = {source for source in self._before(waiting.pop()) if self._holds(source)} - seen
            seen |= news
            waiting += sorted(news)
        return frozenset(seen)

    def _holds(self, point: int) -> bool:
        return self.head[-1 - point] if point < 0 else self.held[point]

    def _before(self, point: int) -> Iterator[int]:
        """Points in front of one; heads of blocks as -1 - block."""
        cfg = self.code.cfg
        if point < 0:
            yield from (cfg.blocks[source].end - 1 for source in self.code.before[-1 - point])
        else:
            block = cfg.block_of[point]
            yield point - 1 if point != cfg.blocks[block].start else -1 - block

    def settle(self) -> None:
        """Put off every REL that must not be where it is, until all are where they may be."""
        while crowded := self.crowded():
            if not sum(self._extend(block) for block in self.code.order if block in crowded):
                return

    def _extend(self, block: int) -> bool:
        """Keep S at 1 all over the rest of a crowded block; whether this changed anything."""
        cfg, changed = self.code.cfg, False
        if not self.head[block] and any(self.exit_of(source) for source in self.code.before[block]):
            self.head[block] = changed = True
        state = self.head[block]
        for index in cfg.blocks[block].instructions:
            changed |= state and not self.held[index]
            state = self.held[index] = state or self.held[index]
        return changed

    def trouble(self) -> str:
        """Why the code must not run with these stretches; empty if it may."""
        for index in sorted(self.code.barriers):
            if self.held[index]:
                return f"more registers are needed at the barrier at {16 * index:#x}"
        apart = {block for regions, _ in self.code.sides for block in regions.blocks}
        for index in sorted(self.code.exits) if self.code.barriers else ():
            if self.held[index] and self.code.cfg.block_of[index] in apart:
                return f"lanes would end with the section at {16 * index:#x} while others come to a barrier"
        for loop in self.code.loops:
            if any(self.somewhere(block) for block in loop.blocks) and self._may_spin(loop):
                offset = 16 * self.code.cfg.blocks[loop.header].start
                return f"the loop at {offset:#x} may wait for another warp"
        return ""

    def _may_spin(self, loop: Loop) -> bool:
        instructions = self.code.cfg.function.instructions
        inside = (instructions[index] for block in loop.blocks for index in self.code.cfg.blocks[block].instructions)
        return any(one.opcode == "NANOSLEEP" or _SPINS & set(one.modifiers) for one in inside)


def find_stretches(code: Code, base: int, gap: int, hoist: bool, forced: frozenset[int]) -> Stretches:
    """Stretches for a base set. ``forced``: points where S must be 1, block heads as -1 - block."""
    held = [needed > base or index in forced for index, needed in enumerate(code.pressure)]
    kept = code.kept.live_in
    found = Stretches(code, held)
    for block in code.cfg.blocks:
        _merge(found, list(block.instructions), gap)
    crowd = [(kept[block.start] & GENERAL).bit_count() > base for block in code.cfg.blocks]
    found.head = [big or -1 - block in forced for block, big in enumerate(crowd)]
    if hoist:
        for loop in code.loops:
            _hoist(found, loop)
    found.settle()
    return found


def _merge(found: Stretches, points: list[int], gap: int) -> None:
    """Make stretches of a block one where fewer than ``gap`` instructions part them, none of them a barrier."""
    last = None
    for index in points:
        if found.held[index]:
            between = range(last + 1, index) if last is not None else range(0)
            if len(between) < gap and found.code.stops.isdisjoint(between):
                found.held[between.start : between.stop] = [True] * len(between)
            last = index


def _hoist(found: Stretches, loop: Loop) -> None:
    """S = 1 all over an innermost loop that has points with S = 1 and nothing where it must be 0."""
    code = found.code
    points = [index for block in loop.blocks for index in code.cfg.blocks[block].instructions]
    inner = code.headers & loop.blocks != {loop.header}
    if inner or not code.stops.isdisjoint(points) or not any(found.held[index] for index in points):
        return
    for index in points:
        found.held[index] = True
    for block in loop.blocks:
        found.head[block] = True
