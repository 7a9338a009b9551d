"""The mode of the fast partition in every epoch, from what issued in the one before (docs/schemes/pilot.md)."""

from __future__ import annotations


class Epochs:
    """``issued`` and ``cycle`` count within the epoch, ``high`` is the mode in force."""

    def __init__(self, length: int, threshold: int) -> None:
        self._last, self._threshold = length - 1, threshold
        self.issued = self.cycle = 0
        self.high = True

    def restart(self) -> None:
        """A kernel begins."""
        self.issued = self.cycle = 0
        self.high = True

    def edge(self, issued: int) -> None:
        """A cycle in which so many beats issued ends."""
        self.issued += issued
        if self.cycle < self._last:
            self.cycle += 1
            return
        self.high = self.issued >= self._threshold
        self.issued = self.cycle = 0
