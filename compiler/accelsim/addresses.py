"""Addresses per lane from the three ways in which lines write them."""

from __future__ import annotations

from array import array
from itertools import accumulate

import numpy as np

from warpfile.compiler.accelsim.line import STRIDE, Head
from warpfile.spec.trace import LANES

_WRAP = (1 << 64) - 1


class AddressRows:
    """Collects the accesses of a file; row numbers are in order of :meth:`add`."""

    def __init__(self) -> None:
        self.count = 0
        self._strided = array("q")
        self._stride_masks = array("I")
        self._bases = array("Q")
        self._strides = array("q")
        self._listed = array("q")
        self._list_masks = array("I")
        self._flat = array("Q")

    def add(self, head: Head, numbers: list[int]) -> int:
        """Keep what :func:`compiler.accelsim.line.parse_addresses` found; returns the row."""
        row = self.count
        if head.mode == STRIDE:
            self._strided.append(row)
            self._stride_masks.append(head.mask)
            self._bases.append(numbers[0])
            self._strides.append(numbers[1])
        else:
            self._listed.append(row)
            self._list_masks.append(head.mask)
            if head.mode:
                numbers = [address & _WRAP for address in accumulate(numbers)]
            self._flat.extend(numbers)
        self.count = row + 1
        return row

    def matrix(self) -> np.ndarray:
        """All rows: uint64[rows, 32], zero in lanes outside the mask."""
        table = np.zeros((self.count, LANES), dtype=np.uint64)
        table[np.array(self._listed, dtype=np.int64)] = self._scattered()
        table[np.array(self._strided, dtype=np.int64)] = self._stepped()
        return table

    def _scattered(self) -> np.ndarray:
        lanes = lanes_of(np.array(self._list_masks, dtype=np.uint32))
        rows = np.zeros(lanes.shape, dtype=np.uint64)
        rows[lanes] = np.array(self._flat, dtype=np.uint64)
        return rows

    def _stepped(self) -> np.ndarray:
        """Base plus stride times the number of active lanes below; 64-bit arithmetic wraps as addresses do."""
        lanes = lanes_of(np.array(self._stride_masks, dtype=np.uint32))
        place = (np.cumsum(lanes, axis=1) - 1).astype(np.uint64)
        bases, strides = np.array(self._bases, dtype=np.uint64), np.array(self._strides, dtype=np.int64)
        rows = bases[:, None] + place * strides.astype(np.uint64)[:, None]
        return np.where(lanes, rows, np.uint64(0))


def lanes_of(masks: np.ndarray) -> np.ndarray:
    """Bits of 32-bit masks: bool[n, 32]."""
    return (masks[:, None] >> np.arange(LANES, dtype=np.uint32) & 1).astype(bool)
