"""Counters summed from the RTL's observation words, independently of the golden model's own counting."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from warpfile.spec.probe import Fields, ProbeLayout

CHUNK = 8192


class ObservedCounters:
    """Collects observation words and sums their fields in chunks (docs/machine.md, section 10).

    ``events`` sums them.
    """

    def __init__(self, layout: ProbeLayout, events: Callable[[Fields], Mapping[str, int]]) -> None:
        self._layout = layout
        self._events = events
        self._bytes = -(-layout.width // 8)
        self._mask = (1 << layout.width) - 1
        self._words: list[int] = []
        self._totals: dict[str, int] = {}

    def add(self, word: int) -> None:
        """Note the word of one cycle."""
        self._words.append(word)
        if len(self._words) >= CHUNK:
            self._flush()

    def totals(self) -> dict[str, int]:
        """All counters up to the last added word."""
        if self._words:
            self._flush()
        return dict(self._totals)

    def _flush(self) -> None:
        raw = b"".join((word & self._mask).to_bytes(self._bytes, "little") for word in self._words)
        bits = np.unpackbits(np.frombuffer(raw, np.uint8).reshape(len(self._words), -1), axis=1, bitorder="little")
        self._words.clear()
        fields = {p.name: bits[:, self._layout.offset[p.name] :][:, : p.width].astype(bool) for p in self._layout}
        for name, value in self._events(fields).items():
            self._totals[name] = self._totals.get(name, 0) + value
