"""Machine code of a cubin: what ``nvdisasm -hex`` would show beside the text of a listing."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

_TEXT = ".text."
_SECTIONS_AT = 0x28  #: in the file's header: where the section headers are
_MACHINE = 0x12  #: what runs the file
_CUDA = 190
_ABI = 8  #: version of the conventions
_FLAGS = 0x30  #: in their lowest byte the architecture, since version 8 of the conventions in the next one
_SHIFTED_SINCE = 8
_SECTIONS = 0x3A  #: size and number of section headers, and which of them has the names


class _Section(NamedTuple):
    """Header of a section of a 64-bit ELF file."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


def architecture(data: bytes) -> int:
    """75 for code for sm_75. Raises ``ValueError`` for what is no cubin."""
    _check(data)
    if len(data) < _FLAGS + 4 or struct.unpack_from("<H", data, _MACHINE) != (_CUDA,):
        raise ValueError("must be a cubin, an ELF file for a GPU")
    (flags,) = struct.unpack_from("<I", data, _FLAGS)
    return (flags >> 8 if data[_ABI] >= _SHIFTED_SINCE else flags) & 0xFF


def is_cubin(data: bytes) -> bool:
    """Whether it is an ELF file for a GPU, whole or not."""
    return data.startswith(b"\x7fELF") and data[_MACHINE : _MACHINE + 2] == _CUDA.to_bytes(2, "little")


def _check(data: bytes) -> None:
    if not data.startswith(b"\x7fELF\x02\x01"):
        raise ValueError("must be a cubin, a little-endian 64-bit ELF file")


def machine_code(data: bytes) -> Mapping[str, bytes]:
    """Code of every function by its name, 16 bytes an instruction. Raises ``ValueError`` for what is no cubin."""
    _check(data)
    try:
        (start,) = struct.unpack_from("<Q", data, _SECTIONS_AT)
        size, count, names = struct.unpack_from("<HHH", data, _SECTIONS)
        sections = [_Section(*struct.unpack_from("<IIQQQQIIQQ", data, start + size * n)) for n in range(count)]
        named = {_name(data, sections[names].offset + one.name): one for one in sections}
    except (struct.error, ValueError, IndexError, OverflowError):
        raise ValueError("must be a whole cubin; its section headers are damaged") from None
    code = {name.removeprefix(_TEXT): one for name, one in named.items() if name.startswith(_TEXT)}
    return {name: data[one.offset : one.offset + one.size] for name, one in code.items()}


def _name(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("ascii", errors="replace")
