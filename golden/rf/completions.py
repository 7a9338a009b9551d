"""A write-back port completes one result per cycle (docs/schemes/corf.md, section 5)."""

from __future__ import annotations

from warpfile.golden.completion import Completion
from warpfile.spec.stimulus import Result


class Completions:
    """What is stored completes at once, whatever else when its port has nothing to store, in order of acceptance."""

    def __init__(self, ports: int) -> None:
        self.completion = Completion()
        self._waiting = [list[Result]() for _ in range(ports)]
        self._ports = list(range(ports))
        self._stored = 0
        self._late: list[tuple[int, Result]] = []

    @property
    def waits(self) -> bool:
        """Whether anything waits."""
        return any(len(waiting) > 0 for waiting in self._waiting)

    def stored(self, cycle: int, port: int, result: Result) -> None:
        """A result is written to its bank."""
        self.completion.add(cycle, result)
        self._stored |= 1 << port

    def add(self, port: int, result: Result) -> None:
        """A result waits that has nothing to store; one with a register does so from the next cycle on."""
        if result.writes:
            self._late.append((port, result))
        else:
            self._waiting[port].append(result)

    def step(self, cycle: int) -> int:
        """The first of every port completes, once in a cycle, behind ``stored``; returns the ports that complete."""
        completed, self._stored = self._stored, 0
        for port in self._ports:
            if self._waiting[port] and not completed >> port & 1:
                self.completion.add(cycle, self._waiting[port].pop(0))
                completed |= 1 << port
        for port, result in self._late:
            self._waiting[port].append(result)
        self._late.clear()
        return completed
