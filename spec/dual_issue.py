"""The environment of a machine that issues two beats per cycle: a study, without RTL (``golden.dual_issue``).

Two beats per cycle arrive as well. The second issue is observed above the probes, in bits ``ISSUED`` and ``EXITS``
from the width of the layout on, and its warp from ``WARP`` on.
"""

from __future__ import annotations

from typing import Final

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.fetch import Fetch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.workload import Workload

ISSUED: Final = 0  #: a second beat issues
EXITS: Final = 1  #: which ends its warp
WARP: Final = 2
SCHEDULERS: Final = 2
PORTS: Final = 4  #: execution ports, and write-back ports, of a machine with two schedulers


class DualStimulus(Stimulus):
    """Inputs of a cycle with a second beat."""

    second: Beat | None = None
    second_warp: int = 0


class DualEnvironment(Environment):
    """See :class:`spec.environment.Environment`; it drives :class:`golden.dual_issue.TwoIssues`."""

    def __init__(self, cfg: Config, workload: Workload, layout: ProbeLayout) -> None:
        super().__init__(cfg, workload, layout)
        self._stimulus = self._both = DualStimulus(results=self._stimulus.results)
        self._again = Stimulus()
        self._fetch: Fetch = self._front.fetch
        self._at_second = layout.width
        self._second = 0

    def stimulus(self) -> Stimulus:
        """See :class:`Environment`; the second beat is sent behind the first, by the same rules."""
        super().stimulus()
        self._fetch.send(self.cycle, self._again)
        self._both.second, self._both.second_warp = self._again.beat, self._again.beat_warp
        return self._both

    def observe(self, word: int) -> None:
        """See :class:`Environment`."""
        self._second = word >> self._at_second
        super().observe(word)

    def _issued(self, warp: int, exits: bool) -> None:
        super()._issued(warp, exits)
        if self._second >> ISSUED & 1:
            super()._issued(self._second >> WARP, bool(self._second >> EXITS & 1))


class SchedulersEnvironment(DualEnvironment):
    """Around :class:`golden.dual_issue.TwoSchedulers`: tokens of beats that need no unit come back where sums do."""

    def __init__(self, cfg: Config, workload: Workload, layout: ProbeLayout) -> None:
        super().__init__(cfg, workload, layout)
        self._execution.token_ports = [warp % SCHEDULERS for warp in range(cfg.warps)]


def own_ports(cfg: Config, warp: int) -> tuple[int, ...]:
    """Execution port of every class of units for the warp in a slot: the first two are for all arithmetic, each of one
    scheduler.
    """
    return tuple(warp % SCHEDULERS if port < SCHEDULERS else port for port in cfg.port_of)
