"""Constant banks of a launch.

Bank 0 is the launch bank: block and grid dimensions, the initial stack pointer and the parameters where the generation
has them (:mod:`compiler.architectures`), the bases of the windows of shared and local memory at 0x18 and 0x20.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from warpfile.compiler.architectures import Generation, generation
from warpfile.emulator.memory import LOCAL_STACK_TOP, LOCAL_WINDOW, SHARED_WINDOW

SHARED_WINDOW_BASE = 0x18
LOCAL_WINDOW_BASE = 0x20
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


def launch_bank(
    grid: tuple[int, int, int], block: tuple[int, int, int], parameters: bytes, places: Generation | None = None
) -> bytes:
    """Bank 0, for the target unless told otherwise."""
    places = places or generation(None)
    data = bytearray(places.parameters)
    words = [(places.block, block), (places.grid, grid), (places.stack, (LOCAL_STACK_TOP,))]
    for start, values in words:
        for place, value in enumerate(values):
            data[start + 4 * place : start + 4 * place + 4] = value.to_bytes(4, "little")
    data[SHARED_WINDOW_BASE : SHARED_WINDOW_BASE + 8] = SHARED_WINDOW.to_bytes(8, "little")
    data[LOCAL_WINDOW_BASE : LOCAL_WINDOW_BASE + 8] = LOCAL_WINDOW.to_bytes(8, "little")
    return bytes(data) + parameters
