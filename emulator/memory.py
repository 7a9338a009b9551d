"""Memories of a launch: byte-addressed regions with bounds and alignment checks.

Global memory is a set of buffers at disjoint address ranges with guard gaps between them, so that an access past the
end of a buffer never falls into another one. The addresses are as wide as those of a driver, and as odd: a base that is
round would make narrow values of half of every pointer. Shared and local memory are one region each.
"""

from __future__ import annotations

import random
from bisect import bisect_right

import numpy as np

from warpfile.emulator.errors import MemoryFault

GLOBAL_BASE = 0x7F3A_4C20_0000  #: like those that drivers give on a 64-bit host, with both words wide
GLOBAL_ALIGN = 0x100
GUARD_BYTES = 0x1000
GAP_BYTES = 0x10_0000  #: the longest gap
LOCAL_WINDOW = 0x7D00_0000_0000  #: generic addresses of local memory
SHARED_WINDOW = 0x7E00_0000_0000  #: generic addresses of shared memory
WINDOW_BYTES = 0x100_0000
LOCAL_BYTES = 0x1_0000  #: per thread
LOCAL_STACK_TOP = LOCAL_BYTES - 0x240  #: initial R1

_PAD = 16
_VIEWS = {"U8": np.uint8, "S8": np.int8, "U16": np.uint16, "S16": np.int16}


class Region:
    """Contiguous bytes from ``base`` on, seen as words of every access size."""

    def __init__(self, name: str, base: int, contents: bytes | int) -> None:
        self.name = name
        self.base = base
        self.size = contents if isinstance(contents, int) else len(contents)
        self.end = base + self.size
        self.bytes: np.ndarray = np.zeros(self.size + -self.size % _PAD, dtype=np.uint8)
        if not isinstance(contents, int):
            self.bytes[: self.size] = np.frombuffer(contents, dtype=np.uint8)
        self.views: dict[str, np.ndarray] = {mark: self.bytes.view(dtype) for mark, dtype in _VIEWS.items()}
        self.words = self.bytes.view(np.uint32)
        self.groups: dict[int, np.ndarray] = {count: self.words.reshape(-1, count) for count in (2, 4)}

    def load(self, offsets: np.ndarray, mark: str, count: int) -> np.ndarray:
        """``uint32[k]`` for one register, ``uint32[k, count]`` for more; narrow values are extended."""
        if mark:
            view = self.views[mark]
            found: np.ndarray = view[offsets >> (view.itemsize >> 1)].astype(np.int32).view(np.uint32)
        elif count == 1:
            found = self.words[offsets >> 2]
        else:
            found = self.groups[count][offsets >> (count + 4 >> 1)]
        return found

    def store(self, offsets: np.ndarray, values: np.ndarray, mark: str, count: int) -> None:
        """Counterpart of :meth:`load`; of equal addresses the lowest lane wins."""
        offsets, values = offsets[::-1], values[::-1]
        if mark:
            view = self.views[mark]
            view[offsets >> (view.itemsize >> 1)] = values.astype(view.dtype)
        elif count == 1:
            self.words[offsets >> 2] = values
        else:
            self.groups[count][offsets >> (count + 4 >> 1)] = values

    def check(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """Offsets into the region of addresses that must all lie in it."""
        low, high = int(addresses.min()), int(addresses.max())
        if low < self.base or high + size > self.end:
            raise self.fault(addresses, size)
        offsets = (addresses - np.uint64(self.base)).astype(np.int64) if self.base else addresses.astype(np.int64)
        if size > 1 and int(np.bitwise_or.reduce(offsets)) & size - 1:
            raise misaligned(addresses, size)
        return offsets

    def fault(self, addresses: np.ndarray, size: int) -> MemoryFault:
        """The fault of the first address that is outside."""
        for position, address in enumerate(addresses.tolist()):
            if not (self.base <= address and address + size <= self.end):
                return MemoryFault(address, position, f"is outside of {self.name} ({self.size} bytes)")
        raise AssertionError("no address is outside")


class MeasuredRegion(Region):
    """A region that remembers how far accesses went: ``touched`` is the end of the highest one."""

    touched = 0

    def check(self, addresses: np.ndarray, size: int) -> np.ndarray:
        """Offsets, as of :meth:`Region.check`."""
        offsets = super().check(addresses, size)
        self.touched = max(self.touched, int(offsets.max()) + size)
        return offsets


def misaligned(addresses: np.ndarray, size: int) -> MemoryFault:
    """The fault of the first address that is no multiple of the access size."""
    position, address = next((p, a) for p, a in enumerate(addresses.tolist()) if a % size)
    return MemoryFault(address, position, f"must be a multiple of the access size {size}")


class GlobalMemory:
    """Buffers of a launch, in the order they are added, from the address ``base`` on."""

    def __init__(self, base: int = GLOBAL_BASE) -> None:
        self.regions: list[Region] = []
        self._starts: list[int] = []
        self._next = base
        self._gaps = random.Random(GLOBAL_BASE)

    def add(self, name: str, contents: bytes) -> Region:
        """Place a buffer behind the others and a gap, whose length depends on its number only."""
        region = Region(name, self._next, contents)
        self._next = region.end + -region.end % GLOBAL_ALIGN
        self._next += self._gaps.randrange(GUARD_BYTES, GAP_BYTES, GLOBAL_ALIGN)
        self.regions.append(region)
        self._starts.append(region.base)
        return region

    def find(self, address: int) -> Region | None:
        """The buffer that may hold an address."""
        index = bisect_right(self._starts, address) - 1
        return self.regions[index] if index >= 0 else None

    def parts(self, addresses: np.ndarray, size: int) -> list[tuple[Region, np.ndarray, np.ndarray | slice]]:
        """Split an access by buffer: (region, offsets, positions of those lanes). One part as a rule."""
        low = int(addresses.min())
        region = self.find(low)
        if region is not None and int(addresses.max()) + size <= region.end:
            return [(region, region.check(addresses, size), slice(None))]
        owners = [self._owner(address, position, size) for position, address in enumerate(addresses.tolist())]
        result: list[tuple[Region, np.ndarray, np.ndarray | slice]] = []
        for region in dict.fromkeys(owners):
            positions = np.array([position for position, owner in enumerate(owners) if owner is region])
            result.append((region, region.check(addresses[positions], size), positions))
        return result

    def _owner(self, address: int, position: int, size: int) -> Region:
        region = self.find(address)
        if region is None or address + size > region.end:
            near = f"; nearest buffer below is {region.name} ({region.size} bytes)" if region else ""
            raise MemoryFault(address, position, f"is outside of every buffer{near}")
        return region
