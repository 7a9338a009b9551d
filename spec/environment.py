"""The world around the machine: CTA dispatch, decode, execution units and memory (docs/machine.md, section 9).

One instance per side. What it drives in a cycle depends on observations of earlier cycles only, so that golden model
and RTL see the same inputs exactly as long as they behave the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from mypy_extensions import mypyc_attr

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.ctas import CtaDispatcher
from warpfile.spec.feed import Feed
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Result, Stimulus
from warpfile.spec.timing import Timings
from warpfile.spec.trace import Kind
from warpfile.spec.values import RowValues
from warpfile.spec.workload import Kernel, Workload, streams

_BRANCH: Final = int(Kind.BRANCH)  # comparing with a member of an IntEnum costs a lookup for every beat


@mypyc_attr(allow_interpreted_subclasses=True)
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
        at = layout.offset
        self._at_launch = at["launch"]
        # Its events are looked at in every cycle: taken out of the long word at once, as a short one.
        names = ("issue", "issue_warp", "exit", "write", "dispatch")
        self._at_events = min(at[name] for name in names)
        self._at_issue, self._at_warp, self._at_exit, self._at_write, self._at_dispatch = (
            at[name] - self._at_events for name in names
        )
        self._events = sum(layout.mask(name) << at[name] - self._at_events for name in names)
        self._at_payload = [at[f"dispatch_payload{port}"] for port in range(cfg.ports)]
        self._at_kernel, self._at_quiet, self._at_retired = (at.get(name, 0) for name in ("kernel", "quiet", "retired"))
        self._payload_mask = (1 << cfg.payload_bits) - 1
        self._warp_mask = (1 << cfg.warp_bits) - 1
        self._port_mask = (1 << cfg.ports) - 1
        self._write_mask = (1 << cfg.write_ports) - 1
        self._hint_mask = (1 << cfg.result_hint_bits) - 1
        self._streams = streams(workload)
        self._beats = workload.beats
        self._feed = Feed(cfg)
        self._all_warps, self._limit, self._uniform = (1 << cfg.warps) - 1, cfg.result_queue, cfg.uniform_latency
        self._cta = [0] * cfg.warps
        self._leaving = 0  # warps that have ended, but the machine has not given their slot back
        self._dispatcher = CtaDispatcher(cfg, workload)
        self._moved = True  # what the dispatcher offers may have changed
        self._port_of, write_of = cfg.port_of, cfg.write_port_of
        self._writes_back = [list[Result]() for _ in range(cfg.write_ports)]
        self._units = [_ExecutionPort(write_of[port]) for port in range(cfg.ports)]
        self._timings = Timings(cfg)
        self._in_flight = 0
        self._coming: dict[int, list[tuple[int, Result]]] = {}  # write-back port and result, by the cycle
        self._results: list[Result | None] = [None] * cfg.write_ports
        self._stimulus = Stimulus(results=self._results)
        self._operand: int | None = None
        self._kernel: Kernel | None = workload.kernel if cfg.gives.kernel else None
        self._handshakes = cfg.gives.kernel
        self._operands = bool(cfg.operand_bits)
        self._quiet = not cfg.gives.kernel
        self._sweeps = cfg.gives.sweeps
        self._values = RowValues(workload.trace, cfg.lanes) if cfg.values else None

    @property
    def done(self) -> bool:
        """Nothing resident, nothing left to launch, no result in flight, and nothing under way in the machine."""
        return not self._in_flight and self._quiet and self._dispatcher.finished

    def head(self, warp: int) -> Beat | None:
        """The oldest beat that was sent to a warp slot and has not issued."""
        return self._feed.head(warp)

    def owner(self, payload: int) -> int | None:
        """Warp slot of a beat that was issued to the operand stage and has not been dispatched."""
        for unit in self._units:
            warp = unit.warps.get(payload)
            if warp is not None:
                return warp
        return None

    def stimulus(self) -> Stimulus:
        """Inputs of the current cycle. The object is reused in the next one."""
        stimulus, cycle = self._stimulus, self.cycle
        if self._moved and self._kernel is None:
            stimulus.launch, self._moved = self._dispatcher.offer(), False
        if self._handshakes:
            stimulus.kernel = self._kernel
        if self._operands:
            stimulus.operand, self._operand = self._operand, None
        self._feed.send(cycle, stimulus)
        if cycle in self._coming:
            for number, result in self._coming.pop(cycle):
                self._writes_back[number].append(result)
        ready, limit = 0, self._limit
        for number, waiting in enumerate(self._writes_back):
            self._results[number] = waiting[0] if waiting else None
        for number, unit in enumerate(self._units):
            if unit.free_at <= cycle and len(self._writes_back[unit.write_port]) < limit:
                ready |= 1 << number
        stimulus.ready = ready
        return stimulus

    def observe(self, word: int) -> None:
        """End the cycle with what the side did in it, as its packed observation."""
        if self._handshakes:
            self._handshake(word)
        if self._stimulus.launch is not None and word >> self._at_launch & 1:
            self._launched()
        events = word >> self._at_events & self._events
        if events >> self._at_issue & 1:
            self._issued(events >> self._at_warp & self._warp_mask, bool(events >> self._at_exit & 1))
        dispatched = events >> self._at_dispatch & self._port_mask
        if dispatched:
            for number, at in enumerate(self._at_payload):
                if dispatched >> number & 1:
                    self._dispatched(number, self._beats[word >> at & self._payload_mask])
        written = events >> self._at_write & self._write_mask
        if written:
            for number, waiting in enumerate(self._writes_back):
                if written >> number & 1:
                    self.writes += waiting.pop(0).writes
                    self._in_flight -= 1
        if self._sweeps:
            self._retired(word >> self._at_retired & self._all_warps)
        self.cycle += 1

    def _handshake(self, word: int) -> None:
        """The kernel is taken, or the machine comes to rest after everything else has."""
        if self._kernel is not None and word >> self._at_kernel & 1:
            self._kernel = None
        finished = not self._in_flight and self._dispatcher.finished
        self._quiet = finished and bool(word >> self._at_quiet & 1)

    def _retired(self, warps: int) -> None:
        for warp, cta in enumerate(self._cta):
            if warps >> warp & 1:
                assert self._leaving >> warp & 1, f"warp slot {warp} is given back, but its warp has not ended"
                self._leaving ^= 1 << warp
                self._leave(warp, cta)

    def _launched(self) -> None:
        for launch in self._dispatcher.accepted():
            self._cta[launch.warp] = launch.cta
            self._feed.launched(launch.warp, self._streams[launch.stream], self.cycle)
        self._moved = True

    def _issued(self, warp: int, exits: bool) -> None:
        beat = self._feed.issued(warp, self.cycle)
        if beat.last and not beat.inserted:
            self.instructions += 1
        if self._operands and beat.pseudo:
            self._operand = beat.operand
        if beat.needs_unit:
            self._units[self._port_of[beat.port]].warps[beat.payload] = warp
            return
        if beat.kind == _BRANCH and beat.last:
            self._feed.branched(warp, self.cycle)
        if beat.token_writes and beat.executes:
            self._return(0, Result(self.cycle + self._uniform, warp, False, 0, beat.token_writes, 0, -1))
        if exits:
            if self._sweeps:
                self._leaving |= 1 << warp
            else:
                self._leave(warp, self._cta[warp])

    def _leave(self, warp: int, cta: int) -> None:
        """A warp gives its slot and places back."""
        self._dispatcher.exited(warp, cta)
        self._moved = True

    def _dispatched(self, number: int, beat: Beat) -> None:
        unit, cycle = self._units[number], self.cycle
        warp = unit.warps.pop(beat.payload)
        if not beat.last:
            unit.free_at = cycle + 1
            return
        latency, interval, origin = self._timings.of(beat, cycle)
        unit.free_at = cycle + interval
        if beat.kind == _BRANCH:
            self._feed.branched(warp, cycle)
        tokens, row = beat.token_writes, beat.result_row
        for k in range(beat.dest_count):
            result = Result(cycle + latency + k, warp, True, beat.dest + k, tokens, beat.mask, row)
            result.full, result.component, result.origin = beat.full, k, origin
            result.hints = beat.hints & self._hint_mask
            if self._values is not None:
                result.data = self._values.packed(row)
            self._return(unit.write_port, result)
            tokens = 0
            row += row >= 0
        if tokens:
            self._return(unit.write_port, Result(cycle + latency, warp, False, 0, tokens, 0, -1))

    def _return(self, number: int, result: Result) -> None:
        self._in_flight += 1
        coming = self._coming.get(result.ready)
        if coming is None:
            self._coming[result.ready] = [(number, result)]
        else:
            coming.append((number, result))


@dataclass(slots=True, eq=False)
class _ExecutionPort:
    """Where its results come back, and who owns the beats in collector units."""

    write_port: int
    warps: dict[int, int] = field(default_factory=dict)
    free_at: int = 0
