"""A beat in an instruction buffer, with what the checks of an issue need (docs/machine.md, section 4)."""

from __future__ import annotations

from typing import Final

from warpfile.spec.beat import Beat
from warpfile.spec.trace import Drain, Kind, Port

# Plain numbers: comparing with a member of an IntEnum costs a lookup for every beat.
_NO_PORT: Final = int(Port.NONE)
_BARRIER: Final = int(Kind.BARRIER)
_EXIT: Final = int(Kind.EXIT)
_NO_DRAIN: Final = int(Drain.NONE)
_EMPTY: Final = int(Drain.EMPTY)


class Entry:
    """A buffered beat and what the checks of section 4 ask of it, as masks over register names and tokens.

    ``touched`` are sources and destinations; ``port`` is the execution port of section 5, which ``port_of`` names for
    every class of units. It ``drains`` if it waits for the dispatch of what is older, and ``empties`` if also for what
    is pending. ``counts``: an instruction ends here.
    """

    __slots__ = (
        "barrier",
        "beat",
        "counts",
        "dests",
        "drains",
        "empties",
        "executes",
        "exits",
        "needs_unit",
        "port",
        "tokens",
        "touched",
    )

    def __init__(self, beat: Beat, port_of: tuple[int, ...]) -> None:
        self.beat = beat
        self.executes = beat.executes
        self.needs_unit = self.executes and beat.port != _NO_PORT
        self.port = port_of[beat.port]
        self.dests = touched = ((1 << beat.dest_count) - 1) << beat.dest
        for register in beat.sources:
            touched |= 1 << register
        self.touched = touched
        self.tokens = beat.token_reads | beat.token_writes
        self.barrier = beat.kind == _BARRIER
        self.exits = beat.kind == _EXIT
        self.drains = self.barrier or self.exits or beat.drain != _NO_DRAIN
        self.empties = self.exits or beat.drain == _EMPTY
        self.counts = beat.last and not beat.inserted
