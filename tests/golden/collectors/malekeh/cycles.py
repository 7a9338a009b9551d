"""Cycles of a run of the caching units, with what happened in them, for whoever counts or judges it afterwards."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.golden.collectors.malekeh.view import UnitView, units_of
from tests.golden.machines import Malekeh
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Environment, Result, Stimulus
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.malekeh import MalekehConfig
from warpfile.spec.trace import StaticInstruction
from warpfile.spec.workload import Workload


@dataclass
class Cycle:
    """One cycle: probes ``f``, units ``before`` it and ``after`` it, and ``following``, the probes of the next one.

    ``results`` are the accepted ones with a register, by port; ``beat`` is the one that issues, ``unit`` the unit that
    takes it (-1: none). ``heads`` are the oldest beats of the warps at the beginning.
    """

    cfg: MalekehConfig
    f: dict[str, int]
    before: list[UnitView]
    results: dict[int, Result]
    heads: dict[int, Beat]
    banks: dict[tuple[int, int], int]  #: of every source slot that asks
    static: StaticInstruction | None = None
    launched: int = -1
    after: list[UnitView] = field(default_factory=list)
    following: dict[str, int] = field(default_factory=dict)

    @property
    def beat(self) -> Beat | None:
        """The beat that issues."""
        return self.heads[self.f["issue_warp"]] if self.f["issue"] else None

    @property
    def taken(self) -> Beat | None:
        """The beat that issues, if a unit takes it."""
        return self.beat if self.f["allocate"] else None

    @property
    def unit(self) -> int:
        """The unit that takes it."""
        return self.f["allocate"].bit_length() - 1

    def owned(self, warp: int) -> int:
        """The unit of a warp, -1 for none."""
        return next((unit for unit, view in enumerate(self.before) if view.owner == warp), -1)

    def near(self, port: int) -> bool:
        """The hint of a result."""
        result = self.results[port]
        return bool(result.hints >> result.component & 1)

    def entered(self) -> Iterator[tuple[int, int]]:
        """Unit and entry of every result that takes an entry from another register, or an empty one."""
        for port in indices(self.f["cache"] & ~self.f["cache_hit"]):
            unit = self.owned(self.results[port].warp)
            yield unit, self.before[unit].replaceable()[0]


class Cycles:
    """Watches a run: ``see`` every cycle; ``done`` is the last one whose consequences are known."""

    def __init__(self, cfg: MalekehConfig, workload: Workload) -> None:
        self._cfg = cfg
        self._workload = workload
        self._buffers: dict[int, deque[Beat]] = {}
        self._base: dict[int, int] = {}
        self._held: dict[int, tuple[int, Beat]] = {}
        self._last: Cycle | None = None
        self.done: Cycle | None = None

    def see(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Note one cycle."""
        views = units_of(self._cfg, f)
        if self._last is not None:
            self._last.after, self._last.following = views, f
        self.done = self._last
        accepted = {port: stimulus.results[port] for port in indices(f["write"])}
        results = {port: result for port, result in accepted.items() if result is not None and result.writes}
        heads = {warp: buffer[0] for warp, buffer in self._buffers.items() if buffer}
        launched = stimulus.launch.warp if stimulus.launch is not None else -1
        self._last = Cycle(self._cfg, f, views, results, heads, self._banks(f, views), launched=launched)
        if f["issue"]:
            trace, beat = self._workload.trace, heads[f["issue_warp"]]
            self._last.static = trace.program[int(trace.instruction[beat.record])]
            self._buffers[f["issue_warp"]].popleft()
            if f["allocate"]:
                self._held[self._last.unit] = f["issue_warp"], beat
        if stimulus.launch is not None:
            self._buffers[launched], self._base[launched] = deque(), stimulus.launch.base
        if stimulus.beat is not None:
            self._buffers[stimulus.beat_warp].append(stimulus.beat)

    def _banks(self, f: dict[str, int], views: list[UnitView]) -> dict[tuple[int, int], int]:
        banks = {}
        for index in indices(f["request"]):
            unit, slot = divmod(index, self._cfg.source_slots)
            warp, beat = self._held[unit]
            row, bank = divmod(self._base[warp] + beat.sources[slot], self._cfg.banks)
            banks[unit, slot] = (bank + {"none": 0, "warp": warp, "row": row}[self._cfg.bank_skew]) % self._cfg.banks
        return banks


def cycles_of(model: Malekeh, environment: Environment, layout: ProbeLayout) -> Iterator[Cycle]:
    """All cycles of a run but the last."""
    assert isinstance(environment.cfg, MalekehConfig)
    cycles = Cycles(environment.cfg, environment.workload)
    while not environment.done:
        stimulus = environment.stimulus()
        word = model.step(stimulus)
        cycles.see(stimulus, layout.unpack(word))
        environment.observe(word)
        if cycles.done is not None:
            yield cycles.done
