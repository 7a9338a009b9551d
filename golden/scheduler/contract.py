"""What a machine asks of its scheduler (docs/slots/scheduler.md). A scheduler is made as ``Kind(cfg)``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mypy_extensions import mypyc_attr

from warpfile.golden.long_frame import LongFrame
from warpfile.golden.scheduler.places import Places
from warpfile.spec.beat import Beat
from warpfile.spec.probe import ProbeLayout


@mypyc_attr(allow_interpreted_subclasses=True)
class Scheduler(Protocol):
    """Who issues. ``choose`` decides, the other methods are the clock edge.

    ``places`` is None unless the scheduler is a :class:`PlacingScheduler`.
    """

    @property
    def counters(self) -> dict[str, int]:
        """Its own, if it has any."""
        return {}

    @property
    def places(self) -> Places | None:
        """Who holds which place."""
        return None

    def choose(self, eligible: int) -> int:
        """The warp that issues among the ``eligible`` ones (a mask that is not zero)."""

    def issued(self, warp: int) -> None:
        """``warp`` issued in this cycle."""

    def launched(self, warp: int) -> None:
        """``warp`` is resident from the next cycle."""

    def exited(self, warp: int) -> None:
        """``warp`` issued its EXIT in this cycle."""


@mypyc_attr(allow_interpreted_subclasses=True)
class LookaheadScheduler(Scheduler, Protocol):
    """A scheduler that is told whose next load is in the register file (``cfg.gives.lookahead``).

    In a cycle ``begin`` comes first and ``edge`` last; ``leaves`` goes with ``issued``.
    """

    def observe_at(self, layout: ProbeLayout) -> None:
        """Where the probes are; once, before the first cycle."""

    def begin(self, lookahead_hit: int) -> int:
        """``lookahead_hit``: the warp that is told of, as a mask. Returns the probes of registered state."""

    def leaves(self, warp: int, beat: Beat) -> None:
        """The beat that ``warp`` issued in this cycle."""

    def edge(self) -> None:
        """Flags as the next cycle sees them."""


@mypyc_attr(allow_interpreted_subclasses=True)
class RankedScheduler(Scheduler, Protocol):
    """A scheduler that is told who owns registers that two warps share (``cfg.gives.ranks``).

    ``ranks`` comes before ``choose`` in every cycle.
    """

    def ranks(self, owners: int, sharers: int) -> None:
        """Registered state: warps that own what they share, and warps in a slot with a partner that do not."""


@mypyc_attr(allow_interpreted_subclasses=True)
class PlacingScheduler(Scheduler, Protocol):
    """A scheduler that gives places to some of the warps; only warps with a place may issue.

    In a cycle ``begin`` decides over registered state, before anything of the other parts changes; ``choose`` sees
    candidates out of ``may_issue`` only; ``edge`` comes last.
    """

    may_issue: int

    def observe_at(self, layout: ProbeLayout) -> None:
        """Where the probes are; once, before the first cycle."""

    def begin(
        self, frame: LongFrame, collecting: Callable[[int], bool], release: Callable[[int], int], yields: int
    ) -> int:
        """Decide everything but the choice of a warp; returns the probes of the places.

        ``collecting`` tells whether a beat of a warp has not been dispatched; ``release`` is asked which of some places
        (a mask, not 0) the register file lets go of; ``yields`` are warps that wait as at a barrier that stays closed.
        """

    def edge(self) -> None:
        """Places and states as the next cycle sees them."""
