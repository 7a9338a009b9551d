"""What the frame and the choice of a warp ask of an operand stage (docs/machine.md, sections 4 and 5)."""

from __future__ import annotations

from typing import Protocol

from golden.entry import Entry

NO_UNIT = -1  #: an accepted beat that takes no unit


class OperandStage(Protocol):
    """Gathers operands. ``hold`` and ``prefer`` are masks over warps, from registered state like all answers here.

    ``hold``: storage cannot serve the warp's head beat now. ``prefer``: the choice is among these if any of them is
    eligible.
    """

    hold: int
    prefer: int

    def room(self, buffered: int, unitless: int) -> int:
        """Warps whose head beat finds a place: of the ``buffered`` ones, where ``unitless`` ones need no unit."""

    def accept(self, warp: int, entry: Entry) -> int | None:
        """The unit that takes the beat offered in this cycle, ``NO_UNIT`` if it takes none, None to refuse it."""

    def unread(self, warp: int) -> int:
        """Registers that the warp's beats have yet to read from their banks, as a mask."""

    def collecting(self, warp: int) -> bool:
        """Whether a beat of the warp has not been dispatched."""
