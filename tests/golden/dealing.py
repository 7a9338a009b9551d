"""Which warps of a trace are a domain's, counted off in every CTA (docs/machine.md, section 9, "Dealing")."""

from __future__ import annotations

from collections import Counter

import numpy as np

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload


def warps_of(cfg: Config, trace: Trace) -> list[int]:
    """Numbers of the trace's warps that the domain runs, ascending."""
    counted: Counter[int] = Counter()
    found = []
    for warp, cta in enumerate(trace.warp_cta.tolist()):
        if counted[cta] % cfg.domains == cfg.domain:
            found.append(warp)
        counted[cta] += 1
    return found


def beats_of(cfg: Config, workload: Workload) -> list[Beat]:
    """Beats of the warps that the domain runs, warp by warp."""
    return [beat for warp in warps_of(cfg, workload.trace) for beat in workload.warps[warp]]


def instructions_of(cfg: Config, trace: Trace) -> int:
    """Instructions that the domain runs, without those that a pass inserted."""
    counted = np.concatenate([[0], np.cumsum(~trace.inserted)])[trace.warp_start]
    return int(sum(counted[warp + 1] - counted[warp] for warp in warps_of(cfg, trace)))
