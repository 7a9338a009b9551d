"""Clients at the banks beside results and reads (docs/slots/rf.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from warpfile.golden.arbiter import first_from
from warpfile.golden.rf.banks import TURNS, Banks, Write
from warpfile.spec.contract import Engine


class Ask(NamedTuple):
    """What a client wants of a bank: to read a row, or with ``write`` to write one (negative: an absent place)."""

    bank: int
    row: int
    write: Write | None = None


class EnginePort:
    """The clients of one engine.

    ``grant`` once per cycle, at the engine's turn: before results and reads, between them, or after both. The clients
    of a bank whose port is free are served in turn, one per cycle and bank.
    """

    def __init__(self, engine: Engine, banks: Banks) -> None:
        self._engine, self._banks = engine, banks
        banks.shared = True
        self._pointer = [0] * len(banks.rows)

    def grant(self, cycle: int, asks: Mapping[int, Ask]) -> list[tuple[int, int]]:
        """Clients that are served, of those that ask, each with the copy that its row held when the cycle began.

        A read arrives ``Banks.length`` of its place later, rows change at the edge of the banks.
        """
        self._banks.turn(cycle, TURNS[self._engine.before])
        return self.serve(cycle, asks)

    def serve(self, cycle: int, asks: Mapping[int, Ask]) -> list[tuple[int, int]]:
        """The same for a caller that has seen to the turn."""
        waiting: dict[int, int] = {}
        served = []
        for client, ask in asks.items():
            assert client < self._engine.count, f"engine {self._engine.name} has no client {client}"
            if ask.row < 0 and ask.write is not None:
                self._banks.write(ask.bank, ask.write)  # beside the ports
                served.append((client, -1))
            elif self._banks.is_free(cycle, ask.bank, max(ask.row, ~ask.row), ask.write is not None):
                waiting[ask.bank] = waiting.get(ask.bank, 0) | 1 << client
        for bank, clients in waiting.items():
            client = first_from(clients, self._pointer[bank])
            self._pointer[bank] = (client + 1) % self._engine.count
            served.append((client, self._serve(cycle, asks[client])))
        return served

    def _serve(self, cycle: int, ask: Ask) -> int:
        row = max(ask.row, ~ask.row)
        held = self._banks.rows[ask.bank][row]
        if ask.write is None:
            assert self._engine.reads, f"engine {self._engine.name} does not read"
            self._banks.claim_read(cycle, ask.bank, row)
            return held
        assert self._engine.masked or not ask.write.lanes, f"engine {self._engine.name} writes whole rows"
        self._banks.claim(cycle, ask.bank, ask.row)
        self._banks.write(ask.bank, ask.write)
        return held


class Served(NamedTuple):
    """A client of an engine that was served: the copy that its row held, and the cycle in which a read's data come."""

    engine: str
    client: int
    copy: int
    arrival: int


class OwnEngines:
    """The register file's own engines; in each place of a cycle they come before those of the collectors.

    ``asks``: what the clients of each engine ask for, by its name. That is registered state: it changes at the edge
    only. ``served``: those that got their ports in this cycle, and ``writes``, how many of them wrote; both are
    complete when ``PlainFile.edge`` has been called.
    """

    def __init__(self, engines: Sequence[Engine], banks: Banks) -> None:
        order = sorted(engines, key=lambda engine: TURNS[engine.before])
        self._ports = [(TURNS[engine.before], engine.name, EnginePort(engine, banks)) for engine in order]
        self._banks, self._cycle, self._next = banks, -1, 0
        self.asks: dict[str, dict[int, Ask]] = {engine.name: {} for engine in engines}
        self.served: list[Served] = []
        self.writes = 0

    def come(self, cycle: int, number: int) -> None:
        """Those whose turn is this one or an earlier one are served, once in a cycle."""
        if cycle != self._cycle:
            self._cycle, self._next, self.served, self.writes = cycle, 0, [], 0
        while self._next < len(self._ports) and self._ports[self._next][0] <= number:
            _, name, port = self._ports[self._next]
            self._next += 1
            asks = self.asks[name]
            for client, copy in port.serve(cycle, asks) if asks else ():
                bank, row, write = asks[client]
                self.served.append(Served(name, client, copy, cycle + self._banks.length(bank, row)))
                self.writes += write is not None
