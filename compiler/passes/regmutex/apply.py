"""A plan for the code, applied to what the warps executed of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.passes.lanes import START, Lanes
from warpfile.compiler.passes.regmutex.copies import result_of
from warpfile.compiler.passes.regmutex.layout import Program, Rewriting
from warpfile.spec.rewrite import Insertion, RewriteError, rewritten
from warpfile.spec.trace import Trace


def applied(trace: Trace, cfg: Cfg, plan: Rewriting, descriptor: dict[str, int]) -> Trace:
    """The trace with names and code of a plan.

    Every lane is followed, so that it gets the code of the edge that it came over; those of one record that came over
    different edges get theirs one after the other. Raises :class:`RewriteError` for lanes that came over none.
    """
    walk, insertions = _Walk(cfg, plan), list[Insertion]()
    places = [static.offset // 16 for static in trace.program]
    columns = zip(trace.instruction.tolist(), trace.active.tolist(), trace.live.tolist(), strict=True)
    starts = set(trace.warp_start[:-1].tolist())
    for record, (instruction, active, live) in enumerate(columns):
        if record in starts:
            walk.lanes = Lanes(live)
        for code, lanes in walk.step(places[instruction], active):
            insertions += [Insertion(record, one, False, result_of(one), None, lanes) for one in code]
    renamings = list(plan.names.values())
    number = {index: k for k, index in enumerate(plan.names)}
    renaming = np.array([number.get(place, -1) for place in places], dtype=np.int64)[trace.instruction]
    return rewritten(trace, insertions, renamings=renamings, renaming=renaming, descriptor=descriptor)


class _Walk:
    """The code that lanes execute on their path."""

    def __init__(self, cfg: Cfg, plan: Rewriting) -> None:
        self.lanes = Lanes(0)
        self._plan, self._blocks, self._block_of = plan, cfg.blocks, cfg.block_of
        self._edges = set(cfg.flow_edges)

    def step(self, index: int, active: int) -> Iterator[tuple[Program, int]]:
        """Code that lanes execute before an instruction, with those lanes; then they are there."""
        block = self._block_of[index]
        begins = self._blocks[block].start == index
        for place, lanes in self.lanes.step(index, active).items():
            if code := self._between(place, index, block, begins):
                yield code, lanes
        if begins and index in self._plan.before:
            yield self._plan.before[index], active

    def _between(self, place: int, index: int, block: int, begins: bool) -> Program:
        """Code on the way from one instruction to the next."""
        if not begins:
            if place != index - 1:
                raise RewriteError(
                    f"lanes must come to {16 * index:#x} from the instruction before, not {16 * place:#x}"
                )
            return self._plan.before.get(index, [])
        source = START if place == START else self._block_of[place]
        leaves = place == START or self._blocks[source].end == place + 1
        if not leaves or (place != START and (source, block) not in self._edges):
            raise RewriteError(f"lanes must come to {16 * index:#x} over an edge of the code, not from {16 * place:#x}")
        return self._plan.edges.get((source, block), [])
