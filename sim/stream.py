"""What golden model and environment hand to a simulation: one record per cycle, its inputs and what must be observed.

A record is a head and the sections that are there in its cycle (:func:`sim.stimulus.sections`), in order; every number
takes whole bytes, highest first, because Verilog's ``$fread`` reads them so. The head has, from its lowest bit: one bit
per section, the input ``ready``, the end mark, and the observation word. The last record is a head with the end mark
and the number of cycles in place of the observation: a stream without it was cut short.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from warpfile.schemes import Scheme
from warpfile.sim.counters import ObservedCounters
from warpfile.sim.records import Recorder, StreamFormat
from warpfile.spec.config import Config
from warpfile.spec.environment import Environment
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.workload import Workload

#: Cycles that are written at once.
BLOCK = 512


class GoldenSide:
    """A golden model and an environment of its own, which run ahead of a simulation.

    After :meth:`blocks` has ended, ``complete`` says whether the run came to its end, and ``error`` what the model or
    the environment objected to.
    """

    def __init__(self, scheme: Scheme, cfg: Config, workload: Workload, hang_cycles: int) -> None:
        layout = ProbeLayout(scheme.probes(cfg))
        self.model = scheme.golden(cfg, layout)
        self.environment = Environment(cfg, workload, layout)
        self.complete, self.error = False, ""
        self._format = StreamFormat(cfg, layout)
        self._counters = ObservedCounters(layout, partial(scheme.events, cfg), self._format.want_at)
        self._recorder = Recorder(cfg, layout, self.model.step, self.environment, hang_cycles)

    def blocks(self) -> Iterator[bytes]:
        """The stream. It has its last record only if the run came to its end."""
        recorder = self._recorder
        while recorder.running and not self.error:
            pieces: list[bytes] = []
            heads: list[bytes] = []
            try:
                recorder.record(BLOCK, pieces, heads)
            except AssertionError as error:
                self.error = str(error) or "assertion"
            self._counters.add_bytes(heads)
            if pieces:
                yield b"".join(pieces)
        if not self.error and self.environment.done:
            self.complete = True
            yield self._format.end(self.environment.cycle)

    def counters(self) -> dict[str, int]:
        """Counters summed from the observation words and from what the environment saw."""
        return with_observed(self._counters.totals(), self.environment)


def with_observed(totals: dict[str, int], environment: Environment) -> dict[str, int]:
    """Counters of the observation words, and those that only the environment knows."""
    written = totals.get("bank_writes", environment.writes)
    return totals | {"instructions": environment.instructions, "bank_writes": written}


def wrong_counters(ours: dict[str, int], theirs: dict[str, int]) -> dict[str, dict[str, int | None]]:
    """Counters of the golden model that are not what the observation words say."""
    return {name: {"rtl": ours.get(name), "golden": theirs[name]} for name in theirs if ours.get(name) != theirs[name]}
