"""Which warps are launched, when and where (docs/machine.md, section 9, "CTA dispatch")."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from warpfile.spec.config import Config
from warpfile.spec.trace import Trace
from warpfile.spec.workload import Workload


@dataclass(slots=True, eq=False)
class Launch:
    """A warp offered for launch.

    ``warp`` slot, ``base`` (its first place), ``cta`` slot and the trace's warp number ``stream``.
    """

    warp: int
    base: int
    cta: int
    stream: int


def possible_warps(cfg: Config, workload: Workload) -> int:
    """The most warps that are resident at a time if the launch has CTAs enough: by slots, registers, shared memory."""
    largest = max(map(len, workload.ctas))
    slots = cfg.resident_warps(workload.registers, workload.kernel.descriptor)
    return largest * min(slots // largest, len(usable_ctas(cfg, workload)))


def usable_ctas(cfg: Config, workload: Workload) -> list[int]:
    """CTA slots whose home slots are all there, if they have any."""
    descriptor = workload.kernel.descriptor
    slots = cfg.resident_warps(workload.registers, descriptor)
    ctas = range(cta_limit(cfg, workload.trace))
    return [cta for cta in ctas if all(slot < slots for slot in cfg.home_slots(cta, descriptor))]


def cta_limit(cfg: Config, trace: Trace) -> int:
    """How many CTAs that have warps in the domain may be resident: those of the SM, or its share of small ones."""
    sm = min(cfg.ctas, cfg.shared_bytes // trace.shared_bytes) if trace.shared_bytes else cfg.ctas
    ctas = len(np.unique(trace.warp_cta))
    return max(1, min(sm, sm * trace.warps // (ctas * cfg.domains), cfg.cta_slots))


class CtaDispatcher:
    """Places CTAs in order on free warp slots, one warp launch per cycle.

    Raises ``ValueError`` for a CTA with more warps than a CTA slot has home slots.
    """

    def __init__(self, cfg: Config, workload: Workload) -> None:
        self._cfg = cfg
        kernel = workload.kernel
        self._kernel = kernel
        self._waiting = deque(workload.ctas)
        self._free_warps = list(range(cfg.resident_warps(kernel.registers, kernel.descriptor)))
        self._free_ctas = usable_ctas(cfg, workload)
        self._homes = {cta: cfg.home_slots(cta, kernel.descriptor) for cta in self._free_ctas}
        largest, fewest = max(map(len, workload.ctas)), min(map(len, self._homes.values()), default=0)
        if any(self._homes.values()) and largest > fewest:
            raise ValueError(f"a CTA must have at most {fewest} warps, which have home slots, not {largest}")
        self._members: dict[int, int] = {}
        self._queue: deque[Launch] = deque()
        self._accepted: list[Launch] = []

    @property
    def finished(self) -> bool:
        """No CTA waits and none is resident."""
        return not self._waiting and not self._members

    def offer(self) -> Launch | None:
        """The warp to launch in this cycle."""
        if not self._queue and self._waiting and self._fits(self._waiting[0]):
            self._start(self._waiting.popleft())
        return self._queue[0] if self._queue else None

    def _fits(self, streams: tuple[int, ...]) -> bool:
        return bool(self._free_ctas) and len(self._free_warps) >= len(streams)

    def _start(self, members: tuple[int, ...]) -> None:
        cta = self._free_ctas.pop(0)
        self._members[cta] = len(members)
        slots = self._homes[cta] or tuple(self._free_warps)
        for warp, stream in zip(slots, members, strict=False):
            self._free_warps.remove(warp)
            self._queue.append(Launch(warp, self._base(warp), cta, stream))

    def _base(self, warp: int) -> int:
        return self._cfg.base_place(warp, self._kernel.registers, self._kernel.descriptor)

    def accepted(self) -> list[Launch]:
        """Note that the offered warp was launched; the whole CTA's warps once its last one is, otherwise none."""
        self._accepted.append(self._queue.popleft())
        if self._queue:
            return []
        done, self._accepted = self._accepted, []
        return done

    def exited(self, warp: int, cta: int) -> None:
        """Free a warp slot with its places, and with the last one its CTA."""
        self._free_warps.append(warp)
        self._free_warps.sort()
        self._members[cta] -= 1
        if not self._members[cta]:
            del self._members[cta]
            self._free_ctas.append(cta)
            self._free_ctas.sort()
