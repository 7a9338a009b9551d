"""Generic addresses: which memory they mean.

The launch bank holds the bases of two windows, c[0x0][0x18] for shared and c[0x0][0x20] for local memory; compiled code
adds them to make a generic address. Everything outside of the windows is global memory.
"""

from __future__ import annotations

import numpy as np

from warpfile.emulator.errors import MemoryFault
from warpfile.emulator.memory import LOCAL_BYTES, LOCAL_WINDOW, SHARED_WINDOW, WINDOW_BYTES, Region
from warpfile.emulator.warp import Warp

Part = tuple[Region, np.ndarray, np.ndarray | slice]


def space_of(addresses: np.ndarray) -> np.ndarray:
    """``S``, ``L`` or ``G`` for every generic address."""
    local = (addresses >= np.uint64(LOCAL_WINDOW)) & (addresses < np.uint64(LOCAL_WINDOW + WINDOW_BYTES))
    shared = (addresses >= np.uint64(SHARED_WINDOW)) & (addresses < np.uint64(SHARED_WINDOW + WINDOW_BYTES))
    return np.where(shared, "S", np.where(local, "L", "G"))


def global_parts(warp: Warp, addresses: np.ndarray, lanes: np.ndarray, size: int) -> list[Part]:
    """Region, offsets and positions for addresses that must be global."""
    return warp.global_memory.parts(addresses, size)


def shared_parts(warp: Warp, addresses: np.ndarray, lanes: np.ndarray, size: int) -> list[Part]:
    """The same for offsets into shared memory."""
    return [(warp.shared, warp.shared.check(addresses, size), slice(None))]


def local_parts(warp: Warp, addresses: np.ndarray, lanes: np.ndarray, size: int) -> list[Part]:
    """The same for offsets into the lanes' own local memory."""
    if int(addresses.max()) + size > LOCAL_BYTES:
        position = int(np.argmax(addresses))
        reason = f"is outside of local memory ({LOCAL_BYTES} bytes per thread)"
        raise MemoryFault(int(addresses[position]), position, reason)
    flat = addresses + lanes.astype(np.uint64) * np.uint64(LOCAL_BYTES)
    return [(warp.local, warp.local.check(flat, size), slice(None))]


def generic_parts(warp: Warp, addresses: np.ndarray, lanes: np.ndarray, size: int) -> list[Part]:
    """The same for generic addresses; those of one instruction may mean different memories."""
    in_window = (addresses >= np.uint64(LOCAL_WINDOW)) & (addresses < np.uint64(SHARED_WINDOW + WINDOW_BYTES))
    if not in_window.any():
        return global_parts(warp, addresses, lanes, size)
    shared = in_window & (addresses >= np.uint64(SHARED_WINDOW))
    result: list[Part] = []
    for chosen, base, parts in (
        (~in_window, 0, global_parts),
        (shared, SHARED_WINDOW, shared_parts),
        (in_window & ~shared, LOCAL_WINDOW, local_parts),
    ):
        positions = np.flatnonzero(chosen)
        if len(positions) == 0:
            continue
        try:
            found = parts(warp, addresses[positions] - np.uint64(base), lanes[positions], size)
        except MemoryFault as fault:
            raise MemoryFault(fault.address, int(positions[fault.position]), fault.reason) from None
        result += [(region, offsets, positions[inner]) for region, offsets, inner in found]
    return result
