"""The world around a machine that issues two beats per cycle: a study, without RTL (``golden.dual``).

Two beats per cycle arrive as well. The second issue is observed above the probes, in bits ``ISSUED`` and ``EXITS``
from the width of the layout on.
"""

from __future__ import annotations

from typing import Final

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.feed import Feed
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.workload import Workload

ISSUED: Final = 0  #: the warp that issues issues another beat
EXITS: Final = 1  #: which ends the warp


class DualStimulus(Stimulus):
    """Inputs of a cycle with a second beat."""

    second: Beat | None = None
    second_warp: int = 0


class DualEnvironment(Environment):
    """See :class:`spec.environment.Environment`; it drives :class:`golden.dual.DualMachine`."""

    def __init__(self, cfg: Config, workload: Workload, layout: ProbeLayout) -> None:
        super().__init__(cfg, workload, layout)
        self._stimulus = self._both = DualStimulus(results=self._stimulus.results)
        self._again = Stimulus()
        self._feed: Feed = self._front.feed
        self._at_second = layout.width
        self._second = 0

    def stimulus(self) -> Stimulus:
        """See :class:`Environment`; the second beat is sent behind the first, by the same rules."""
        super().stimulus()
        self._feed.send(self.cycle, self._again)
        self._both.second, self._both.second_warp = self._again.beat, self._again.beat_warp
        return self._both

    def observe(self, word: int) -> None:
        """See :class:`Environment`."""
        self._second = word >> self._at_second
        super().observe(word)

    def _issued(self, warp: int, exits: bool) -> None:
        super()._issued(warp, exits)
        if self._second >> ISSUED & 1:
            super()._issued(warp, bool(self._second >> EXITS & 1))
