"""What must hold in every cycle of a machine with a read window (docs/schemes/modern.md, sections 1 and 15)."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.golden.invariants import require
from tests.golden.machines import Modern
from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.read_window.held_beat import HeldBeat
from warpfile.golden.copies import row_in_lanes
from warpfile.spec.schemes.modern import BARRIERS, ENTRIES, LSU, NO_BARRIER, SFU, ReadWindowConfig
from warpfile.spec.schemes.ported import BANKS
from warpfile.spec.stimulus import Stimulus
from warpfile.spec.trace import Trace


@dataclass
class WindowWatcher:
    """Follows beats from Control to their results. ``look`` before a cycle, ``check`` behind it.

    ``raised``: per warp and counter, how many beats it guards; ``youngest``: resident warps, the last launched first.
    """

    cfg: ReadWindowConfig
    machine: Modern
    trace: Trace
    left: deque[int] = field(default_factory=deque)
    freezes: int = 0
    planned: list[int] = field(default_factory=list)
    raised: dict[tuple[int, int], int] = field(default_factory=dict)
    hits: dict[int, int] = field(default_factory=dict)
    settled: int = 0
    reading: list[HeldBeat] = field(default_factory=list)
    youngest: list[int] = field(default_factory=list)
    issuer: int = -1
    live: dict[int, int] = field(default_factory=dict)
    control: HeldBeat | None = None
    allocating: HeldBeat | None = None

    def look(self) -> None:
        """Take down what the cycle is about to change."""
        collectors = self.machine.collectors
        self.control, self.allocating = collectors.control, collectors.allocating
        self.settled = sum(1 << entry for entry in range(ENTRIES) if not collectors.cache.timer[entry])

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """A cycle: its inputs and what was observed in it."""
        self._check_choice(f)
        self._check_window(f)
        self._check_ports(f)
        self._check_queues(f)
        if self.cfg.reuses:
            self._check_entries(f)
            self._check_hits(f)
        if self.cfg.codes:
            self._check_counters(f)
            self._follow_counters(stimulus, f)
        self._follow_warps(stimulus, f)

    def check_end(self, counters: Mapping[str, int]) -> None:
        """The run is over."""
        require(not any(self.raised.values()), "nothing is guarded at the end")
        found = counters["rfc_hits"] + counters["fixed_reads"] + counters["duplicates"]
        require(counters["fixed_sources"] == found, "every source is found, read or shared")

    def _check_choice(self, f: dict[str, int]) -> None:
        eligible = f["clear"] & ~f["waiting"] & f["room"]
        require(bool(f["issue"]) == bool(eligible and not f["freeze"]), "an eligible warp issues but in a freeze")
        if f["issue"] and self.cfg.scheduler == "cggty":
            first = next(warp for warp in [self.issuer, *self.youngest] if warp >= 0 and eligible >> warp & 1)
            require(f["issue_warp"] == first, "the last issuer goes on, otherwise the youngest")

    def _check_window(self, f: dict[str, int]) -> None:
        self.left.append(f["allocating"] & ~f["freeze"])
        leaves = self.left.popleft() if len(self.left) > self.cfg.read_window + 1 else 0
        require(f["dispatch"] & 1 == f["offer"] & 1 == leaves, "a fixed beat leaves as late as the window is long")
        require(not f["write_wait"] & 1, "a fixed result is accepted at once")
        self.freezes = self.freezes + 1 if f["freeze"] else 0
        require(self.freezes < self.cfg.read_window, "freezes end when the reads before them have")
        require(not f["freeze"] or self.cfg.read_ports < 3, "with three ports everything fits")

    def _check_ports(self, f: dict[str, int]) -> None:
        window = self.cfg.read_window
        reserved = [
            [f["reserved"] >> 2 * (bank * window + cycle) & 3 for cycle in range(window)] for bank in range(BANKS)
        ]
        for bank in range(BANKS):
            fetched = (f["fetch"] >> bank & 1) + (f["fetch"] >> 2 + bank & 1)
            require(reserved[bank][0] + fetched <= self.cfg.read_ports, "reservations and queues share the ports")
            before = self.planned[bank] if self.planned else 0
            require(sum(reserved[bank]) == before, "what is planned is served in its cycle")
        needs = [0 if f["freeze"] else f["need"] >> 2 * bank & 3 for bank in range(BANKS)]
        self.planned = [sum(reserved[bank][1:]) + needs[bank] for bank in range(BANKS)]

    def _check_queues(self, f: dict[str, int]) -> None:
        queues, control = self.machine.collectors.queues, self.machine.collectors.control
        for queue, depth in zip((LSU, SFU), self.cfg.queue_depths, strict=True):
            entering = control is not None and control.entry.port == self.cfg.queue_ports[queue]
            require(queues.credits[queue] + entering + len(queues.beats[queue]) == depth, "no credit is lost")

    def _check_entries(self, f: dict[str, int]) -> None:
        """Of those that had their operand when the cycle began, or get it at its end."""
        collectors = self.machine.collectors
        cache = collectors.cache
        for entry in indices(cache.valid & self.settled & f["entries"]):
            warp = cache.warp[entry]
            if cache.timer[entry]:
                continue  # taken by the next beat
            latest = collectors._latest._values[warp][cache.register[entry]]
            found = row_in_lanes(cache.copy[entry], self.live.get(warp, 0))
            require(found == latest or latest < 0, "a kept operand is its register, if that was ever written")

    def _check_hits(self, f: dict[str, int]) -> None:
        beat = self.allocating
        for position in indices(f["sources"]):
            assert beat is not None
            entry = 2 * position + beat.entry.beat.sources[beat.positions[position]] % BANKS
            if f["hit"] >> position & 1:
                require(self.hits.get(entry, 1) == 0, "what is kept once is found once")
                self.hits[entry] = 1
            if f["kept"] >> position & 1:
                self.hits[entry] = 0

    def _check_counters(self, f: dict[str, int]) -> None:
        expected = sum(1 << warp * BARRIERS + barrier for (warp, barrier), count in self.raised.items() if count)
        require(f["counting"] == expected, "a counter is not 0 as long as it guards a beat")

    def _follow_counters(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        fields = self.machine.collectors.fields
        if self.control is not None and not f["freeze"]:
            hints = self.control.entry.beat.hints
            self._raise(self.control.warp, fields.write_barrier(hints), 1)
            self._raise(self.control.warp, fields.read_barrier(hints), 1)
            if fields.read_barrier(hints) != NO_BARRIER:
                self.reading.append(self.control)
        for beat in [one for one in self.reading if one.read]:
            self.reading.remove(beat)
            self._raise(beat.warp, fields.read_barrier(beat.entry.beat.hints), -1)
        for port, result in enumerate(stimulus.results):
            if result is not None and f["write"] >> port & 1:
                last = not result.writes or result.component == fields.registers(result.hints)
                self._raise(result.warp, fields.write_barrier(result.hints) if last else NO_BARRIER, -1)

    def _raise(self, warp: int, barrier: int, change: int) -> None:
        if barrier != NO_BARRIER:
            self.raised[warp, barrier] = self.raised.get((warp, barrier), 0) + change

    def _follow_warps(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        if f["issue"]:
            self.issuer = f["issue_warp"]
        if f["exit"]:
            self.issuer = -1
            self.youngest.remove(f["issue_warp"])
            guarded = [self.raised.get((f["issue_warp"], barrier), 0) for barrier in range(BARRIERS)]
            require(not any(guarded), "a warp that ends has no counter up")
        if f["launch"]:
            assert stimulus.launch is not None
            self.youngest.insert(0, stimulus.launch.warp)
        if stimulus.beat is not None:
            self.live[stimulus.beat_warp] = int(self.trace.live[stimulus.beat.record])
