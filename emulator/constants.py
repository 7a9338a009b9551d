"""Constant banks of a launch.

Bank 0 is the launch bank: block and grid dimensions at 0x0 and 0xc, the bases of the windows of shared and local memory
at 0x18 and 0x20, the initial stack pointer at 0x28, parameters from 0x160 on (docs/sass.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from warpfile.emulator.memory import LOCAL_STACK_TOP, LOCAL_WINDOW, SHARED_WINDOW

PARAMETER_BASE = 0x160
SHARED_WINDOW_BASE = 0x18
LOCAL_WINDOW_BASE = 0x20
STACK_POINTER = 0x28
BANK_STRIDE = 0x1_0000  #: trace address of a constant: bank number times this, plus the offset; no bank is larger


class ConstantBanks:
    """Contents of the banks. Reading what the listing does not show is a :class:`ValueError` that says so."""

    def __init__(self, banks: Mapping[int, bytes]) -> None:
        self.banks = dict(banks)

    def read(self, bank: int, offset: int, size: int) -> int:
        """Little-endian value; nvdisasm prints offsets above 0x7fff as negative numbers."""
        data = self.bank(bank)
        offset = offset + BANK_STRIDE if offset < 0 else offset
        if not 0 <= offset <= len(data) - size:
            raise ValueError(f"c[{bank:#x}][{offset:#x}] must lie in the {len(data)} bytes that the launch defines")
        return int.from_bytes(data[offset : offset + size], "little")

    def bank(self, bank: int) -> bytes:
        """All bytes of a bank."""
        if bank not in self.banks:
            wanted = "the listing must show it (plain nvdisasm does, nvdisasm -c does not)"
            raise ValueError(f"constant bank {bank:#x} is not known; {wanted}")
        return self.banks[bank]


@dataclass(frozen=True)
class Constant:
    """Contents of a part of constant bank 3."""

    offset: int
    data: bytes


def with_contents(bank: bytes, constants: Iterable[Constant]) -> bytes:
    """A bank with other contents in some places."""
    data = bytearray(bank)
    for one in constants:
        end = one.offset + len(one.data)
        data.extend(bytes(max(0, end - len(data))))
        data[one.offset : end] = one.data
    return bytes(data)


def launch_bank(grid: tuple[int, int, int], block: tuple[int, int, int], parameters: bytes) -> bytes:
    """Bank 0."""
    data = bytearray(PARAMETER_BASE)
    for index, value in enumerate((*block, *grid)):
        data[4 * index : 4 * index + 4] = value.to_bytes(4, "little")
    data[SHARED_WINDOW_BASE : SHARED_WINDOW_BASE + 8] = SHARED_WINDOW.to_bytes(8, "little")
    data[LOCAL_WINDOW_BASE : LOCAL_WINDOW_BASE + 8] = LOCAL_WINDOW.to_bytes(8, "little")
    data[STACK_POINTER : STACK_POINTER + 4] = LOCAL_STACK_TOP.to_bytes(4, "little")
    return bytes(data) + parameters
