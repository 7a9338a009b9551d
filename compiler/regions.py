"""What the branches that rejoin at one block decide: everything their sides reach without passing it.

Influence regions of branches of one rejoin block overlap almost wholly, so all of them are found in one graph: the
blocks that some side reaches, over a routine's own edges, with the routines called on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from functools import cached_property

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.liveness import members
from warpfile.compiler.reconvergence import Influence
from warpfile.compiler.worklist import Worklist, postorder, predecessors


def by_rejoin(cfg: Cfg, branches: Iterable[Influence]) -> list[tuple[Regions, list[Influence]]]:
    """Branches with known sides, those of one rejoin block (or of none) together with their regions."""
    groups: dict[int | None, list[Influence]] = {}
    for branch in branches:
        if branch.sides:
            groups.setdefault(branch.rejoin, []).append(branch)
    return [(Regions(cfg, place, [s for b in group for s in b.sides]), group) for place, group in groups.items()]


class Regions:
    """The graph of the blocks that ``sides`` reach without passing ``rejoin``; sets of them are bit sets of places."""

    def __init__(self, cfg: Cfg, rejoin: int | None, sides: Iterable[int]) -> None:
        self._cfg, self._rejoin, self._called = cfg, rejoin, dict(cfg.call_edges)
        self.blocks = list(self._reached(sides, set()))
        self._place = {block: place for place, block in enumerate(self.blocks)}
        self._after = [[self._place[one] for one in self._behind(block)] for block in self.blocks]

    def _behind(self, block: int) -> list[int]:
        called = [self._called[block]] if block in self._called else []
        if block in self._cfg.indirect_callers:
            called += self._cfg.entries.values()
        return [one for one in (*self._cfg.successors[block], *called) if one != self._rejoin]

    def _reached(self, starts: Iterable[int], seen: set[int]) -> Iterable[int]:
        work = [start for start in starts if start != self._rejoin]
        while work:
            block = work.pop()
            if block not in seen:
                seen.add(block)
                yield block
                work += self._behind(block)

    def spread_from(self, starts: Iterable[int], seen: set[int]) -> list[int]:
        """Blocks that the starts reach and that are not in ``seen`` yet, which they join; ``seen`` must be closed."""
        return list(self._reached(starts, seen))

    @cached_property
    def _order(self) -> list[int]:
        return postorder(self._after)

    @cached_property
    def _reach(self) -> list[int]:
        """Places that each place reaches, itself included."""
        return self._gathered([1 << place for place in range(len(self.blocks))])

    def region(self, side: int) -> int:
        """Blocks of a side, as a set of places."""
        return self._reach[self._place[side]] if side in self._place else 0

    def members(self, places: int) -> list[int]:
        """Blocks of a set of places."""
        return [self.blocks[place] for place in members(places)]

    def places(self, blocks: Container[int]) -> int:
        """The set of places of those blocks that are here."""
        return int("".join("01"[block in blocks] for block in reversed(self.blocks)) or "0", 2)

    def gathered(self, values: Callable[[int], int]) -> dict[int, int]:
        """By block, the union of the blocks' bit sets over everything that the block reaches in the region."""
        found = self._gathered([values(block) for block in self.blocks])
        return dict(zip(self.blocks, found, strict=True))

    def _gathered(self, found: list[int]) -> list[int]:
        before, work = predecessors(self._after), Worklist(self._order)
        while work:
            place = work.pop()
            for source in before[place]:
                if found[place] & ~found[source]:
                    found[source] |= found[place]
                    work.push(source)
        return found

    def spread(self, values: Mapping[int, int]) -> dict[int, int]:
        """By block, the union of the bit sets of all blocks from which it is reached in the region, itself included."""
        found, work = [values.get(block, 0) for block in self.blocks], Worklist(self._order[::-1])
        while work:
            place = work.pop()
            for target in self._after[place]:
                if found[place] & ~found[target]:
                    found[target] |= found[place]
                    work.push(target)
        return dict(zip(self.blocks, found, strict=True))
