"""Beats under way, from decode to their last result, and who hears of them (docs/profile.md, section 5)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from warpfile.results.profiles.operands import NOBODY, Count
from warpfile.results.profiles.profile import Line
from warpfile.spec.beat import Beat
from warpfile.spec.stimulus import Result


@dataclass(slots=True)
class Flight:
    """One beat in flight, with the cycles of its events; ``left``: results that are yet to come."""

    payload: int
    line: int
    warp: int
    unit: bool
    left: int
    decoded: int
    issued: int = NOBODY
    dispatched: int = NOBODY


class Listener(Protocol):
    """Hears of events as they happen, in the order of the cycles; of one cycle in any order."""

    def begin(self, lines: Sequence[Line]) -> None:
        """A run begins; events name its lines by their places."""

    def decoded(self, cycle: int, flight: Flight) -> None:
        """A beat enters the instruction buffer."""

    def issued(self, cycle: int, flight: Flight) -> None:
        """It issues."""

    def dispatched(self, cycle: int, flight: Flight) -> None:
        """It leaves the operand stage."""

    def ended(self, cycle: int, flight: Flight) -> None:
        """Nothing more comes of it."""

    def state(self, cycle: int, warp: int, reason: str, line: int) -> None:
        """A resident warp issues (``issued``) or waits, and this line is charged; once per warp and cycle."""

    def close(self, cycle: int) -> None:
        """The run has ended in the cycle before."""


class Flights:
    """All beats under way. Counts of dispatches and results are charged to them."""

    def __init__(
        self,
        beats: Sequence[Beat],
        warps: int,
        line_of: Callable[[int], int],
        count: Count,
        listeners: Sequence[Listener],
    ) -> None:
        self._beats, self._line_of, self._count, self._listeners = beats, line_of, count, listeners
        self._flights: dict[int, Flight] = {}
        self._pending: list[dict[tuple[bool, int], deque[int]]] = [{} for _ in range(warps)]

    def decoded(self, cycle: int, warp: int, beat: Beat) -> None:
        """A beat is sent."""
        left = beat.dest_count or int(beat.token_writes != 0) if beat.last and beat.executes else 0
        flight = self._flights[beat.payload] = Flight(
            beat.payload, self._line_of(beat.payload), warp, beat.needs_unit, left, cycle
        )
        for one in self._listeners:
            one.decoded(cycle, flight)

    def issued(self, cycle: int, payload: int) -> None:
        """A beat issues; what it will return is expected from then on."""
        flight, beat = self._flights[payload], self._beats[payload]
        flight.issued = cycle
        for one in self._listeners:
            one.issued(cycle, flight)
        if flight.left:
            registers = range(beat.dest, beat.dest + beat.dest_count)
            keys = [(True, register) for register in registers] or [(False, beat.token_writes)]
            for key in keys:
                self._pending[flight.warp].setdefault(key, deque()).append(payload)
        elif not flight.unit:
            self._end(cycle, flight)

    def dispatched(self, cycle: int, payload: int) -> None:
        """A beat leaves by its port."""
        flight = self._flights[payload]
        flight.dispatched = cycle
        self._count("dispatches", payload, 1)
        self._count("to_dispatch", payload, cycle - flight.issued)
        for one in self._listeners:
            one.dispatched(cycle, flight)
        if not flight.left:
            self._end(cycle, flight)

    def result(self, cycle: int, result: Result, accepted: bool) -> None:
        """A result is accepted or held back; that of a beat which the register file absorbed is none of these."""
        key = (result.writes, result.register if result.writes else result.tokens)
        waiting = self._pending[result.warp].get(key, deque())
        while waiting and self._absorbed(waiting[0]):
            self._end(cycle, self._flights[waiting.popleft()])
        payload = waiting[0] if waiting else NOBODY
        if not accepted:
            self._count("write_waits", payload, 1)
        elif waiting:
            waiting.popleft()
            self._returned(cycle, self._flights[payload])

    def _absorbed(self, payload: int) -> bool:
        """Whether a beat is passed by what comes behind it."""
        flight = self._flights[payload]
        return flight.unit and flight.dispatched == NOBODY

    def _returned(self, cycle: int, flight: Flight) -> None:
        flight.left -= 1
        if flight.left:
            return
        if flight.unit:
            self._count("returned", flight.payload, 1)
            self._count("to_result", flight.payload, cycle - flight.dispatched)
        self._end(cycle, flight)

    def left(self, cycle: int, warp: int) -> None:
        """A warp's slot is launched again, or the run ends: what was absorbed has ended."""
        self._pending[warp].clear()
        for flight in [one for one in self._flights.values() if one.warp == warp]:
            self._end(cycle, flight)

    def _end(self, cycle: int, flight: Flight) -> None:
        del self._flights[flight.payload]
        for one in self._listeners:
            one.ended(cycle, flight)
