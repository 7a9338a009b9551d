"""Which eligible warp issues (docs/machine.md, section 4)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import first_from, first_of
from warpfile.golden.scheduler.contract import Scheduler
from warpfile.spec.config import Config


@mypyc_attr(allow_interpreted_subclasses=True)
class Oldest(Scheduler):
    """The eligible warp that was launched first."""

    def __init__(self, cfg: Config) -> None:
        self._age: list[int] = []

    def choose(self, eligible: int) -> int:
        """See :class:`golden.scheduler.contract.Scheduler`."""
        return first_of(eligible, self._age)

    def issued(self, warp: int) -> None:
        """Issues change no age."""

    def launched(self, warp: int) -> None:
        """The youngest of all."""
        self._age.append(warp)

    def exited(self, warp: int) -> None:
        """Forget the warp: its slot's next warp is the youngest of all."""
        self._age.remove(warp)


@mypyc_attr(allow_interpreted_subclasses=True)
class Gto(Oldest):
    """Greedy, then oldest: the last issuer as long as it is eligible, otherwise the one launched first."""

    def __init__(self, cfg: Config) -> None:
        super().__init__(cfg)
        self._last = -1

    def choose(self, eligible: int) -> int:
        """See :class:`golden.scheduler.contract.Scheduler`."""
        last = self._last
        if last >= 0 and eligible >> last & 1:
            return last
        return super().choose(eligible)

    def issued(self, warp: int) -> None:
        """The one to go on with."""
        self._last = warp

    def exited(self, warp: int) -> None:
        """Forget the warp, also as last issuer: its slot's next warp starts without privilege."""
        super().exited(warp)
        if self._last == warp:
            self._last = -1


@mypyc_attr(allow_interpreted_subclasses=True)
class Cggty(Gto):
    """The last issuer as long as it is eligible, otherwise the one launched last (docs/schemes/modern.md)."""

    def choose(self, eligible: int) -> int:
        """See :class:`golden.scheduler.contract.Scheduler`."""
        last = self._last
        if last >= 0 and eligible >> last & 1:
            return last
        return first_of(eligible, self._age[::-1])


@mypyc_attr(allow_interpreted_subclasses=True)
class Lrr(Scheduler):
    """Loose round robin: the first eligible warp at or after the one behind the last issuer."""

    def __init__(self, cfg: Config) -> None:
        self._warps = cfg.warps
        self._pointer = 0

    def choose(self, eligible: int) -> int:
        """See :class:`golden.scheduler.contract.Scheduler`."""
        return first_from(eligible, self._pointer)

    def issued(self, warp: int) -> None:
        """The pointer moves behind the issuer."""
        self._pointer = (warp + 1) % self._warps

    def launched(self, warp: int) -> None:
        """Launches do not move the pointer."""

    def exited(self, warp: int) -> None:
        """Exits do not move the pointer."""
