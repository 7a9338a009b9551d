"""Divergence-aware liveness: registers that a warp must keep because some lane, running or parked, still needs them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.divergence import Divergence
from warpfile.compiler.liveness import EVERYTHING, Liveness
from warpfile.compiler.reconvergence import Influence
from warpfile.compiler.regions import Regions, by_rejoin


def warp_liveness(cfg: Cfg, live: Liveness, found: Divergence, any_progress: bool = False) -> Liveness:
    """Per-warp liveness LW from the per-lane one LV, as in RegMutex's compiler.

    For every branch not proven uniform, with rejoin block p and sides s_1..s_n:

        x in region(s_j):  LW(x) = LV(x) | LVin(p) | union over k != j of LVin(s_k)
        elsewhere:         LW(x) = LV(x);   nested branches accumulate

    Lanes of other sides wait at their start, or at p once they are done (:mod:`compiler.reconvergence`). A branch
    without p has its regions run to the end. With ``any_progress`` they may wait anywhere on their side, as independent
    thread scheduling allows: LVin(s_k) is replaced by the union of LV over region(s_k).
    """
    extra = [0] * len(cfg.blocks)
    parting = [branch.influence for branch in found.branches if not branch.is_uniform]
    if any(not branch.sides for branch in parting):
        extra = [EVERYTHING] * len(cfg.blocks)
    for regions, branches in by_rejoin(cfg, parting):
        for block, registers in regions.spread(_kept(cfg, live, regions, branches, any_progress)).items():
            extra[block] |= registers
    block_of = cfg.block_of
    return Liveness(
        tuple(registers | extra[block_of[index]] for index, registers in enumerate(live.live_in)),
        tuple(registers | extra[block_of[index]] for index, registers in enumerate(live.live_out)),
    )


def _kept(
    cfg: Cfg, live: Liveness, regions: Regions, branches: Iterable[Influence], any_progress: bool
) -> dict[int, int]:
    """By side, the registers that parked lanes of the other sides need all over its region."""

    def at_start(block: int | None) -> int:
        return 0 if block is None else live.live_in[cfg.blocks[block].start]

    def anywhere(block: int) -> int:
        return reduce(or_, (live.live_in[index] for index in cfg.blocks[block].instructions), 0)

    inside = regions.gathered(anywhere) if any_progress else {}
    kept: dict[int, int] = {}
    for branch in branches:
        needs = [at_start(side) | inside.get(side, 0) for side in branch.sides]
        once = twice = 0
        for need in needs:
            once, twice = once | need, twice | once & need
        for need, side in zip(needs, branch.sides, strict=True):
            others = once & ~need | twice | at_start(branch.rejoin)
            kept[side] = kept.get(side, 0) | others
    return kept
