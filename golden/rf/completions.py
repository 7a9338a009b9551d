"""A write-back port completes one result per cycle (docs/schemes/corf.md, section 5)."""

from __future__ import annotations

from warpfile.golden.completion import Completion
from warpfile.spec.stimulus import Result


class Completions:
    """What is stored completes at once, whatever else when its port has nothing to store, in order of acceptance.

    Results with a register are accepted ``lead`` cycles early, and complete no earlier than they would without.
    """

    def __init__(self, ports: int, lead: int) -> None:
        self.completion = Completion()
        self._waiting = [list[tuple[int, Result]]() for _ in range(ports)]
        self._ports = list(range(ports))
        self._lead, self._stored = lead, 0

    @property
    def waits(self) -> bool:
        """Whether anything waits."""
        return any(len(waiting) > 0 for waiting in self._waiting)

    def stored(self, cycle: int, port: int, result: Result) -> None:
        """A result is written to its bank."""
        self.completion.add(cycle, result)
        self._stored |= 1 << port

    def add(self, cycle: int, port: int, result: Result) -> None:
        """A result waits that has nothing to store."""
        self._waiting[port].append((cycle + self._lead if result.writes else cycle, result))

    def step(self, cycle: int) -> int:
        """The first of every port completes, once in a cycle, behind ``stored``; returns the ports that complete."""
        completed, self._stored = self._stored, 0
        for port in self._ports:
            waiting = self._waiting[port]
            if waiting and not completed >> port & 1 and waiting[0][0] <= cycle:
                self.completion.add(cycle, waiting.pop(0)[1])
                completed |= 1 << port
        return completed
