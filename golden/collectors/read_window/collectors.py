"""No collector units: a window of cycles in which a beat reads (docs/schemes/modern.md)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.collectors.contract import GuardingCollectors, Heads, Offer
from warpfile.golden.collectors.read_window.codes import CodeGuard
from warpfile.golden.collectors.read_window.guard import Guard
from warpfile.golden.collectors.read_window.hazards import Writers
from warpfile.golden.collectors.read_window.held_beat import HeldBeat, HintFields
from warpfile.golden.collectors.read_window.history import Forwarded, History
from warpfile.golden.collectors.read_window.pending import PendingGuard
from warpfile.golden.collectors.read_window.planning import Schedule, planned
from warpfile.golden.collectors.read_window.probes import Probes
from warpfile.golden.collectors.read_window.queues import Queues
from warpfile.golden.collectors.read_window.reading import Reading
from warpfile.golden.collectors.read_window.reuse import ReuseCache
from warpfile.golden.copies import Latest, row_in_lanes
from warpfile.golden.entry import Entry
from warpfile.golden.operands import StaleOperand, check_operands
from warpfile.golden.rf.contract import RegisterFile
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.modern import LSU, SFU, ReadWindowConfig
from warpfile.spec.stimulus import Result

_ALU_PORT = 0
#: Heads by what they wait for: a queue (LSU, SFU), or one of the two units of fixed latency.
_UNITS = 2
_KINDS = 4


@mypyc_attr(allow_interpreted_subclasses=True)
class ReadWindow(GuardingCollectors):
    """Collectors that stand in for the scoreboard (:class:`golden.collectors.contract.GuardingCollectors`).

    They prefer no warp and leave every result to the register file. ``accept`` refuses in a freeze. ``window`` has the
    beats in R1 to RN and X.
    """

    def __init__(self, cfg: ReadWindowConfig, layout: ProbeLayout, file: RegisterFile) -> None:
        self.prefer = self.changed = 0
        self._file, self._interval = file, cfg.unit_interval
        self._queue_ports = cfg.queue_ports
        self.fields = HintFields(cfg)
        self._codes = CodeGuard(cfg, self.fields) if cfg.codes else None
        self.guard: Guard = self._codes if self._codes is not None else PendingGuard(cfg)
        self.schedule, self.cache, self.history = Schedule(cfg), ReuseCache(cfg), History(cfg)
        self.queues, self.writers, self._latest = Queues(cfg), Writers(cfg, self.fields), Latest(cfg)
        self.control: HeldBeat | None = None
        self.allocating: HeldBeat | None = None
        self.window: list[HeldBeat | None] = [None] * (cfg.read_window + 1)
        self.units, self.results = [0, 0], 0
        self.ticks = self._cycle = 0
        self._heads = [0] * _KINDS
        self._several = 0  # warps whose head beat has more than one destination
        self._issued: Entry | None = None
        self._issuer = -1
        self._decided = self._freezes = False
        self._reading = Reading(cfg, file, self.schedule, self.queues)
        self.probes = Probes(cfg, layout)

    @property
    def counters(self) -> dict[str, int]:
        """See the contract."""
        return self.probes.counters

    def unread(self, warp: int) -> int:
        """Not used: there is no scoreboard."""
        return 0

    def collecting(self, warp: int) -> bool:
        """See the contract."""
        return bool(self.guard.moving >> warp & 1)

    def blocked(self, warp: int, head: Entry) -> bool:
        """See the contract; asked for every new head beat, so that its kind is noted here."""
        bit = 1 << warp
        for kind in range(_KINDS):
            self._heads[kind] &= ~bit
        self._several &= ~bit
        if head.needs_unit:
            self._heads[self._kind(head)] |= bit
            self._several |= bit if head.beat.dest_count > 1 else 0
        return self.guard.blocked(warp, head)

    def _kind(self, entry: Entry) -> int:
        if entry.port == _ALU_PORT:
            return _UNITS + self.fields.fma(entry.beat.hints)
        return LSU if entry.port == self._queue_ports[LSU] else SFU

    def room(self, heads: Heads, ready: int) -> int:
        """See the contract. The probes of registered state are taken here."""
        buffered, unit_wait, queue_wait = heads.buffered, 0, 0
        for kind, waiting in enumerate(self._heads):
            if kind < _UNITS:
                queue_wait |= 0 if self.queues.credits[kind] else waiting
            elif self.units[kind - _UNITS] or self.results > 1:
                unit_wait |= waiting
            elif self.results:
                unit_wait |= waiting & self._several
        self.probes.word = 0
        self.probes.count("unit_wait", unit_wait & buffered, "unit_waits")
        self.probes.count("queue_wait", queue_wait & buffered, "queue_waits")
        self._observe(buffered)
        return buffered & ~unit_wait & ~queue_wait

    def _observe(self, buffered: int) -> None:
        show, codes = self.probes.show, self._codes
        if codes is not None:
            self.probes.count("stalled", codes.stalled, "stall_cycles")
            self.probes.count("awaits", codes.awaits & buffered, "barrier_waits")
            show("resting", codes.resting)
            show("counting", codes.counting)
        show("in_flight", self.guard.flying)
        show("under_way", self.guard.moving)
        if self.control is not None:
            show("control", 1)
            show("control_warp", self.control.warp)
        if self.allocating is not None:
            show("allocating", 1)
            show("allocating_warp", self.allocating.warp)
        show("reserved", self.schedule.counts())
        show("window", sum((beat is not None) << stage for stage, beat in enumerate(self.window)))
        show("lsu_beats", len(self.queues.beats[LSU]))
        show("sfu_beats", len(self.queues.beats[SFU]))
        self.probes.cache(self.cache)

    def offer(self) -> list[Offer]:
        """See the contract."""
        offers: list[Offer] = []
        beat = self.window[-1]
        if beat is not None:
            offers.append((_ALU_PORT, beat.warp, beat.entry))
        for queue in (SFU, LSU):
            head = self.queues.head(queue)
            if head is not None and head.read:
                offers.append((self._queue_ports[queue], head.warp, head.entry))
        return offers

    def rule(self, results: list[Result | None]) -> tuple[int, int]:
        """See the contract. What is offered ends entries of the reuse cache, accepted or not."""
        killed = 0
        for result in results:
            if result is not None and result.writes and self.cache.valid:
                killed |= self.cache.kill(result.warp, result.register)
        if killed:
            self.probes.count("killed", killed, "rfc_kills")
        return super().rule(results)

    def read(self, cycle: int) -> None:
        """See the contract: what was planned, then heads of queues on the ports that are left."""
        self._cycle = cycle
        self._reading.step(cycle, self.guard, self.probes)

    def settle(self, results: list[Result | None], accepted: int) -> None:
        """See the contract. A result of fixed latency is in the history from the next cycle on."""
        for port, result in enumerate(results):
            if result is None or not accepted >> port & 1:
                continue
            self.guard.accepted(port, result)
            if result.writes:
                before = self._latest.change(result)
                self.writers.accepted(result, before)
                if port == _ALU_PORT:
                    self.history.incoming = Forwarded(result.warp, result.register, result.mask, before, result.row)

    def dispatch(self, port: int) -> list[int]:
        """See the contract."""
        if port == _ALU_PORT:
            beat = self.window[-1]
            assert beat is not None, "nothing is in X"
            self.window[-1] = None
            copies = self._operands(beat)
        else:
            queue = LSU if port == self._queue_ports[LSU] else SFU
            beat = self.queues.beats[queue][0]
            self.queues.leave(queue)
            copies = beat.copies
        self.guard.dispatched(beat)
        return self._checked(beat, [row_in_lanes(copy, beat.entry.beat.mask) for copy in copies])

    def _operands(self, beat: HeldBeat) -> list[int]:
        """What the beat in X has: read or kept, and overtaken by later results."""
        copies: list[int] = []
        forward = cached = 0
        for slot, register in enumerate(beat.entry.beat.sources):
            entry = beat.cached[slot]
            cached |= (entry >= 0) << slot
            copy = beat.copies[slot] if entry < 0 else self.cache.copy[entry]
            ages = self.history.ages(beat.warp, register)
            forward |= ages << slot * len(self.history.results)
            copies.append(self.history.forward(copy, beat.warp, register) if ages else copy)
        assert not beat.unread, f"beat {beat.entry.beat.payload} is in X without its operands"
        self.cache.capture(beat, copies)
        self.probes.show("from_cache", cached)
        self.probes.count("forward", forward, "forwards")
        return copies

    def _checked(self, beat: HeldBeat, values: list[int]) -> list[int]:
        """The operands, if they are what the trace expects; otherwise the reason is known here."""
        values = self.writers.in_lanes_of(beat, values)
        try:
            check_operands(self._cycle, beat.warp, beat.entry.beat, values)
        except StaleOperand as stale:
            raise StaleOperand(f"{stale}: {self.writers.reason(beat, values)}") from None
        return values

    def _fits(self) -> bool:
        """Allocate, once per cycle: false in a freeze."""
        beat = self.allocating
        if not self._decided and beat is not None:
            plan = planned(beat, self.cache, self.schedule)
            self._freezes = not plan.fits
            self.probes.plan(plan, beat.marks)
        self._decided = True
        return not self._freezes

    def accept(self, warp: int, entry: Entry) -> bool:
        """Every beat with room is accepted, unless time stands still."""
        if not self._fits():
            return False
        self._issuer, self._issued = warp, entry
        self.guard.issued(warp, entry)
        return True

    def launched(self, launch: Launch) -> None:
        """Nothing is written yet."""
        self._latest.launched(launch.warp)
        self.writers.launched(launch)

    def edge(self, cycle: int) -> int:
        """See the contract."""
        ticks = self._fits()
        assert self.window[-1] is None, "port ALU must be ready"
        self.window = [self.allocating if ticks else None, *self.window[:-1]]
        self.schedule.edge()
        self.history.edge()
        self.cache.edge()
        self.queues.edge()
        if ticks:
            self._tick()
        self._decided = self._freezes = False
        self.changed |= self.guard.changed
        self.guard.changed = 0
        return self.probes.word

    def _tick(self) -> None:
        """Control and whatever counts issue distances go on."""
        leaving, entry = self.control, self._issued
        self.allocating = self.control = None
        if leaving is not None:
            self.guard.left_control(leaving)
            if leaving.entry.port == _ALU_PORT:
                self.allocating = leaving
            else:
                self.queues.enter(self._kind(leaving.entry), leaving)
        self.units = [max(count - 1, 0) for count in self.units]
        self.results = max(self.results - 1, 0)
        if entry is not None:
            self._enter(self._issuer, entry)
        self.guard.tick(self._issuer, entry)
        self._issued = None
        self.ticks += 1

    def _enter(self, warp: int, entry: Entry) -> None:
        """A beat that issued is in Control, if it needs a unit."""
        if entry.exits:
            self.cache.exited(warp)
        if not entry.needs_unit:
            return
        rows = [self._file.place(warp, register)[1] for register in entry.beat.sources]
        self.control = beat = HeldBeat(warp, entry, self.fields, rows, self.ticks)
        kind = self._kind(entry)
        if kind < _UNITS:
            self.queues.credits[kind] -= 1
        else:
            self.units[kind - _UNITS] = self._interval - 1
            count = entry.beat.results
            self.results = max(count - 1, 1) if count else 0
        self.writers.issued(beat)
        self.guard.entered(beat)
