"""Events of a run as files for Perfetto and Konata, written as they happen (docs/profile.md, section 6)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TextIO

from warpfile.results.profiles.in_flight import Flight
from warpfile.results.profiles.operands import NOBODY
from warpfile.results.profiles.profile import REASONS, Line

_STATES = 0  #: thread of a process on which the states of its warp are


class ChromeTrace:
    """Trace-event JSON: a process per warp slot, a thread for its states and one per lane of beats. A cycle is 1 us."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._first = True
        self._open: dict[int, tuple[str, int, int]] = {}  # reason, line and first cycle of every warp's state
        self._seen: dict[int, int] = {}  # last cycle of it
        self._lanes: dict[int, list[tuple[int, int]]] = {}  # of a warp: beat in each lane, or when the last one ended
        self._threads: set[tuple[int, int]] = set()

    def begin(self, lines: Sequence[Line]) -> None:
        """See :class:`Listener`."""
        self._lines = lines
        about = json.dumps({"machine": self._name, "cycle": "1 us"})
        self._stream.write(f'{{"displayTimeUnit": "ns", "otherData": {about}, "traceEvents": [')

    def decoded(self, cycle: int, flight: Flight) -> None:
        """See :class:`Listener`."""

    def issued(self, cycle: int, flight: Flight) -> None:
        """Take the lowest lane that was free in the cycle before."""
        lanes = self._lanes.setdefault(flight.warp, [])
        free = (lane for lane, (payload, ended) in enumerate(lanes) if payload == NOBODY and ended < cycle)
        lane = next(free, len(lanes))
        lanes[lane : lane + 1] = [(flight.payload, cycle)]

    def dispatched(self, cycle: int, flight: Flight) -> None:
        """See :class:`Listener`."""

    def ended(self, cycle: int, flight: Flight) -> None:
        """Write a beat that issued; what was absorbed is seen in the cycle of its issue only."""
        lanes = self._lanes.get(flight.warp, [])
        lane = next((lane for lane, (payload, _) in enumerate(lanes) if payload == flight.payload), NOBODY)
        if lane == NOBODY:
            return
        lanes[lane] = (NOBODY, cycle)
        line, thread = self._lines[flight.line], lane + 1
        about = {"offset": line.place, "beat": flight.payload}
        last = flight.issued if flight.unit and flight.dispatched == NOBODY else cycle
        self._slice(flight.warp, thread, line.text, flight.issued, last + 1, about)
        if flight.dispatched != NOBODY:
            self._slice(flight.warp, thread, "collect", flight.issued, flight.dispatched, {})
            self._slice(flight.warp, thread, "execute", flight.dispatched, cycle + 1, {})

    def state(self, cycle: int, warp: int, reason: str, line: int) -> None:
        """Go on with the state of a warp, or write the one that has ended."""
        known = self._open.get(warp)
        if known is None or known[:2] != (reason, line) or self._seen[warp] != cycle - 1 or reason == "issued":
            self._leave(warp)
            self._open[warp] = reason, line, cycle
        self._seen[warp] = cycle

    def close(self, cycle: int) -> None:
        """Write what is open, and the end."""
        for warp in sorted(self._open):
            self._leave(warp)
        self._stream.write("\n]}\n")

    def _leave(self, warp: int) -> None:
        if known := self._open.pop(warp, None):
            reason, line, first = known
            said = f"waits {REASONS[reason]}" if reason in REASONS else reason
            about = {"offset": self._lines[line].place, "instruction": self._lines[line].text}
            self._slice(warp, _STATES, said, first, self._seen[warp] + 1, about)

    def _slice(self, warp: int, thread: int, name: str, first: int, end: int, about: Mapping[str, object]) -> None:
        if (warp, thread) not in self._threads:
            self._name_thread(warp, thread)
        event = {"name": name, "ph": "X", "pid": warp + 1, "tid": thread, "ts": first, "dur": end - first}
        self._write(event | ({"args": about} if about else {}))

    def _name_thread(self, warp: int, thread: int) -> None:
        if not any(slot == warp for slot, _ in self._threads):
            self._write(_named("process_name", warp, 0, f"warp slot {warp}"))
        self._threads.add((warp, thread))
        self._write(_named("thread_name", warp, thread, f"beats {thread}" if thread else "state"))

    def _write(self, event: Mapping[str, object]) -> None:
        self._stream.write(("\n" if self._first else ",\n") + json.dumps(event, ensure_ascii=False))
        self._first = False


def _named(kind: str, warp: int, thread: int, name: str) -> dict[str, object]:
    return {"name": kind, "ph": "M", "pid": warp + 1, "tid": thread, "args": {"name": name}}


class KanataLog:
    """Kanata log, version 0004: an instruction per beat, a thread per warp slot, stages B, C and X."""

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream, self._name = stream, name
        self._cycle = NOBODY
        self._numbers: dict[int, int] = {}  # of beats under way
        self._begun = self._retired = 0

    def begin(self, lines: Sequence[Line]) -> None:
        """See :class:`Listener`."""
        self._lines = lines
        self._stream.write("Kanata\t0004\n")

    def decoded(self, cycle: int, flight: Flight) -> None:
        """It enters stage B, with its text."""
        self._at(cycle)
        number, line = self._begun, self._lines[flight.line]
        self._numbers[flight.payload] = number
        self._begun += 1
        self._write("I", number, flight.payload, flight.warp)
        self._write("L", number, 0, f"{line.place}: {line.text}")
        self._write("S", number, 0, "B")

    def issued(self, cycle: int, flight: Flight) -> None:
        """It enters stage C, or X beside the operand stage."""
        self._stage(cycle, flight, "C" if flight.unit else "X")

    def dispatched(self, cycle: int, flight: Flight) -> None:
        """It enters stage X."""
        self._stage(cycle, flight, "X")

    def ended(self, cycle: int, flight: Flight) -> None:
        """It retires; one that never issued, because the run was broken off, is flushed."""
        self._at(cycle)
        number = self._numbers.pop(flight.payload)
        self._write("R", number, self._retired, int(flight.issued == NOBODY))
        self._retired += 1

    def state(self, cycle: int, warp: int, reason: str, line: int) -> None:
        """See :class:`Listener`."""

    def close(self, cycle: int) -> None:
        """See :class:`Listener`."""

    def _stage(self, cycle: int, flight: Flight, stage: str) -> None:
        self._at(cycle)
        self._write("S", self._numbers[flight.payload], 0, stage)

    def _at(self, cycle: int) -> None:
        if self._cycle == NOBODY:
            self._write("C=", cycle)
        elif cycle > self._cycle:
            self._write("C", cycle - self._cycle)
        self._cycle = cycle

    def _write(self, *fields: object) -> None:
        self._stream.write("\t".join(map(str, fields)) + "\n")
