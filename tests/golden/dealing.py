"""Which warps of a trace are a domain's, counted off over the launch (docs/machine.md, section 9, "Dealing")."""

from __future__ import annotations

import numpy as np

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload


def warps_of(cfg: Config, trace: Trace) -> list[int]:
    """Numbers of the trace's warps that the domain runs, ascending."""
    ctas = list(dict.fromkeys(trace.warp_cta.tolist()))
    launched = sorted(range(trace.warps), key=lambda warp: (ctas.index(trace.warp_cta[warp]), warp))
    return sorted(warp for count, warp in enumerate(launched) if count % cfg.domains == cfg.domain)


def beats_of(cfg: Config, workload: Workload) -> list[Beat]:
    """Beats of the warps that the domain runs, warp by warp."""
    return [beat for warp in warps_of(cfg, workload.trace) for beat in workload.warps[warp]]


def instructions_of(cfg: Config, trace: Trace) -> int:
    """Instructions that the domain runs, without those that a pass inserted."""
    counted = np.concatenate([[0], np.cumsum(~trace.inserted)])[trace.warp_start]
    return int(sum(counted[warp + 1] - counted[warp] for warp in warps_of(cfg, trace)))
