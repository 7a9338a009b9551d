"""CTA dispatch and decode: what comes before the machine (docs/machine.md, section 9)."""

from __future__ import annotations

from collections import deque
from typing import Final

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import CtaDispatcher
from warpfile.spec.fetch import Fetch
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.trace import Kind
from warpfile.spec.workload import Kernel, Workload, streams

_BRANCH: Final = int(Kind.BRANCH)  # comparing with a member of an IntEnum costs a lookup for every beat


class FrontEnd:
    """Offers kernel, launches, beats and operands of a workload. ``drive`` once per cycle, then what the machine did in
    it, each by the method of its name. ``fetch`` sends the beats.
    """

    def __init__(self, cfg: Config, workload: Workload) -> None:
        self._streams: list[deque[Beat]] = streams(workload)
        self.fetch = Fetch(cfg)
        self._cta = [0] * cfg.warps
        self._leaving = 0  # warps that have ended, but the machine has not given their slot back
        self._dispatcher = CtaDispatcher(cfg, workload)
        self._moved = True  # what the dispatcher offers may have changed
        self._operand: int | None = None
        self._kernel: Kernel | None = workload.kernel if cfg.gives.kernel else None
        self._handshakes = cfg.gives.kernel
        self._operands = bool(cfg.operand_bits)
        self._sweeps = cfg.gives.sweeps

    @property
    def finished(self) -> bool:
        """Nothing resident, nothing left to launch."""
        return self._dispatcher.finished

    def head(self, warp: int) -> Beat | None:
        """The oldest beat that was sent to a warp slot and has not issued."""
        return self.fetch.head(warp)

    def drive(self, cycle: int, stimulus: Stimulus) -> None:
        """Set this cycle's kernel, launch, operand and beat."""
        if self._moved and self._kernel is None:
            stimulus.launch, self._moved = self._dispatcher.offer(), False
        if self._handshakes:
            stimulus.kernel = self._kernel
        if self._operands:
            stimulus.operand, self._operand = self._operand, None
        self.fetch.send(cycle, stimulus)

    def kernel_taken(self) -> None:
        """The kernel that was offered, if it still is."""
        self._kernel = None

    def launched(self, cycle: int) -> None:
        """The warp that was offered."""
        for launch in self._dispatcher.accepted():
            self._cta[launch.warp] = launch.cta
            self.fetch.launched(launch.warp, self._streams[launch.stream], cycle)
        self._moved = True

    def issued(self, warp: int, exits: bool, cycle: int) -> Beat:
        """The head beat of a warp, which it returns; ``exits`` if that ends the warp."""
        beat = self.fetch.issued(warp, cycle)
        if self._operands and beat.pseudo:
            self._operand = beat.operand
        if not beat.needs_unit:
            self._branched(warp, beat, cycle)
        if exits:
            if self._sweeps:
                self._leaving |= 1 << warp
            else:
                self._leave(warp)
        return beat

    def dispatched(self, warp: int, beat: Beat, cycle: int) -> None:
        """A beat of a warp leaves for its unit."""
        self._branched(warp, beat, cycle)

    def retired(self, warps: int) -> None:
        """Slots that are given back, for machines that sweep."""
        for warp in range(len(self._cta)):
            if warps >> warp & 1:
                assert self._leaving >> warp & 1, f"warp slot {warp} is given back, but its warp has not ended"
                self._leaving ^= 1 << warp
                self._leave(warp)

    def _branched(self, warp: int, beat: Beat, cycle: int) -> None:
        if beat.kind == _BRANCH and beat.last:
            self.fetch.branched(warp, cycle)

    def _leave(self, warp: int) -> None:
        """A warp gives its slot and places back."""
        self._dispatcher.exited(warp, self._cta[warp])
        self._moved = True
