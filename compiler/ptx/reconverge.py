"""BSSY and BSYNC at immediate post-dominators, where GPGPU-Sim's stack lets lanes meet without an instruction.

A BSYNC is where a block begins that is the nearest post-dominator of branches that may part lanes; its BSSY is before
each of these branches. A branch that lies on a cycle which avoids the BSYNC has its BSSY in front of that cycle
instead: lanes that leave the loop wait for those that go round.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

import networkx

from warpfile.compiler.cfg import STEP, Cfg
from warpfile.compiler.dominance import Ancestry, immediate_dominators, post_dominators
from warpfile.compiler.model import Label

BARRIERS = 16


@dataclass
class Line:
    """One instruction of a listing with the labels before it."""

    text: str
    labels: list[str] = field(default_factory=list)


def with_loop_entries(lines: list[Line], cfg: Cfg) -> list[Line]:
    """The same with an empty block, a NOP, in front of every loop that is entered from more than one place."""
    fresh, result = (f"entry_{number}" for number in count()), [Line(one.text, list(one.labels)) for one in lines]
    before: dict[int, list[Line]] = {}
    ancestry = Ancestry({node: above for node, above in immediate_dominators(cfg).items() if node != above})
    for block in cfg.blocks:
        inside = [at for at in cfg.predecessors[block.index] if ancestry.dominates(block.index, at)]
        outside = [at for at in cfg.predecessors[block.index] if at not in inside]
        if not inside or not outside:
            continue
        entry, head = next(fresh), result[block.start].labels[0]
        for at in outside:
            last = result[cfg.blocks[at].end - 1]
            last.text = last.text.replace(f"`({head})", f"`({entry})") if goes_to(cfg, at, block.start) else last.text
        falls = any(cfg.blocks[at].end == block.start and _falls(cfg, at) for at in inside)
        before[block.start] = [Line(f"BRA `({head})")] * falls + [Line("NOP", [entry])]
    return [one for at, line in enumerate(result) for one in (*before.get(at, ()), line)]


def goes_to(cfg: Cfg, block: int, start: int) -> bool:
    """Whether the branch that ends a block has an instruction as its target."""
    operands = cfg.last(cfg.blocks[block]).operands
    return any(isinstance(one, Label) and one.offset == STEP * start for one in operands)


def _falls(cfg: Cfg, block: int) -> bool:
    last = cfg.last(cfg.blocks[block])
    return last.opcode not in ("BRA", "EXIT") or last.is_conditional


@dataclass(frozen=True)
class Meeting:
    """Lanes meet where a block begins; ``points`` are the blocks before whose last instruction they form a group."""

    block: int
    points: tuple[int, ...]


def meetings(cfg: Cfg, parting: Iterable[int]) -> list[Meeting]:
    """Where lanes meet that the branches behind the blocks ``parting`` separate, in the order of the code."""
    above = post_dominators(cfg, {block.index for block in cfg.blocks if not cfg.successors[block.index]})
    points: dict[int, list[int]] = {}
    for block in parting:
        place = above.get(block, -1)
        if place >= 0:
            points.setdefault(place, []).extend(_points(cfg, block, place))
    return [Meeting(place, _needed(cfg, place, sorted(set(found)))) for place, found in sorted(points.items())]


def _points(cfg: Cfg, block: int, place: int) -> list[int]:
    """The block itself, or those in front of the cycle around it that avoids the place."""
    graph = networkx.DiGraph([edge for edge in cfg.edges if place not in edge])
    graph.add_node(block)
    cycle = next(part for part in networkx.strongly_connected_components(graph) if block in part)
    if len(cycle) == 1 and not graph.has_edge(block, block):
        return [block]
    before = sorted({source for source, target in cfg.edges if target in cycle and source not in cycle})
    if any(len(set(cfg.successors[source]) - cycle) for source in before):
        raise ValueError("loops must not be entered by conditional branches from where their lanes meet")
    return before


def _needed(cfg: Cfg, place: int, points: list[int]) -> tuple[int, ...]:
    """The points but those at which every way has passed another one since the lanes last met."""
    kept: list[int] = []
    for point in sorted(points, key=cfg.flow_order.index):
        in_force = set(range(len(cfg.blocks))) - {0}
        changed = True
        while changed:
            lost = {at for at in in_force if not _keeps(cfg, at, place, kept, in_force)}
            in_force, changed = in_force - lost, bool(lost)
        if point == place or not all(at in kept or at in in_force for at in cfg.predecessors[point] or (0,)):
            kept.append(point)
    return tuple(kept)


def _keeps(cfg: Cfg, block: int, place: int, kept: list[int], in_force: set[int]) -> bool:
    """Whether a group is in force behind a block, if it is behind the blocks ``in_force``."""
    if block in kept:
        return True
    return block != place and all(at in in_force or at in kept for at in cfg.predecessors[block])


def with_barriers(lines: list[Line], cfg: Cfg, found: list[Meeting]) -> list[Line]:
    """The lines with BSSY and BSYNC, without the NOP of loop entries. Raises ``ValueError`` for too deep nesting."""
    begins: dict[int, list[Line]] = {}
    meets: dict[int, Line] = {}
    for number, (meeting, barrier) in enumerate(zip(found, _numbers(cfg, found), strict=True)):
        meets[cfg.blocks[meeting.block].start] = Line(f"BSYNC B{barrier}", [f"meet_{number}"])
        for point in meeting.points:
            block = cfg.blocks[point]
            last = cfg.last(block)
            at = block.end - 1 if last.opcode in ("BRA", "NOP", "EXIT") else block.end
            begins.setdefault(at, []).append(Line(f"BSSY B{barrier}, `(meet_{number})"))
    return list(_merged(lines, begins, meets))


def _merged(lines: list[Line], begins: dict[int, list[Line]], meets: dict[int, Line]) -> Iterator[Line]:
    """Labels of a block go before its BSYNC; the label that BSSY names is behind it."""
    labels: list[str] = []
    for at, line in enumerate([*lines, Line("")]):
        labels += line.labels
        if meet := meets.get(at):
            yield Line(meet.text, labels)
            labels = list(meet.labels)
        for one in [*begins.get(at, ()), *([line] if line.text not in ("", "NOP") else [])]:
            yield Line(one.text, labels)
            labels = []


def _numbers(cfg: Cfg, found: list[Meeting]) -> list[int]:
    """Barrier registers; meetings that may be under way at once have different ones."""
    reach = [_region(cfg, one) for one in found]
    numbers: list[int] = []
    for at, one in enumerate(found):
        beside = {
            numbers[other]
            for other in range(at)
            if reach[other] & set(one.points) or reach[at] & set(found[other].points)
        }
        numbers.append(next(number for number in count() if number not in beside))
    if max(numbers, default=0) >= BARRIERS:
        raise ValueError(f"branches must be nested at most {BARRIERS} deep")
    return numbers


def _region(cfg: Cfg, meeting: Meeting) -> set[int]:
    """Blocks where a group may wait: from the points on, up to the meeting."""
    seen, work = set(meeting.points), list(meeting.points)
    while work:
        for target in cfg.successors[work.pop()]:
            if target != meeting.block and target not in seen:
                seen.add(target)
                work.append(target)
    return seen
