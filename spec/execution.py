"""Execution units and memory: what comes behind the machine (docs/machine.md, section 9)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.stimulus import Missed, Origin, Result, Stimulus
from warpfile.spec.timing import CACHED, Timings
from warpfile.spec.trace import Port, Space, Trace
from warpfile.spec.values import RowValues

# Plain numbers: comparing with a member of an IntEnum costs a lookup for every beat.
_MISS: Final = int(Origin.MISS)
_LSU: Final = int(Port.LSU)
_TEXTURE: Final = int(Space.TEXTURE)
_TEXTURES: Final = len(Port)  #: their class, next to those of the ports


class Execution:
    """Takes beats and returns their results. ``drive`` once per cycle, then what the machine did in it, each by the
    method of its name.

    Beats under way have different payloads. ``trace`` is asked only by machines that decide by values.
    ``token_ports``: by warp slot, the write-back port of tokens of beats that need no unit.
    """

    def __init__(self, cfg: Config, trace: Trace | None) -> None:
        self.in_flight = 0  #: results that have not been accepted
        self._queue = cfg.port_queue
        self._limit, self._uniform, self._lead = cfg.result_queue, cfg.uniform_latency, cfg.gives.lead
        self.token_ports, self._early = [cfg.token_port] * cfg.warps, cfg.early_port
        self._hint_mask = (1 << cfg.result_hint_bits) - 1
        write_of = cfg.write_port_of
        self._warps: dict[int, int] = {}  # of beats in collector units, by payload
        self._writes_back = [list[Result]() for _ in range(cfg.write_ports)]
        self._units = [_ExecutionPort(write_of[port]) for port in range(cfg.ports)]
        self._timings = Timings(cfg)
        self._coming: dict[int, list[tuple[int, Result]]] = {}  # write-back port and result, by the cycle
        self._notices = cfg.notice_latency if cfg.sees_misses else 0  # 0: none
        self._missed: dict[int, Missed] = {}  # by the cycle of their notice
        self._values = RowValues(trace, cfg.lanes) if cfg.values and trace is not None else None

    def awaits(self, cycle: int) -> bool:
        """Whether results come later or sectors keep the channel: until then a machine may have nothing to do."""
        return bool(self._coming) or self._timings.channel_free > cycle

    def finished(self, cycle: int) -> bool:
        """Whether no result is in flight, and nothing keeps the channel to memory."""
        return not self.in_flight and self._timings.channel_free <= cycle

    def owner(self, payload: int) -> int | None:
        """Warp slot of a beat that was issued to the operand stage and has not been dispatched."""
        return self._warps.get(payload)

    def drive(self, cycle: int, stimulus: Stimulus) -> None:
        """Set this cycle's ``ready``, results and notice of a miss."""
        if cycle in self._coming:
            for number, result in self._coming.pop(cycle):
                self._writes_back[number].append(result)
        ready, limit, results = 0, self._limit, stimulus.results
        for number, waiting in enumerate(self._writes_back):
            results[number] = waiting[0] if waiting else None
        for number, unit in enumerate(self._units):
            if unit.takes(cycle, self._queue) and len(self._writes_back[unit.write_port]) < limit:
                ready |= 1 << number
        stimulus.ready = ready
        if self._notices:
            stimulus.missed = self._missed.pop(cycle) if cycle in self._missed else None

    def issued(self, warp: int, beat: Beat, cycle: int) -> None:
        """A beat of a warp; one that needs no unit releases its tokens."""
        if beat.needs_unit:
            self._warps[beat.payload] = warp
        elif beat.token_writes and beat.executes:
            tokens = Result(cycle + self._uniform, warp, False, 0, beat.token_writes, 0, -1)
            tokens.hints = beat.hints & self._hint_mask
            self._return(self.token_ports[warp], tokens)

    def dispatched(self, number: int, beat: Beat, cycle: int) -> int:
        """A beat leaves at an execution port; returns its warp."""
        unit = self._units[number]
        warp = self._warps.pop(beat.payload)
        start = unit.start(cycle)
        if not beat.last:
            unit.free_at = start + 1
            return warp
        latency, interval, origin = self._timings.of(beat, start)
        unit.free_at = start + interval
        if self._notices and beat.long and (origin == _MISS or beat.space == _TEXTURE):
            due = start + self._notices
            assert due not in self._missed, "loads start at one port, one in a cycle, and all notices are as late"
            self._missed[due] = Missed(warp, beat.dest, beat.dest_count)
        tokens, row, count = beat.token_writes, beat.result_row, beat.dest_count
        first = start + latency - self._lead
        if count > 1 and number == self._early:
            first -= 1
        if beat.port != _LSU or beat.space not in CACHED:
            first = unit.in_order(beat, first)
        for k in range(count):
            result = Result(first + k, warp, True, beat.dest + k, tokens, beat.mask, row)
            result.full, result.component, result.origin = beat.full, k, origin
            result.hints = beat.hints & self._hint_mask
            if self._values is not None:
                result.data = self._values.packed(row)
            self._return(unit.write_port, result)
            tokens = 0
            row += row >= 0
        if tokens or (beat.answered and not count):
            alone = Result(first + self._lead, warp, False, 0, tokens, 0, -1)
            alone.hints = beat.hints & self._hint_mask
            self._return(unit.write_port, alone)
        return warp

    def accepted(self, number: int) -> Result:
        """The result that a write-back port offered, which it returns."""
        self.in_flight -= 1
        return self._writes_back[number].pop(0)

    def _return(self, number: int, result: Result) -> None:
        self.in_flight += 1
        coming = self._coming.get(result.ready)
        if coming is None:
            self._coming[result.ready] = [(number, result)]
        else:
            coming.append((number, result))


@dataclass(slots=True, eq=False)
class _ExecutionPort:
    """Where its results come back, and when those that left start."""

    write_port: int
    free_at: int = 0  #: first cycle in which a beat that leaves now could start
    #: When the last result of every class that returns in order is ready.
    last: list[int] = field(default_factory=lambda: [0] * (_TEXTURES + 1))
    starts: deque[int] = field(default_factory=deque)  #: of beats that wait

    def takes(self, cycle: int, queue: int) -> bool:
        """Whether a beat may leave: it starts at once, or fewer than ``queue`` others wait."""
        while self.starts and self.starts[0] <= cycle:
            self.starts.popleft()
        return self.free_at <= cycle or len(self.starts) < queue

    def start(self, cycle: int) -> int:
        """When a beat that leaves now starts."""
        if self.free_at <= cycle:
            return cycle
        self.starts.append(self.free_at)
        return self.free_at

    def in_order(self, beat: Beat, first: int) -> int:
        """Cycle of the first result of a beat, not before the last one of an earlier beat of its class."""
        count, kind = beat.results, _TEXTURES if beat.space == _TEXTURE else beat.port
        if count:
            first = max(first, self.last[kind])
            self.last[kind] = first + count - 1
        return first
