"""The text in a ``.tracez`` file. ``docs/trace.md`` has the layout and its source."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard

from warpfile.compiler.accelsim.errors import AccelsimError

_LONGEST_HEADER = 1 << 20  #: bytes
_LARGEST_DICTIONARY = 1 << 24
_LARGEST_PIECE = 1 << 28  #: unpacked
_COUNTS = struct.Struct("<2I")
_CTA = struct.Struct("<11I")
_WARP = struct.Struct("<2IQ")
_PLACE = struct.Struct("<Q")
_COUNT = struct.Struct("<I")


@dataclass(frozen=True)
class _Warp:
    instructions: int
    pieces: int
    place: int


def text_lines(path: Path, stream: BinaryIO) -> Iterator[str]:
    """Lines as a ``.traceg`` file has them, each with its newline. Raises :class:`AccelsimError` for a damaged file."""
    return _Reader(path, stream).lines()


class _Reader:
    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.path, self.stream = path, stream
        self.size = path.stat().st_size

    def lines(self) -> Iterator[str]:
        header = self._header()
        dictionary, _ = self._numbers(_COUNTS, "the size of its dictionary")
        if dictionary > _LARGEST_DICTIONARY:
            raise self._damaged(f"a dictionary must have at most {_LARGEST_DICTIONARY:,} bytes, not {dictionary:,}")
        unpacker = self._unpacker(self._bytes(dictionary, "its dictionary"))
        yield from (f"{line}\n" for line in header)
        place = self._index()
        self.stream.seek(place)
        (ctas,) = self._numbers(_COUNT, "its index")
        place += _COUNT.size
        for _ in range(ctas):
            self.stream.seek(place)
            numbers, warps = self._cta()
            place = self.stream.tell()
            yield from _opening(numbers)
            for number, warp in enumerate(warps):
                yield f"warp = {number}\n"
                yield f"insts = {warp.instructions}\n"
                yield from self._instructions(warp, unpacker)
            yield "#END_TB\n"

    def _header(self) -> list[str]:
        text, end, _ = self.stream.read(_LONGEST_HEADER).partition(b"\0")
        if not end:
            raise self._damaged("its header must end in a zero byte")
        self.stream.seek(len(text) + 1)
        return text.decode("utf-8", errors="replace").splitlines()

    def _unpacker(self, dictionary: bytes) -> zstandard.ZstdDecompressor:
        try:
            known = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
            return zstandard.ZstdDecompressor(dict_data=known)
        except zstandard.ZstdError as error:
            raise self._damaged(f"its dictionary cannot be read: {error}") from None

    def _index(self) -> int:
        """Where the index starts, from the last bytes of the file."""
        here = self.stream.tell()
        end = self.size - _PLACE.size
        if end < here:
            raise self._damaged("it ends before its index")
        self.stream.seek(end)
        (place,) = self._numbers(_PLACE, "the place of its index")
        if not here <= place <= end - _COUNT.size:
            raise self._damaged(f"its last eight bytes must be the place of its index, not {place:,}")
        return int(place)

    def _cta(self) -> tuple[tuple[int, ...], list[_Warp]]:
        """One entry of the index: x, y, z, seven numbers of clusters, and the warps."""
        *numbers, count = self._numbers(_CTA, "its index")
        warps = []
        for _ in range(count):
            warp = _Warp(*self._numbers(_WARP, "its index"))
            self.stream.seek(warp.pieces * _COUNT.size, 1)
            warps.append(warp)
        return tuple(numbers), warps

    def _instructions(self, warp: _Warp, unpacker: zstandard.ZstdDecompressor) -> Iterator[str]:
        """Lines of a warp, piece by piece."""
        self.stream.seek(min(warp.place, self.size))
        if self._numbers(_COUNTS, "a warp") != (warp.instructions, warp.pieces):
            raise self._damaged("the index must have the counts that a warp has at its place")
        for _ in range(warp.pieces):
            (length,) = self._numbers(_COUNT, "a piece")
            for line in self._unpacked(self._bytes(length, "a piece"), unpacker).split("\n"):
                yield f"{line}\n"

    def _unpacked(self, packed: bytes, unpacker: zstandard.ZstdDecompressor) -> str:
        try:
            size = zstandard.frame_content_size(packed)
            if not 0 <= size <= _LARGEST_PIECE:
                raise self._damaged(f"a piece must say its size, at most {_LARGEST_PIECE:,} bytes, and says {size:,}")
            return unpacker.decompress(packed).decode("utf-8", errors="replace")
        except zstandard.ZstdError as error:
            raise self._damaged(f"a piece cannot be unpacked: {error}") from None

    def _numbers(self, layout: struct.Struct, what: str) -> tuple[int, ...]:
        return layout.unpack(self._bytes(layout.size, what))

    def _bytes(self, count: int, what: str) -> bytes:
        if count > self.size:
            raise self._damaged(f"{what} ends behind the file")
        found = self.stream.read(count)
        if len(found) < count:
            raise self._damaged(f"{what} ends behind the file")
        return found

    def _damaged(self, problem: str) -> AccelsimError:
        return AccelsimError(self.path, 0, f"must be a whole .tracez file ({problem})")


def _opening(numbers: tuple[int, ...]) -> Iterator[str]:
    """What stands in front of the warps of a CTA."""
    yield "#BEGIN_TB\n"
    for name, first in (("thread block", 0), ("cluster id", 3), ("cluster cta", 6)):
        yield f"{name} = {','.join(map(str, numbers[first : first + 3]))}\n"
    yield f"cluster rank = {numbers[9]}\n"
