"""Counters summed from the RTL's observation words, independently of the golden model's own counting."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from warpfile.spec.config import Config
from warpfile.spec.probe import Fields, ProbeLayout

CHUNK = 4096
#: What the units count of sources that the register file has near.
NEAR = ("cache_hits", "cache_misses")


def reported(cfg: Config, counters: Mapping[str, int]) -> dict[str, int]:
    """Counters that say something of a configuration: where nothing is ever near, every source would be a miss, and
    where nothing follows a reset there is no start."""
    absent = (*(() if cfg.gives.near_bits else NEAR), *(() if cfg.gives.starts else ("start_cycles",)))
    return {name: count for name, count in counters.items() if name not in absent}


class ObservedCounters:
    """Collects observation words and sums their fields in chunks (docs/machine.md, section 10).

    ``events`` sums them. Words may come as bytes, highest first, with ``shift`` bits of something else below.
    """

    def __init__(self, layout: ProbeLayout, events: Callable[[Fields], Mapping[str, int]], shift: int = 0) -> None:
        self._layout = layout
        self._events = events
        self._size = -(-(shift + layout.width) // 8)
        self._mask, self._shift = (1 << layout.width) - 1, shift
        self._words: list[bytes] = []
        self._totals: dict[str, int] = {}

    def add(self, word: int) -> None:
        """Note the word of one cycle."""
        self.add_bytes([((word & self._mask) << self._shift).to_bytes(self._size, "big")])

    def add_bytes(self, words: list[bytes]) -> None:
        """Note the words of some cycles."""
        self._words += words
        if len(self._words) >= CHUNK:
            self._flush()

    def totals(self) -> dict[str, int]:
        """All counters up to the last added word."""
        if self._words:
            self._flush()
        return dict(self._totals)

    def _flush(self) -> None:
        raw = np.frombuffer(b"".join(self._words), np.uint8).reshape(len(self._words), -1)[:, ::-1]
        bits = np.unpackbits(raw, axis=1, bitorder="little")[:, self._shift :].view(bool)
        self._words.clear()
        fields = {p.name: bits[:, self._layout.offset[p.name] :][:, : p.width] for p in self._layout}
        for name, value in self._events(fields).items():
            self._totals[name] = self._totals.get(name, 0) + value
