"""What golden model and environment hand to a simulation: one record per cycle, its inputs and what must be observed.

A record is a head and the sections that are there in its cycle (:func:`sim.stimulus.sections`), in order; every number
takes whole bytes, highest first, because Verilog's ``$fread`` reads them so. The head has, from its lowest bit: one bit
per section, the input ``ready``, the end mark, and the observation word. The last record is a head with the end mark
and the number of cycles instead of the observation: a stream without it was cut short. One with the end mark and no
cycles stands for a cycle of reset, after which another run begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from warpfile.schemes import Scheme
from warpfile.sim.counters import ObservedCounters
from warpfile.sim.initial_state import PLAIN, InitialState
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
    the environment objected to. ``cycles`` and ``operands_checked`` count from the first reset on, all else from the
    last; ``cycles_before`` are those between them.
    """

    def __init__(
        self, scheme: Scheme, cfg: Config, workload: Workload, hang_cycles: int, initial_state: InitialState = PLAIN
    ) -> None:
        layout = ProbeLayout(scheme.probes(cfg))
        self._scheme, self._cfg, self._layout, self._workload = scheme, cfg, layout, workload
        self._hang_cycles, self._reset_after = hang_cycles, initial_state.reset_after
        self.complete, self.error = False, ""
        self.cycles_before = self._operands_before = 0
        self._format = StreamFormat(cfg, layout)
        self._counters = ObservedCounters(layout, partial(scheme.events, cfg), self._format.want_at)
        self._begin()

    def _begin(self) -> None:
        self.model = self._scheme.golden(self._cfg, self._layout)
        self.environment = Environment(self._cfg, self._workload, self._layout)
        given = (self._cfg, self._layout, self.model.step, self.environment, self._hang_cycles)
        self._recorder = Recorder(*given)

    @property
    def cycles(self) -> int:
        """Cycles that were recorded."""
        return self.cycles_before + self.environment.cycle

    @property
    def operands_checked(self) -> int:
        """Operands that the model has looked at."""
        return self._operands_before + self.model.operands_checked

    def blocks(self) -> Iterator[bytes]:
        """The stream. It has its last record only if the run came to its end."""
        if self._reset_after is not None:
            yield self._record(self._reset_after)[0] + self._format.end(0)
            self.cycles_before, self._operands_before = self.cycles, self.operands_checked
            self._begin()
        while self._recorder.running and not self.error:
            block, heads = self._record(BLOCK)
            self._counters.add_bytes(heads)
            if block:
                yield block
        if not self.error and self.environment.done:
            self.complete = True
            yield self._format.end(self.cycles)

    def _record(self, cycles: int) -> tuple[bytes, list[bytes]]:
        """Records of the next cycles, and their heads."""
        pieces: list[bytes] = []
        heads: list[bytes] = []
        try:
            self._recorder.record(cycles, pieces, heads)
        except AssertionError as error:
            self.error = str(error) or "assertion"
        return b"".join(pieces), heads

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
