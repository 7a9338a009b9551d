"""One scheduling domain: frame, scheduler, collectors, register file (docs/machine.md, sections 1 to 4 and 8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from mypy_extensions import mypyc_attr

from warpfile.golden.collectors.contract import Collectors, Offer
from warpfile.golden.counters import Counts
from warpfile.golden.entry import Entry
from warpfile.golden.frame import Frame
from warpfile.golden.guarded_frame import GuardedFrame
from warpfile.golden.kernel import KernelPorts
from warpfile.golden.long_frame import LongFrame
from warpfile.golden.operands import check_operands
from warpfile.golden.rf.contract import (
    AbsorbingFile,
    GatedFile,
    KernelFile,
    LookaheadFile,
    RankedFile,
    RegisterFile,
    Sent,
    StartingFile,
)
from warpfile.golden.scheduler.contract import LookaheadScheduler, PlacingScheduler, RankedScheduler, Scheduler
from warpfile.golden.scheduler.places import Places
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Result, Stimulus

#: Probes of events; those of what is dispatched lie between or beyond them.
EVENTS = ("issue", "issue_warp", "exit", "write", "write_wait", "offer", "dispatch")

MakeFile = Callable[[Config, ProbeLayout, Places | None], RegisterFile]
MakeCollectors = Callable[[Config, ProbeLayout, RegisterFile], Collectors]


@mypyc_attr(allow_interpreted_subclasses=True)
class Machine:
    """Golden model of one scheduling domain, made of three kinds of parts. ``step`` once per cycle; nothing else
    changes it.

    ``operands_checked`` counts operands that were compared with the trace.
    """

    def __init__(
        self,
        cfg: Config,
        layout: ProbeLayout,
        scheduler: Callable[[Config], Scheduler],
        collectors: MakeCollectors,
        file: MakeFile,
    ) -> None:
        self.cycle = 0
        self.operands_checked = 0
        self.scheduler = scheduler(cfg)
        self.file = file(cfg, layout, self.scheduler.places)
        self.collectors = collectors(cfg, layout, self.file)
        self._completion = self.file.completion
        self._levels: PlacingScheduler | None = None
        self.frame = self._make_frame(cfg, layout)
        gives = cfg.gives
        kernel = gives.kernel or gives.sweeps or cfg.operand_bits
        self._kernel = KernelPorts(cfg, layout, cast(KernelFile, self.file)) if kernel else None
        self._starting = cast(StartingFile, self.file) if gives.starts else None
        self._started = not gives.starts
        self._gates = cast(GatedFile, self.file) if gives.gates else None
        self._absorbing = cast(AbsorbingFile, self.file) if gives.absorbs else None
        self._flags: LookaheadScheduler | None = None
        if gives.lookahead:
            self._look_ahead(layout)
        self._ranked: RankedScheduler | None = None
        if gives.ranks:
            self._ranked, self._ranking = cast(RankedScheduler, self.scheduler), cast(RankedFile, self.file)
        self._last_port = cfg.ports - 1
        self._pins = (1 << cfg.ports - cfg.gives.absorbs) - 1  # ports by which units dispatch to the pins
        self._yields = self._refuses = 0
        self.counts = Counts()
        at = layout.offset
        self._at_resident, self._at_buffered, self._at_ready = at["resident"], at["buffered"], at["decode_ready"]
        self._at_clear, self._at_waiting, self._at_room = at["clear"], at["waiting"], at["room"]
        self._at_started, self._at_launch = at["started"], at["launch"]
        # Events are short words by themselves, and go into the long one at once.
        self._at_events = first = min(at[name] for name in EVENTS)
        self._at_issue, self._at_warp, self._at_exit = at["issue"] - first, at["issue_warp"] - first, at["exit"] - first
        self._at_write, self._at_wait = at["write"] - first, at["write_wait"] - first
        self._at_offer, self._at_dispatch = at["offer"] - first, at["dispatch"] - first
        self._at_payload = [at[f"dispatch_payload{port}"] - first for port in range(cfg.ports)]

    def _make_frame(self, cfg: Config, layout: ProbeLayout) -> Frame:
        if self.scheduler.places is None:
            return GuardedFrame(cfg) if cfg.asks.guards else Frame(cfg)
        self._levels = cast(PlacingScheduler, self.scheduler)
        self._levels.observe_at(layout)
        self._longs = LongFrame(cfg)
        return self._longs

    def _look_ahead(self, layout: ProbeLayout) -> None:
        self._flags, self._lookahead = cast(LookaheadScheduler, self.scheduler), cast(LookaheadFile, self.file)
        self._flags.observe_at(layout)
        self._lookahead.watch(self.frame)

    @property
    def counters(self) -> dict[str, int]:
        """Sums since the start, and of what came before it: those of every machine, then those of its parts."""
        self.counts.cycles = self.cycle - self.counts.start_cycles
        return self.counts.table() | self.collectors.counters | self.file.counters | self.scheduler.counters

    @property
    def trail(self) -> Sequence[tuple[int, ...]]:
        """What the collectors decided interval after interval, if they do."""
        return self.collectors.trail

    def step(self, stimulus: Stimulus) -> int:
        """Return the packed observation of this cycle and move to the next one.

        Raises :class:`golden.StaleOperand`, and ``AssertionError`` for what cannot happen.
        """
        frame, collectors, file, cycle, levels = self.frame, self.collectors, self.file, self.cycle, self._levels
        if frame.stale or collectors.changed:
            frame.refresh(collectors)
        room = collectors.room(frame, stimulus.ready & self._pins)
        word = self._state(room)
        if self._gates is not None:
            self._gate(self._gates)
        eligible = frame.clear & ~frame.waiting & room & ~file.hold
        if self._kernel is not None:
            handshake = self._kernel.begin(stimulus)
            if handshake:
                word |= handshake
        if levels is not None:
            word |= levels.begin(self._longs, collectors.collecting, file.release, self._yields)
            eligible &= levels.may_issue
        if self._flags is not None:
            flags = self._flags.begin(self._lookahead.lookahead_hit)
            if flags:
                word |= flags
        if self._ranked is not None:
            self._ranked.ranks(self._ranking.owners, self._ranking.sharers)
        candidates = eligible & collectors.prefer or eligible
        offers = collectors.offer()
        events = self._take(stimulus.results)
        if offers or self._absorbing is not None:
            events |= self._dispatch(offers, stimulus.ready)
        warp = self._choose(candidates, room)
        # From here on the clock edge of the frame. Completion comes before issue: set wins.
        for result in self._completion.due(cycle):
            frame.release(result)
        if stimulus.missed is not None:
            self._longs.missed(stimulus.missed)
        if frame.waiting:
            frame.release_barriers()
        if stimulus.beat is not None:
            frame.decode(stimulus.beat_warp, stimulus.beat)
        if warp >= 0:
            events |= self._issue(warp)
        if events:
            word |= events << self._at_events
        if stimulus.launch is not None and file.launch_ready:
            word |= self._launch(stimulus.launch)
        word |= collectors.edge(cycle)
        stored = file.edge(cycle)
        if stored:
            word |= stored
        if self._kernel is not None:
            retired = self._kernel.end()
            if retired:
                word |= retired
        if levels is not None:
            levels.edge()
        if self._flags is not None:
            self._flags.edge()
        self.cycle = cycle + 1
        return word

    def _state(self, room: int) -> int:
        """Probes of registered state, and the counters that sum over it."""
        frame = self.frame
        if self._starting is not None:
            self._started = self._starting.started
            self.counts.start_cycles += not self._started
        self.counts.resident_cycles += frame.residents
        return (
            self._started << self._at_started
            | frame.resident << self._at_resident
            | frame.buffered << self._at_buffered
            | frame.decode_ready << self._at_ready
            | frame.clear << self._at_clear
            | frame.waiting << self._at_waiting
            | room << self._at_room
        )

    def _gate(self, gates: GatedFile) -> None:
        gates.gate(self.frame)
        self._yields, self._refuses = gates.yields, gates.refuses

    def _take(self, results: list[Result | None]) -> int:
        """Results are accepted; the bank ports that they leave serve the collectors."""
        file, collectors, cycle = self.file, self.collectors, self.cycle
        if not any(result is not None for result in results):
            if file.drives_itself:
                file.accept(cycle, results, 0, 0)
            collectors.read(cycle)
            return 0
        valid, store = collectors.rule(results)
        accepted = file.accept(cycle, results, valid, store)
        collectors.read(cycle)
        if accepted:
            collectors.settle(results, accepted)
        events = accepted << self._at_write
        for port, result in enumerate(results):
            if result is not None and not accepted >> port & 1:
                events |= 1 << self._at_wait + port
                self.counts.write_waits += 1
        return events

    def _dispatch(self, offers: list[Offer], ready: int) -> int:
        if self._absorbing is not None:
            return self._dispatch_through(self._absorbing, offers, ready)
        return self._to_pins(offers, ready)

    def _to_pins(self, offers: list[Offer], ready: int) -> int:
        events = 0
        for port, warp, entry in offers:
            events |= self._present(port, entry, ready)
            if ready >> port & 1:
                operands = self.collectors.dispatch(port)
                self.operands_checked += check_operands(self.cycle, warp, entry.beat, operands)
        return events

    def _present(self, port: int, entry: Entry, ready: int) -> int:
        """A beat at the pins: what is observed of it."""
        events = 1 << self._at_offer + port | entry.beat.payload << self._at_payload[port]
        if not ready >> port & 1:
            self.counts.dispatch_waits += 1
            return events
        self.counts.dispatches += 1
        return events | 1 << self._at_dispatch + port

    def _dispatch_through(self, file: AbsorbingFile, offers: list[Offer], ready: int) -> int:
        """As :meth:`_to_pins`, but beats of the last port, the LSU's, go into the file, and come out of it."""
        port, sending = self._last_port, file.sending
        events = self._to_pins([offer for offer in offers if offer[0] != port], ready)
        sent = sending is not None and bool(ready >> port & 1)
        if sending is not None:
            events |= self._present(port, sending.entry, ready)
            if sent:
                beat = sending.entry.beat
                self.operands_checked += check_operands(self.cycle, sending.warp, beat, sending.operands)
        taken = file.takes_access(sent)
        for other, warp, entry in offers:
            if other == port and taken:
                file.access(Sent(warp, entry, self.collectors.dispatch(port)))
        return events

    def _choose(self, candidates: int, room: int) -> int:
        """The warp that issues, -1 for none, which is counted."""
        frame, warp = self.frame, self._pick(candidates)
        if warp < 0 and self._started:
            self.counts.no_issue(frame.buffered, frame.waiting, frame.clear, room)
        return warp

    def _pick(self, candidates: int) -> int:
        """The warp that is chosen, -1 for none. A refusal is a bubble: no state of the scheduler changes."""
        if not candidates:
            return -1
        warp = self.scheduler.choose(candidates)
        if self._gates is not None and self._refuses >> warp & 1:
            self._gates.refused(warp)
        elif self.collectors.accept(warp, self.frame.buffers[warp][0]):
            return warp
        return -1

    def _issue(self, warp: int) -> int:
        entry = self.frame.issue(warp)
        self.file.issued(warp, entry)
        self.scheduler.issued(warp)
        if self._flags is not None:
            self._flags.leaves(warp, entry.beat)
        self.counts.beats += 1
        self.counts.instructions += entry.counts
        events = 1 << self._at_issue | warp << self._at_warp
        if entry.exits:
            self.scheduler.exited(warp)
            events |= 1 << self._at_exit
        return events

    def _launch(self, launch: Launch) -> int:
        self.frame.launch(launch)
        self.file.launched(launch)
        self.collectors.launched(launch)
        self.scheduler.launched(launch.warp)
        return 1 << self._at_launch
