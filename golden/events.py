"""Probes of events, gathered during a cycle in short numbers that are put together at its end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from warpfile.golden.arbiter import ones
from warpfile.spec.probe import ProbeLayout

#: Bits of a number that costs no object of its own where models are compiled.
SHORT: Final = 62


class Word:
    """Probes that lie side by side: what is shown of them in this cycle, and where they begin."""

    __slots__ = ("at", "shown")

    def __init__(self, at: int) -> None:
        self.at, self.shown = at, 0


class Event:
    """One probe. ``count``: bits that were set in it since the start."""

    __slots__ = ("_shift", "_word", "count")

    def __init__(self, word: Word, shift: int) -> None:
        self._word, self._shift, self.count = word, shift, 0

    def show(self, bits: int) -> None:
        """Bits that were not shown in this cycle."""
        if bits:
            self._word.shown |= bits << self._shift
            self.count += ones(bits)

    def level(self, value: int) -> None:
        """Some bits that were not shown in this cycle, and are not counted."""
        if value:
            self._word.shown |= value << self._shift


class Events:
    """Probes by their name, each in so many equal parts, of which every one is an :class:`Event`.

    ``edge`` ends the cycle. ``first`` is the lowest bit of the first probe.
    """

    def __init__(self, layout: ProbeLayout, parts: Mapping[str, int]) -> None:
        probes = [probe for probe in layout if probe.name in parts]
        self.first = layout.offset[probes[0].name]
        self._words: list[Word] = []  # from the highest to the lowest
        self._events: dict[str, list[Event]] = {}
        for probe in probes:
            at, width = layout.offset[probe.name] - self.first, probe.width // parts[probe.name]
            self._events[probe.name] = [self._place(at + part * width, width) for part in range(parts[probe.name])]

    def _place(self, at: int, width: int) -> Event:
        """Beside what was placed before where a short number has both."""
        if not self._words or at + width - self._words[0].at > SHORT:
            self._words.insert(0, Word(at))
        return Event(self._words[0], at - self._words[0].at)

    def of(self, probe: str, part: int = 0) -> Event:
        """One part of a probe."""
        return self._events[probe][part]

    def edge(self) -> int:
        """End the cycle; returns what was shown in it, from the first probe on."""
        whole = at = 0
        for word in self._words:
            if word.shown:
                whole = whole << at - word.at | word.shown if whole else word.shown
                at, word.shown = word.at, 0
        return whole << at
