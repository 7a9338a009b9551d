"""Gathers what warps execute into the arrays of a trace."""

from __future__ import annotations

from array import array

import numpy as np

from warpfile.spec.trace import LANES, NO_ROW

_FIRST_ROWS = 1024


class Rows:
    """Growing table of 32-lane rows."""

    def __init__(self, dtype: type) -> None:
        self.count = 0
        self.table: np.ndarray = np.empty((_FIRST_ROWS, LANES), dtype=dtype)

    def grow(self, rows: int) -> None:
        """Make room for ``rows`` more."""
        if self.count + rows > len(self.table):
            larger = np.empty((2 * len(self.table), LANES), dtype=self.table.dtype)
            larger[: self.count] = self.table[: self.count]
            self.table = larger

    def result(self) -> np.ndarray:
        """The rows in use."""
        return self.table[: self.count].copy()


class ValueStore:
    """Result rows and address rows of all warps, in order of execution."""

    def __init__(self) -> None:
        self.values = Rows(np.uint32)
        self.addresses = Rows(np.uint64)
        self.written = array("I")

    def push_values(self, registers: np.ndarray, first: int, count: int, written: list[int]) -> int:
        """Copy ``count`` registers from ``first`` on; returns the first row."""
        rows = self.values
        row = rows.count
        if row + count > len(rows.table):
            rows.grow(count)
        if count == 1:
            rows.table[row] = registers[first]
            self.written.append(written[first])
        else:
            rows.table[row : row + count] = registers[first : first + count]
            self.written.extend(written[first : first + count])
        rows.count = row + count
        return row

    def push_address(self, addresses: np.ndarray) -> int:
        """Copy one row of addresses; returns its number."""
        rows = self.addresses
        row = rows.count
        if row >= len(rows.table):
            rows.grow(1)
        rows.table[row] = addresses
        rows.count = row + 1
        return row


class WarpRecords:
    """Dynamic records of one warp, in its order."""

    def __init__(self) -> None:
        self.instruction = array("i")
        self.active = array("I")
        self.execute = array("I")
        self.live = array("I")
        self.value_row = array("q")
        self.address_row = array("q")

    def __len__(self) -> int:
        return len(self.instruction)

    def add(self, index: int, active: int, execute: int, live: int, value_row: int, address_row: int) -> None:
        """Append one executed warp instruction."""
        self.instruction.append(index)
        self.active.append(active)
        self.execute.append(execute)
        self.live.append(live)
        self.value_row.append(value_row)
        self.address_row.append(address_row)


def joined(records: list[WarpRecords], name: str, dtype: type) -> np.ndarray:
    """One array over all warps of the field ``name``."""
    parts: list[np.ndarray] = [np.array(getattr(record, name), dtype=dtype) for record in records]
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)


__all__ = ["NO_ROW", "Rows", "ValueStore", "WarpRecords", "joined"]
