"""Clients at the banks beside results and reads (docs/slots/rf.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from warpfile.golden.arbiter import first_from
from warpfile.golden.rf.banks import TURNS, Banks, Write
from warpfile.spec.contract import Engine


class Ask(NamedTuple):
    """What a client wants of a bank: to read a row, or with ``write`` to write one."""

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
        waiting: dict[int, int] = {}
        for client, ask in asks.items():
            assert client < self._engine.count, f"engine {self._engine.name} has no client {client}"
            if self._banks.is_free(cycle, ask.bank, ask.write is not None):
                waiting[ask.bank] = waiting.get(ask.bank, 0) | 1 << client
        served = []
        for bank, clients in waiting.items():
            client = first_from(clients, self._pointer[bank])
            self._pointer[bank] = (client + 1) % self._engine.count
            served.append((client, self._serve(cycle, asks[client])))
        return served

    def _serve(self, cycle: int, ask: Ask) -> int:
        held = self._banks.rows[ask.bank][ask.row]
        if ask.write is None:
            assert self._engine.reads, f"engine {self._engine.name} does not read"
            self._banks.claim_read(cycle, ask.bank, ask.row)
            return held
        assert self._engine.masked or not ask.write.lanes, f"engine {self._engine.name} writes whole rows"
        self._banks.claim(cycle, ask.bank, ask.row)
        self._banks.write(ask.bank, ask.write)
        return held
