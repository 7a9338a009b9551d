"""Scheduling hints in the encoding of an instruction: what ``nvdisasm -hex`` and ``cuobjdump -sass`` show as hex words.

Layout of bits 105..125 of the 128, as in CuAssembler's ``CuControlCode.py`` and for Volta in arXiv 1804.06826.
"""

from __future__ import annotations

from dataclasses import dataclass

_FIRST_BIT = 105
_BITS = 21
_NO_BARRIER = 7


@dataclass(frozen=True)
class ControlCode:
    """``stall`` cycles; whether the scheduler ``yields`` to another warp; scoreboards, None where unused.

    ``wait_mask`` has the scoreboards 0..5 to wait for, ``reuse`` the operand slots whose value a cache keeps (for
    textures that field means something else).
    """

    stall: int
    yields: bool
    write_barrier: int | None
    read_barrier: int | None
    wait_mask: int
    reuse: int


def control_bits(encoding: int) -> int:
    """The bits of a 128-bit encoding that hold them."""
    return encoding >> _FIRST_BIT & (1 << _BITS) - 1


def control_code(encoding: int) -> ControlCode:
    """Fields of a 128-bit encoding."""
    return from_bits(control_bits(encoding))


def from_bits(bits: int) -> ControlCode:
    """Fields of what :func:`control_bits` gives."""
    return ControlCode(
        stall=bits & 15,
        yields=not bits >> 4 & 1,
        write_barrier=_barrier(bits >> 5 & 7),
        read_barrier=_barrier(bits >> 8 & 7),
        wait_mask=bits >> 11 & 63,
        reuse=bits >> 17 & 15,
    )


def _barrier(field: int) -> int | None:
    return None if field == _NO_BARRIER else field
