"""Lane masks: 32-bit integers outside of NumPy, boolean or index arrays inside."""

from __future__ import annotations

import numpy as np

LANES = 32
ALL = 0xFFFFFFFF
_CACHE_LIMIT = 1 << 16
_bools: dict[int, np.ndarray] = {}
_indices: dict[int, np.ndarray] = {}


def lanes_of(mask: int) -> np.ndarray:
    """Boolean array of a mask; cached, read-only."""
    found = _bools.get(mask)
    if found is None:
        if len(_bools) > _CACHE_LIMIT:
            _bools.clear()
        bits = np.frombuffer((mask & ALL).to_bytes(4, "little"), dtype=np.uint8)
        found = np.unpackbits(bits, bitorder="little").astype(bool)
        found.flags.writeable = False
        _bools[mask] = found
    return found


def indices_of(mask: int) -> np.ndarray:
    """Numbers of the set lanes, ascending; cached, read-only."""
    found = _indices.get(mask)
    if found is None:
        if len(_indices) > _CACHE_LIMIT:
            _indices.clear()
        found = np.flatnonzero(lanes_of(mask))
        found.flags.writeable = False
        _indices[mask] = found
    return found


def mask_of(lanes: np.ndarray) -> int:
    """Mask of a boolean array."""
    return int.from_bytes(np.packbits(lanes, bitorder="little").tobytes(), "little")


def lowest_lane(mask: int) -> int:
    """Number of the lowest set lane."""
    return (mask & -mask).bit_length() - 1
