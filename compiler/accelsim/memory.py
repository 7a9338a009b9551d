"""Addresses of a whole trace: windows of shared and local memory, and how much shared memory a CTA uses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from warpfile.compiler.accelsim.addresses import lanes_of
from warpfile.compiler.accelsim.header import LARGEST_SHARED, Header
from warpfile.compiler.accelsim.repairs import Repairs
from warpfile.compiler.accelsim.streams import Streams
from warpfile.spec.trace import Space, StaticInstruction

WINDOW = 1 << 24  #: bytes of the window through which generic addresses reach shared or local memory
SHARED_WINDOW = 0x7E00_0000_0000  #: where this project's generic addresses of shared memory lie (docs/trace.md)
LOCAL_WINDOW = 0x7D00_0000_0000
_GENERIC = frozenset("LD ST ATOM RED".split())
_GRANULE = 256
_WITHOUT_ADDRESSES = (Space.NONE, Space.CONSTANT, Space.TEXTURE)


def place_addresses(
    addresses: np.ndarray, program: Sequence[StaticInstruction], found: Streams, header: Header, repairs: Repairs
) -> None:
    """Count accesses without addresses, and move those inside a window, in place.

    Shared and local instructions get the offset in their window, generic ones the same offset in this project's.
    """
    memory = np.array([i.space not in _WITHOUT_ADDRESSES for i in program], dtype=bool)
    addressed = found.address_row >= 0
    lost = memory[found.instruction] & ~addressed & (found.execute != 0)
    repairs.add("missing_addresses", int(np.count_nonzero(lost)))
    found.address_row[~memory[found.instruction]] = -1
    generic = np.array([i.opcode.split(".")[0] in _GENERIC for i in program], dtype=bool)
    moved = 0
    for space, start, ours in (
        (Space.SHARED, header.shared_window, SHARED_WINDOW),
        (Space.LOCAL, header.local_window, LOCAL_WINDOW),
    ):
        if start:
            own = np.array([i.space is space for i in program], dtype=bool)
            moved += _move(addresses, _rows(found, own), start, 0)
            moved += _move(addresses, _rows(found, generic), start, ours)
    repairs.add("rebased_addresses", moved)


def _rows(found: Streams, chosen: np.ndarray) -> np.ndarray:
    rows = found.address_row[chosen[found.instruction]]
    return rows[rows >= 0]


def _move(addresses: np.ndarray, rows: np.ndarray, start: int, target: int) -> int:
    """Move addresses in the window at ``start`` to ``target``; returns how many rows had some."""
    table = addresses[rows]
    inside = (table >= np.uint64(start)) & (table - np.uint64(start) < np.uint64(WINDOW))
    addresses[rows] = np.where(inside, table - np.uint64(start) + np.uint64(target), table)
    return int(np.count_nonzero(inside.any(axis=1)))


def shared_bytes(
    addresses: np.ndarray, program: Sequence[StaticInstruction], found: Streams, header: Header, repairs: Repairs
) -> int:
    """Shared memory of a CTA: the header's, unless it is missing or the accesses need more.

    Raises ``ValueError`` where accesses lie beyond what any machine has.
    """
    used = _shared_end(addresses, program, found)
    if used > LARGEST_SHARED:
        raise ValueError(
            f"shared memory must be accessed below {LARGEST_SHARED:#x} or inside the window of the header, not at"
            f" {used - 1:#x}; --header 'shmem base_addr=0x...' gives the window"
        )
    if header.shared_bytes is not None and header.shared_bytes >= used:
        return header.shared_bytes
    rounded = -(-used // _GRANULE) * _GRANULE
    repairs.remark(f"shared memory is {rounded} bytes, from the highest access; the header says {header.shared_bytes}")
    return rounded


def _shared_end(addresses: np.ndarray, program: Sequence[StaticInstruction], found: Streams) -> int:
    """First byte behind all shared accesses."""
    is_shared = np.array([i.space is Space.SHARED for i in program], dtype=bool)
    sizes = np.array([i.bytes for i in program], dtype=np.uint64)
    chosen = is_shared[found.instruction] & (found.address_row >= 0)
    if not chosen.any():
        return 0
    lanes = lanes_of(found.execute[chosen])
    last = addresses[found.address_row[chosen]].max(axis=1, where=lanes, initial=0)
    ends = [int(top) + int(size) for top, size in zip(last, sizes[found.instruction[chosen]], strict=True)]
    return max(ends)
