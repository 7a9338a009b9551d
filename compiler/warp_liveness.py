"""Divergence-aware liveness: registers that a warp must keep because some lane, running or parked, still needs them."""

from __future__ import annotations

from warpfile.compiler.cfg import Cfg
from warpfile.compiler.divergence import Divergence
from warpfile.compiler.liveness import EVERYTHING, Liveness
from warpfile.compiler.rejoin import Influence


def warp_liveness(cfg: Cfg, live: Liveness, found: Divergence, any_progress: bool = False) -> Liveness:
    """Per-warp liveness LW from the per-lane one LV, as in RegMutex's compiler.

    For every branch not proven uniform, with rejoin block p and sides s_1..s_n:

        x in region(s_j):  LW(x) = LV(x) | LVin(p) | union over k != j of LVin(s_k)
        elsewhere:         LW(x) = LV(x);   nested branches accumulate

    Lanes of other sides wait at their start, or at p once they are done (:mod:`compiler.rejoin`; a branch without p has
    its regions run to the end). With ``any_progress`` they may wait anywhere on their side, as independent thread
    scheduling allows: LVin(s_k) is replaced by the union of LV over region(s_k).
    """
    extra = [0] * len(cfg.blocks)
    for branch in found.branches:
        if not branch.is_uniform:
            for block, registers in _kept(cfg, live, branch.influence, any_progress).items():
                extra[block] |= registers
    block_of = cfg.block_of
    return Liveness(
        tuple(registers | extra[block_of[index]] for index, registers in enumerate(live.live_in)),
        tuple(registers | extra[block_of[index]] for index, registers in enumerate(live.live_out)),
    )


def _kept(cfg: Cfg, live: Liveness, branch: Influence, any_progress: bool) -> dict[int, int]:
    """Registers that parked lanes need, by block of the branch's regions."""

    def at_start(block: int | None) -> int:
        return 0 if block is None else live.live_in[cfg.blocks[block].start]

    if not branch.sides:
        return dict.fromkeys(branch.region, EVERYTHING)
    needs = [at_start(side) for side in branch.sides]
    if any_progress:
        for side, region in enumerate(branch.regions):
            for block in region:
                for index in cfg.blocks[block].instructions:
                    needs[side] |= live.live_in[index]
    kept: dict[int, int] = {}
    for side, region in enumerate(branch.regions):
        others = at_start(branch.rejoin)
        for other, registers in enumerate(needs):
            others |= registers if other != side else 0
        for block in region:
            kept[block] = kept.get(block, 0) | others
    return kept
