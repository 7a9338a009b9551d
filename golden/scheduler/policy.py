"""Which eligible warp issues (docs/machine.md, section 4)."""

from __future__ import annotations

from typing import Protocol

from warpfile.golden.arbiter import first_from, first_of
from warpfile.golden.scheduler.two_level.scheduler import TwoLevel
from warpfile.spec.config import Config


class Scheduler(Protocol):
    """First slot of a scheme. ``choose`` decides, the other methods are the clock edge."""

    def choose(self, eligible: int) -> int:
        """The warp that issues among the ``eligible`` ones (a mask that is not zero)."""

    def issued(self, warp: int) -> None:
        """``warp`` issued in this cycle."""

    def launched(self, warp: int) -> None:
        """``warp`` is resident from the next cycle."""

    def exited(self, warp: int) -> None:
        """``warp`` issued its EXIT in this cycle."""


class Oldest:
    """The eligible warp that was launched first."""

    def __init__(self) -> None:
        self._age: list[int] = []

    def choose(self, eligible: int) -> int:
        """See :class:`Scheduler`."""
        return first_of(eligible, self._age)

    def issued(self, warp: int) -> None:
        """Issues change no age."""

    def launched(self, warp: int) -> None:
        """See :class:`Scheduler`."""
        self._age.append(warp)

    def exited(self, warp: int) -> None:
        """Forget the warp: its slot's next warp is the youngest of all."""
        self._age.remove(warp)


class Gto(Oldest):
    """Greedy, then oldest: the last issuer as long as it is eligible, otherwise the one launched first."""

    def __init__(self) -> None:
        super().__init__()
        self._last = -1

    def choose(self, eligible: int) -> int:
        """See :class:`Scheduler`."""
        last = self._last
        if last >= 0 and eligible >> last & 1:
            return last
        return super().choose(eligible)

    def issued(self, warp: int) -> None:
        """See :class:`Scheduler`."""
        self._last = warp

    def exited(self, warp: int) -> None:
        """Forget the warp, also as last issuer: its slot's next warp starts without privilege."""
        super().exited(warp)
        if self._last == warp:
            self._last = -1


class Lrr:
    """Loose round robin: the first eligible warp at or after the one behind the last issuer."""

    def __init__(self, warps: int) -> None:
        self._warps = warps
        self._pointer = 0

    def choose(self, eligible: int) -> int:
        """See :class:`Scheduler`."""
        return first_from(eligible, self._pointer)

    def issued(self, warp: int) -> None:
        """See :class:`Scheduler`."""
        self._pointer = (warp + 1) % self._warps

    def launched(self, warp: int) -> None:
        """Launches do not move the pointer."""

    def exited(self, warp: int) -> None:
        """Exits do not move the pointer."""


def make_scheduler(cfg: Config) -> Scheduler:
    """The scheduler that the configuration names."""
    if cfg.scheduler == "two_level":
        return TwoLevel(cfg)
    if cfg.scheduler == "lrr":
        return Lrr(cfg.warps)
    return Gto() if cfg.scheduler == "gto" else Oldest()
