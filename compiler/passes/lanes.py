"""Where the lanes of a warp are."""

from __future__ import annotations

START = -1


class Lanes:
    """Masks of a warp's lanes with the instruction that they executed last, or START."""

    def __init__(self, live: int) -> None:
        self._at = [(live, START)]

    def step(self, index: int, active: int) -> dict[int, int]:
        """From which instructions the active lanes come to one, each with its lanes; then they are there."""
        came: dict[int, int] = {}
        for mask, place in self._at:
            if mask & active:
                came[place] = came.get(place, 0) | mask & active
        self._at = [(mask & ~active, place) for mask, place in self._at if mask & ~active]
        self._at.append((active, index))
        return came
