"""What a machine asks of its collectors (docs/slots/collectors.md)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Protocol

from mypy_extensions import mypyc_attr

from warpfile.golden.entry import Entry
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.stimulus import Result

#: A beat presented on an execution port: port, warp, beat.
Offer = tuple[int, int, Entry]


class Heads(Protocol):
    """What collectors see of the frame: the oldest beat of ``buffers[w]`` is the head of warp w.

    Masks over warps: ``buffered``, ``clear`` (no hazard), ``waiting`` (at a barrier), ``unitless`` (the head beat needs
    no unit). ``registers`` are the pending registers of each warp.
    """

    buffers: list[deque[Entry]]
    buffered: int
    clear: int
    waiting: int
    unitless: int
    registers: list[int]


@mypyc_attr(allow_interpreted_subclasses=True)
class Collectors(Protocol):
    """Gather, keep and forward operands; made as ``Kind(cfg, layout, file)`` over a ``golden.rf.contract`` file.

    ``unread`` and ``collecting`` answer from registered state, and ``changed`` marks the warps for which an answer may
    differ from the one that it gave last; who reads it clears it. ``prefer``: the choice is among these warps if any of
    them is eligible; read once at the beginning of a cycle. ``trail``: what they decided
    interval after interval, if they do.

    The calls of a cycle, in this order:

    1. ``room`` and ``offer`` decide over registered state and the ports that are ready, and change nothing of it. Who
       reads copies that are near tells the file (``near``).
    2. ``rule``, if there are results; then the file accepts.
    3. ``read``, always: engines and reads on the bank ports that are left. Both are requests of earlier cycles, so they
       are decided before this cycle's beat is known.
    4. ``settle``, if a result was accepted: it changes what they keep.
    5. ``dispatch``, for every port that takes the beat presented on it.
    6. ``accept``, at most once, for the beat that the scheduler chose. It sees what results and dispatches did. What it
       must not see yet (a unit freed in this cycle) they keep as it was.
    7. ``launched``, then ``edge``: the rest of the clock edge, before that of the file.
    """

    prefer: int
    changed: int

    @property
    def counters(self) -> dict[str, int]:
        """Sums since the beginning, by name."""

    @property
    def trail(self) -> Sequence[tuple[int, ...]]:
        """Of every finished interval: what was decided in it."""
        return ()

    def unread(self, warp: int) -> int:
        """Registers that a younger beat of the warp must not write yet, as a mask."""

    def collecting(self, warp: int) -> bool:
        """Whether a beat of the warp has not been dispatched."""

    def room(self, heads: Heads, ready: int) -> int:
        """Buffered warps whose head beat finds a place; ``ready``: pins that take what is presented there."""

    def offer(self) -> list[Offer]:
        """The beats presented on the execution ports, at most one per port, ports ascending."""

    def rule(self, results: list[Result | None]) -> tuple[int, int]:
        """Ports whose result they take or the file has to store, as a mask; of these those that it has to store.

        Another result is held back. One without a register is taken and need not be stored. Collectors that do not say
        otherwise leave every result to the register file.
        """
        valid, store, bit = 0, 0, 1
        for result in results:
            if result is not None:
                valid |= bit
                if result.writes:
                    store |= bit
            bit <<= 1
        return valid, store

    def read(self, cycle: int) -> None:
        """Ask the file for rows, and with engines for more."""

    def settle(self, results: list[Result | None], accepted: int) -> None:
        """Results of these ports were accepted."""

    def dispatch(self, port: int) -> list[int]:
        """The port takes its beat: values of the operands, in the order of the beat's sources."""

    def accept(self, warp: int, entry: Entry) -> bool:
        """Take the head beat of ``warp``, or refuse it. An accepted beat issues, also one that needs no unit."""

    def launched(self, launch: Launch) -> None:
        """A warp is resident from the next cycle. That one leaves is seen by its EXIT in ``accept``."""

    def edge(self, cycle: int) -> int:
        """End the cycle and return all probes of the collectors in it."""


@mypyc_attr(allow_interpreted_subclasses=True)
class GuardingCollectors(Collectors, Protocol):
    """Collectors that stand in for the scoreboard (``cfg.asks.guards``). ``unread`` is not asked."""

    def blocked(self, warp: int, head: Entry) -> bool:
        """Whether the head beat of a warp must not issue, from registered state; ``changed`` holds for this as well."""


@mypyc_attr(allow_interpreted_subclasses=True)
class ForwardingCollectors(Collectors, Protocol):
    """Collectors whose slots wait for results (``cfg.asks.forwards``)."""

    def coming(self, warp: int, head: Entry) -> int:
        """Registers, as a mask, that the head beat of a warp reads and need not wait for though they are pending;
        from registered state, and ``changed`` holds for this as well."""
