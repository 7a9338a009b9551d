"""The world around the machine: CTA dispatch, decode, execution units and memory (docs/machine.md, section 9).

One instance per side. What it drives in a cycle depends on observations of earlier cycles only, so that golden model
and RTL see the same inputs exactly as long as they behave the same.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from heapq import heappop, heappush

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.ctas import CtaDispatcher, Launch
from warpfile.spec.memory import Memory
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Origin, Result, Stimulus
from warpfile.spec.trace import Kind, Port, Space
from warpfile.spec.values import RowValues
from warpfile.spec.workload import Kernel, Workload, streams


@dataclass(slots=True, eq=False)
class _Slot:
    """Environment's view of one warp slot.

    ``hold`` is the first cycle in which its next beat may be sent. ``leaving``: its warp has ended, but the machine has
    not given the slot back.
    """

    beats: deque[Beat] | None = None
    sent: deque[Beat] = field(default_factory=deque)
    hold: int = 0
    cta: int = 0
    leaving: bool = False


_FOREVER = 1 << 62


class Environment:
    """Drives one side of a lockstep run: ``stimulus()``, then ``observe(word)``, once per cycle each.

    ``cycle``, ``instructions`` (issued last beats of what was not inserted) and ``writes`` (accepted results with a
    register) count as it goes.
    """

    def __init__(self, cfg: Config, workload: Workload, layout: ProbeLayout) -> None:
        self.cfg = cfg
        self.workload = workload
        self.cycle = 0
        self.instructions = 0
        self.writes = 0
        self._offset = layout.offset
        self._issue = layout.offset["issue"]
        self._dispatch = layout.offset["dispatch"]
        self._write = layout.offset["write"]
        self._payload_mask = (1 << cfg.payload_bits) - 1
        self._warp_mask = (1 << cfg.warp_bits) - 1
        self._port_mask = (1 << cfg.ports) - 1
        self._hint_mask = (1 << cfg.result_hint_bits) - 1
        self._streams = streams(workload)
        self._slots = [_Slot() for _ in range(cfg.warps)]
        self._next_served = 0
        self._dispatcher = CtaDispatcher(cfg, workload)
        self._units = [_ExecutionPort() for _ in range(cfg.ports)]
        self._memory = Memory(cfg)
        self._order = 0
        self._in_flight = 0
        self._results: list[Result | None] = [None] * cfg.ports
        self._stimulus = Stimulus(results=self._results)
        self._operand: int | None = None
        self._kernel: Kernel | None = workload.kernel if cfg.gives.kernel else None
        self._handshakes = cfg.gives.kernel
        self._operands = bool(cfg.operand_bits)
        self._quiet = not cfg.gives.kernel
        self._retired_at = layout.offset["retired"] if cfg.gives.sweeps else None
        self._values = RowValues(workload.trace, cfg.lanes) if cfg.values else None

    @property
    def done(self) -> bool:
        """Nothing resident, nothing left to launch, no result in flight, and nothing under way in the machine."""
        return not self._in_flight and self._quiet and self._dispatcher.finished

    def head(self, warp: int) -> Beat | None:
        """The oldest beat that was sent to a warp slot and has not issued."""
        sent = self._slots[warp].sent
        return sent[0] if sent else None

    def owner(self, payload: int) -> int | None:
        """Warp slot of a beat that was issued to the operand stage and has not been dispatched."""
        return next((unit.warps[payload] for unit in self._units if payload in unit.warps), None)

    def stimulus(self) -> Stimulus:
        """Inputs of the current cycle. The object is reused in the next one."""
        stimulus, cycle = self._stimulus, self.cycle
        stimulus.launch = self._dispatcher.offer() if self._kernel is None else None
        if self._handshakes:
            stimulus.kernel = self._kernel
        if self._operands:
            stimulus.operand, self._operand = self._operand, None
        self._decode(stimulus)
        ready, limit = 0, self.cfg.result_queue
        for number, unit in enumerate(self._units):
            pending, waiting = unit.pending, unit.waiting
            while pending and pending[0].ready <= cycle:
                waiting.append(heappop(pending))
            self._results[number] = waiting[0] if waiting else None
            if unit.free_at <= cycle and len(waiting) < limit:
                ready |= 1 << number
        stimulus.ready = ready
        return stimulus

    def _decode(self, stimulus: Stimulus) -> None:
        slots, count, depth, cycle = self._slots, self.cfg.warps, self.cfg.buffer_depth, self.cycle
        start = self._next_served
        for index in range(start, start + count):
            warp = index if index < count else index - count
            slot = slots[warp]
            if slot.beats and slot.hold <= cycle and len(slot.sent) < depth:
                beat = slot.beats.popleft()
                slot.sent.append(beat)
                if beat.kind == Kind.BRANCH and beat.last:
                    slot.hold = _FOREVER
                self._next_served = warp + 1 if warp + 1 < count else 0
                stimulus.beat, stimulus.beat_warp = beat, warp
                return
        stimulus.beat = None

    def observe(self, word: int) -> None:
        """End the cycle with what the side did in it, as its packed observation."""
        if self._handshakes:
            self._handshake(word)
        if self._stimulus.launch is not None and word >> self._offset["launch"] & 1:
            self._launched(self._stimulus.launch)
        if word >> self._issue & 1:
            self._issued(word >> self._offset["issue_warp"] & self._warp_mask, word)
        dispatched = word >> self._dispatch & self._port_mask
        if dispatched:
            for number in range(self.cfg.ports):
                if dispatched >> number & 1:
                    payload = word >> self._offset[f"dispatch_payload{number}"] & self._payload_mask
                    self._dispatched(number, self.workload.beats[payload])
        written = word >> self._write & self._port_mask
        if written:
            for number, unit in enumerate(self._units):
                if written >> number & 1:
                    self.writes += unit.waiting.popleft().writes
                    self._in_flight -= 1
        if self._retired_at is not None:
            self._retired(word >> self._retired_at & (1 << self.cfg.warps) - 1)
        self.cycle += 1

    def _handshake(self, word: int) -> None:
        """The kernel is taken, or the machine comes to rest after everything else has."""
        if self._kernel is not None and word >> self._offset["kernel"] & 1:
            self._kernel = None
        finished = not self._in_flight and self._dispatcher.finished
        self._quiet = finished and bool(word >> self._offset["quiet"] & 1)

    def _retired(self, warps: int) -> None:
        for warp, slot in enumerate(self._slots):
            if warps >> warp & 1:
                assert slot.leaving, f"warp slot {warp} is given back, but its warp has not ended"
                slot.leaving = False
                self._dispatcher.exited(warp, slot.cta)

    def _launched(self, launch: Launch) -> None:
        for done in self._dispatcher.accepted():
            slot = self._slots[done.warp]
            slot.beats, slot.hold, slot.cta = self._streams[done.stream], 0, done.cta
            slot.sent.clear()

    def _issued(self, warp: int, word: int) -> None:
        slot = self._slots[warp]
        beat = slot.sent.popleft()
        if beat.last and not beat.inserted:
            self.instructions += 1
        if self._operands and beat.pseudo:
            self._operand = beat.operand
        if beat.needs_unit:
            self._warp_of(beat, warp)
            return
        if beat.kind == Kind.BRANCH and beat.last:
            slot.hold = self.cycle + self.cfg.branch_delay + 1
        if beat.executes and beat.token_writes:
            ready = self.cycle + self.cfg.uniform_latency
            self._return(0, Result(ready, self._order, warp, False, 0, beat.token_writes, 0, -1))
        if word >> self._offset["exit"] & 1:
            slot.beats = None
            slot.leaving = self._retired_at is not None
            if not slot.leaving:
                self._dispatcher.exited(warp, slot.cta)

    def _warp_of(self, beat: Beat, warp: int) -> None:
        self._units[self._port_number(beat)].warps[beat.payload] = warp

    def _port_number(self, beat: Beat) -> int:
        return beat.port if self.cfg.ports > 1 else 0

    def _dispatched(self, number: int, beat: Beat) -> None:
        unit = self._units[number]
        warp = unit.warps.pop(beat.payload)
        if not beat.last:
            unit.free_at = self.cycle + 1
            return
        latency, interval, origin = self._timing(beat)
        unit.free_at = self.cycle + interval
        if beat.kind == Kind.BRANCH:
            self._slots[warp].hold = self.cycle + self.cfg.branch_delay + 1
        tokens = beat.token_writes
        ready = self.cycle + latency
        for k in range(beat.dest_count):
            row = beat.result_row + k if beat.result_row >= 0 else -1
            result = Result(ready + k, self._order, warp, True, beat.dest + k, tokens, beat.mask, row)
            result.full, result.component, result.origin = beat.full, k, origin
            result.hints = beat.hints & self._hint_mask
            if self._values is not None:
                result.data = self._values.packed(row)
            self._return(number, result)
            tokens = 0
        if not beat.dest_count and tokens:
            self._return(number, Result(ready, self._order, warp, False, 0, tokens, 0, -1))

    def _return(self, number: int, result: Result) -> None:
        self._order += 1
        self._in_flight += 1
        heappush(self._units[number].pending, result)

    def _timing(self, beat: Beat) -> tuple[int, int, Origin]:
        """Latency, cycles that the port is taken, and origin of the result."""
        cfg = self.cfg
        if beat.port == Port.ALU:
            return cfg.alu_latency, cfg.alu_interval, Origin.EXECUTION
        if beat.port == Port.SFU:
            return cfg.sfu_latency, cfg.sfu_interval, Origin.EXECUTION
        if beat.space in (Space.GLOBAL, Space.LOCAL):
            latency, missed = self._memory.access(beat, self.cycle)
            return latency, max(1, len(beat.lines)), Origin.MISS if missed else Origin.HIT
        return cfg.shared_latency, 1, Origin.SHARED


@dataclass(slots=True, eq=False)
class _ExecutionPort:
    """Results on their way, results waiting for the write-back port, and who owns the beats in collector units."""

    pending: list[Result] = field(default_factory=list)
    waiting: deque[Result] = field(default_factory=deque)
    warps: dict[int, int] = field(default_factory=dict)
    free_at: int = 0
