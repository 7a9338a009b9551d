"""How steady a run was: resident and eligible warps, from what is observed in every cycle.

These are no counters: they are of the observation, in which lockstep finds RTL and golden model equal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpfile.spec.probe import ProbeLayout

#: Share of the cycles with few warps above which a run measures start and end.
MOST = 0.5


@dataclass(frozen=True)
class Steady:
    """Sums over the cycles of a run.

    ``possible``: the most warps of such a kernel that fit the machine; ``launched``: all warps of the launch;
    ``resident`` and ``eligible``: warps, summed over cycles; ``sparse``: cycles in which fewer than half of the
    possible warps are resident.
    """

    possible: int
    launched: int
    cycles: int
    resident: int
    eligible: int
    sparse: int

    def mean(self, total: int) -> float:
        """Of a sum, per cycle."""
        return total / self.cycles if self.cycles else 0.0

    @property
    def share(self) -> float:
        """Of the cycles, those with few warps."""
        return self.mean(self.sparse)

    @property
    def starts(self) -> bool:
        """Whether the run measures start and end: all of its warps fit at once, or most of its cycles have few."""
        return self.launched <= self.possible or self.share > MOST

    def to_json(self) -> dict[str, object]:
        """Means per cycle, the share of the cycles with few warps, and whether the run measures start and end."""
        return {
            "possible_warps": self.possible,
            "launched_warps": self.launched,
            "mean_resident_warps": self.mean(self.resident),
            "mean_eligible_warps": self.mean(self.eligible),
            "sparse_share": self.share,
            "starts_and_ends": self.starts,
        }

    @classmethod
    def of(cls, facts: Mapping[str, int]) -> Steady | None:
        """From kept facts; None without observation."""
        return cls(**facts) if facts else None


class Watch:
    """Looks at the observation word of every cycle. ``possible`` and ``launched``: see :class:`Steady`."""

    def __init__(self, layout: ProbeLayout, possible: int, launched: int) -> None:
        self._possible, self._launched = possible, launched
        self._resident, self._clear, self._waiting, self._room = (
            layout.offset[name] for name in ("resident", "clear", "waiting", "room")
        )
        self._started = layout.offset["started"]
        self._warps = layout.mask("resident")
        names = ("resident", "clear", "waiting", "room")
        self._low = (1 << max(layout.offset[name] for name in names) + self._warps.bit_length()) - 1
        self._cycles = self._residents = self._eligible = self._sparse = 0

    def add(self, word: int) -> None:
        """Note the word of a cycle; nothing before the machine's start.

        Eligible is a warp that is clear, does not wait at a barrier and has room.
        """
        if not word >> self._started & 1:
            return
        low = word & self._low
        residents = (low >> self._resident & self._warps).bit_count()
        self._cycles += 1
        self._residents += residents
        self._sparse += 2 * residents < self._possible
        self._eligible += (low >> self._clear & ~(low >> self._waiting) & low >> self._room & self._warps).bit_count()

    @property
    def sums(self) -> Steady:
        """The sums up to now."""
        return Steady(self._possible, self._launched, self._cycles, self._residents, self._eligible, self._sparse)
