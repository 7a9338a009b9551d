"""Register values of a trace as numbers, for machines that decide by them."""

from __future__ import annotations

import numpy as np

from warpfile.spec.trace import Trace


class RowValues:
    """Packs rows of a trace's values: built lanes only, lane 0 lowest. A row is packed once."""

    def __init__(self, trace: Trace, lanes: int) -> None:
        # As bytes: an array makes an object for every row that is asked for.
        values = np.ascontiguousarray(trace.values[:, :lanes], "<u4")
        self._values, self._bytes = values.view(np.uint8).reshape(-1).data, 4 * lanes
        self._packed: dict[int, int] = {}

    def packed(self, row: int) -> int | None:
        """The value of a row, None if the trace does not know it (row -1)."""
        if row < 0:
            return None
        word = self._packed.get(row)
        if word is None:
            start = row * self._bytes
            word = self._packed[row] = int.from_bytes(self._values[start : start + self._bytes], "little")
        return word
