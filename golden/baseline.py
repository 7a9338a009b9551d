"""The baseline machine: operand collectors over banks (docs/machine.md)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from golden.banks import Banks
from golden.collectors import CollectorUnits
from golden.counters import COUNTERS, no_issue_reason
from golden.frame import Frame
from golden.location import Location
from golden.operands import check_operands
from golden.scheduler import make_scheduler
from golden.stage import NO_UNIT
from spec.config import Config
from spec.ctas import Launch
from spec.environment import Result, Stimulus
from spec.probe import ProbeLayout


class Baseline:
    """Golden model of one scheduling domain. ``step`` once per cycle; nothing else changes it.

    ``counters`` are those of section 10, ``operands_checked`` counts operands that were compared with the trace.
    """

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        self.cycle = 0
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.operands_checked = 0
        self.location = Location(cfg)
        self.frame = Frame(cfg)
        self.scheduler = make_scheduler(cfg)
        self.collectors = CollectorUnits(cfg, self.location)
        self.banks = Banks(cfg, self.location)
        self._completion = cfg.bank_cycles - 1
        self._completing: deque[tuple[int, Result]] = deque()
        at = layout.offset
        self._at_state = tuple(
            at[n] for n in ("resident", "buffered", "clear", "waiting", "room", "occupied", "request")
        )
        self._at_issue = tuple(at[n] for n in ("issue", "issue_warp", "exit", "allocate"))
        self._at_ports = tuple(at[n] for n in ("write", "write_wait", "offer", "dispatch"))
        self._at_port = [(at[f"dispatch_unit{port}"], at[f"dispatch_payload{port}"]) for port in range(cfg.ports)]
        self._at_launch = at["launch"]
        self._at_grant = at["grant"]

    def step(self, stimulus: Stimulus) -> int:
        """Return the packed observation of this cycle and move to the next one.

        Raises :class:`golden.StaleOperand`, and ``AssertionError`` for what cannot happen.
        """
        frame, collectors, results = self.frame, self.collectors, stimulus.results
        frame.refresh(collectors)
        room = collectors.room(frame.buffered, frame.unitless)
        word = self._state(room)
        accepted = self.banks.accept(self.cycle, results)
        grants = self._grants()
        offered = collectors.offer()
        warp, unit = self._choose(room)
        # From here on the clock edge. Reads come before writes: they see rows as they were in this cycle. Dispatch
        # comes before issue: a beat that leaves now is not waited for. Completion comes before issue: set wins.
        word |= self._read(grants) | self._dispatch(offered, stimulus.ready) | self._write(results, accepted)
        if self._completing:
            self._complete()
        collectors.arrive(self.cycle)
        if frame.waiting:
            frame.release_barriers()
        if warp >= 0:
            word |= self._issue(warp, unit)
        if stimulus.beat is not None:
            frame.decode(stimulus.beat_warp, stimulus.beat)
        if stimulus.launch is not None:
            word |= self._launch(stimulus.launch)
        self.cycle += 1
        return word

    def _state(self, room: int) -> int:
        """Probes of registered state, and the counters that sum over it."""
        frame, collectors, counters = self.frame, self.collectors, self.counters
        resident, buffered, clear, waiting, at_room, occupied, request = self._at_state
        counters["cycles"] += 1
        counters["unit_cycles"] += collectors.occupied.bit_count()
        counters["resident_cycles"] += frame.resident.bit_count()
        return (
            frame.resident << resident
            | frame.buffered << buffered
            | frame.clear << clear
            | frame.waiting << waiting
            | room << at_room
            | collectors.occupied << occupied
            | collectors.requested << request
        )

    def _grants(self) -> list[int]:
        collectors, counters = self.collectors, self.counters
        if not collectors.requested:
            return []
        grants = self.banks.grant(self.cycle, collectors.requests, collectors.order)
        counters["bank_reads"] += len(grants)
        counters["bank_conflicts"] += collectors.requested.bit_count() - len(grants)
        return grants

    def _choose(self, room: int) -> tuple[int, int]:
        """The warp that issues, -1 for none, and the unit that takes its beat. A refusal changes nothing."""
        frame, stage = self.frame, self.collectors
        eligible = frame.clear & ~frame.waiting & room & ~stage.hold
        if eligible:
            warp = self.scheduler.choose(eligible & stage.prefer or eligible)
            unit = stage.accept(warp, frame.buffers[warp][0])
            if unit is not None:
                return warp, unit
        self.counters[no_issue_reason(frame.buffered, frame.waiting, frame.clear)] += 1
        return -1, NO_UNIT

    def _read(self, grants: list[int]) -> int:
        collectors, rows, word = self.collectors, self.banks.rows, 0
        for index in grants:
            value = rows[collectors.banks[index]][collectors.rows[index]]
            self.frame.stale |= 1 << collectors.granted(self.cycle, index, value)
            word |= 1 << index
        return word << self._at_grant

    def _dispatch(self, offered: list[int], ready: int) -> int:
        _, _, at_offer, at_dispatch = self._at_ports
        word = 0
        for port, number in enumerate(offered):
            if number < 0:
                continue
            unit = self.collectors.units[number]
            assert unit.entry is not None, f"collector unit {number} is offered without a beat"
            beat, (at_unit, at_payload) = unit.entry.beat, self._at_port[port]
            word |= 1 << at_offer + port | number << at_unit | beat.payload << at_payload
            if not ready >> port & 1:
                self.counters["dispatch_waits"] += 1
                continue
            word |= 1 << at_dispatch + port
            self.counters["dispatches"] += 1
            self.operands_checked += check_operands(self.cycle, unit.warp, beat, self.collectors.operands(number))
            self.collectors.dispatch(number)
            self.frame.stale |= 1 << unit.warp
        return word

    def _write(self, results: Sequence[Result | None], accepted: int) -> int:
        at_write, at_wait, _, _ = self._at_ports
        word = 0
        for port, result in enumerate(results):
            if result is None:
                continue
            if not accepted >> port & 1:
                word |= 1 << at_wait + port
                self.counters["write_waits"] += 1
                continue
            word |= 1 << at_write + port
            self._completing.append((self.cycle + self._completion, result))
            if result.writes:
                self.counters["bank_writes"] += 1
                self.banks.store(result)
        return word

    def _complete(self) -> None:
        """Tell the scoreboard of the results that are in place at the end of this cycle."""
        completing = self._completing
        while completing and completing[0][0] <= self.cycle:
            self.frame.release(completing.popleft()[1])

    def _issue(self, warp: int, unit: int) -> int:
        issue, issue_warp, exits, allocate = self._at_issue
        entry = self.frame.issue(warp)
        self.scheduler.issued(warp)
        self.counters["beats"] += 1
        self.counters["instructions"] += entry.beat.last
        word = 1 << issue | warp << issue_warp
        if unit != NO_UNIT:
            self.collectors.allocate(unit, warp, entry)
            word |= 1 << allocate + unit
        if entry.exits:
            self.scheduler.exited(warp)
            word |= 1 << exits
        return word

    def _launch(self, launch: Launch) -> int:
        self.frame.launch(launch)
        self.location.launched(launch.warp, launch.base)
        self.scheduler.launched(launch.warp)
        return 1 << self._at_launch
