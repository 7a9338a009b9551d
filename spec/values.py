"""Register values of a trace as numbers, for machines that decide by them."""

from __future__ import annotations

from warpfile.spec.trace import Trace


class RowValues:
    """Packs rows of a trace's values: built lanes only, lane 0 lowest. A row is packed once."""

    def __init__(self, trace: Trace, lanes: int) -> None:
        self._values = trace.values.astype("<u4", copy=False)
        self._mask = (1 << lanes * 32) - 1
        self._packed: dict[int, int] = {}

    def packed(self, row: int) -> int | None:
        """The value of a row, None if the trace does not know it (row -1)."""
        if row < 0:
            return None
        word = self._packed.get(row)
        if word is None:
            word = int.from_bytes(self._values[row].tobytes(), "little") & self._mask
            self._packed[row] = word
        return word
