"""What a machine asks of an operand stage (docs/machine.md, sections 4 to 7; docs/architecture.md, section 3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Protocol

from warpfile.golden.completion import Completion
from warpfile.golden.entry import Entry
from warpfile.spec.ctas import Launch
from warpfile.spec.environment import Result

#: A beat presented on an execution port: port, warp, beat.
Offer = tuple[int, int, Entry]


class Heads(Protocol):
    """What a stage sees of the frame: the oldest beat of ``buffers[w]`` is the head of warp w.

    Masks over warps: ``buffered``, ``clear`` (no hazard), ``waiting`` (at a barrier), ``unitless`` (the head beat needs
    no unit). ``registers`` are the pending registers of each warp.
    """

    buffers: list[deque[Entry]]
    buffered: int
    clear: int
    waiting: int
    unitless: int
    registers: list[int]


class OperandStage(Protocol):
    """Gathers operands and owns results: location, banks and whatever keeps operands are its business.

    ``unread`` and ``collecting`` answer from registered state, and ``changed`` marks the warps for which an answer may
    differ from the one that it gave last; who reads it clears it. ``hold`` and ``prefer`` are masks over warps, read
    once at the beginning of a cycle. ``hold``: storage cannot serve the warp's head beat now. ``prefer``: the choice is
    among these if any of them is eligible. ``counters`` are those that the machine does not count.

    The calls of a cycle, in this order:

    1. ``room`` and ``offer`` decide over registered state and change nothing of it.
    2. ``take``: results are accepted, then the bank ports that they leave serve the stage's other clients and its
       reads. Both are requests of earlier cycles, so they are decided before this cycle's beat is known.
    3. ``dispatch``, for every port that takes the beat presented on it.
    4. ``accept``, at most once, for the beat that the scheduler chose. It sees what ``take`` and ``dispatch`` did. What
       it must not see yet (a unit freed in this cycle) the stage keeps as it was.
    5. ``edge``: the rest of the clock edge.

    What goes into ``completion`` for a cycle is told to the scoreboard at the end of that cycle, after ``accept``.
    """

    hold: int
    prefer: int
    changed: int
    counters: dict[str, int]
    completion: Completion

    def unread(self, warp: int) -> int:
        """Registers that a younger beat of the warp must not write yet, as a mask."""

    def collecting(self, warp: int) -> bool:
        """Whether a beat of the warp has not been dispatched."""

    def room(self, heads: Heads) -> int:
        """Buffered warps whose head beat finds a place."""

    def offer(self) -> Sequence[Offer]:
        """The beats presented on the execution ports, at most one per port, ports ascending."""

    def take(self, cycle: int, results: Sequence[Result | None]) -> int:
        """Write-back ports whose result is accepted, as a mask. To store or to drop it is up to the stage."""

    def dispatch(self, port: int) -> Sequence[int]:
        """The port takes its beat: values of the operands, in the order of the beat's sources."""

    def accept(self, warp: int, entry: Entry) -> bool:
        """Take the head beat of ``warp``, or refuse it. An accepted beat issues, also one that needs no unit."""

    def launched(self, launch: Launch) -> None:
        """A warp is resident from the next cycle. That one leaves is seen by its EXIT in ``accept``."""

    def edge(self, cycle: int) -> int:
        """End the cycle and return all probes of the stage in it."""
