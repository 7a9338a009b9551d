"""Arguments of a launch and their place in the parameter bank."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

POINTER = 8
SCALARS = {"i32": "<i", "u32": "<I", "f32": "<f", "i64": "<q", "u64": "<Q", "f64": "<d"}
SCALARS |= {"i8": "<b", "u8": "<B", "i16": "<h", "u16": "<H"}


@dataclass(frozen=True, eq=False)
class Argument:
    """One kernel argument or a field of one.

    A scalar or a row of them has its bytes in ``data``. A buffer has what it holds before and must hold after. A
    pointer leads ``offset`` bytes into the buffer ``target``. A structure has ``fields``, laid out as in C.
    """

    name: str
    type: str
    data: bytes = b""
    init: np.ndarray | None = None
    expect: np.ndarray | None = None
    rtol: float | None = None
    atol: float | None = None
    target: str = ""
    offset: int = 0
    fields: tuple[Argument, ...] = ()
    align: int = 0  #: 0: that of the type

    @property
    def size(self) -> int:
        """Bytes in the parameter bank."""
        return len(self.bytes(defaultdict(int)))

    @property
    def alignment(self) -> int:
        """What the place in the parameter bank is a multiple of."""
        if self.fields:
            return max(self.align, *(field.alignment for field in self.fields))
        return max(self.align, POINTER if self.type in ("buffer", "pointer") else int(self.type[1:]) // 8)

    def bytes(self, addresses: Mapping[str, int]) -> bytes:
        """What the kernel finds; ``addresses`` are those of the buffers."""
        if self.fields:
            data = parameter_bytes(self.fields, addresses)
            return data + bytes(-len(data) % self.alignment)
        if self.type in ("buffer", "pointer"):
            return (addresses[self.target or self.name] + self.offset).to_bytes(POINTER, "little")
        return self.data

    def leaves(self) -> Iterator[Argument]:
        """The argument itself, or the fields of a structure and of those in it."""
        if not self.fields:
            yield self
        for field in self.fields:
            yield from field.leaves()


def parameter_bytes(arguments: tuple[Argument, ...], addresses: Mapping[str, int]) -> bytes:
    """Arguments or fields one after the other, each aligned."""
    data = bytearray()
    for argument in arguments:
        data.extend(bytes(-len(data) % argument.alignment))
        data.extend(argument.bytes(addresses))
    return bytes(data)


def buffers(arguments: tuple[Argument, ...]) -> list[tuple[Argument, np.ndarray]]:
    """All buffers with their contents, those in structures too."""
    every = (leaf for argument in arguments for leaf in argument.leaves())
    return [(leaf, leaf.init) for leaf in every if leaf.init is not None]
