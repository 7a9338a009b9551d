"""Writing results: what a builder needs to turn an instruction into a closure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpfile.compiler.model import File
from warpfile.emulator.lanes import ALL, lanes_of
from warpfile.emulator.source import Fetch, SourceReader
from warpfile.emulator.warp import Run, Warp

Write = Callable[[Warp, int, np.ndarray], None]
WriteBits = Callable[[Warp, int, int], None]


class Decoder(SourceReader):
    """One instruction to be compiled to a closure: reads its sources, writes its destinations."""

    def result(self, compute: Fetch) -> Run:
        """Write ``compute``'s ``uint32`` values to the destination."""
        write = self.writer()
        if write is None:
            return _nothing
        if self.dest is not None and self.dest.file is File.UNIFORM:
            return lambda warp, mask: write(warp, mask, compute(warp))
        row = self.dest.number  # type: ignore[union-attr]

        def run(warp: Warp, mask: int) -> None:
            if mask == ALL:
                warp.registers[row] = compute(warp)
            else:
                np.copyto(warp.registers[row], compute(warp), where=lanes_of(mask))

        return run

    def result64(self, compute: Fetch) -> Run:
        """Write ``compute``'s 64-bit values (integer or double) to the destination pair."""
        if self.dest is None or self.dest.is_zero:
            return _nothing
        row, uniform = self.dest.number, self.dest.file is File.UNIFORM

        def run(warp: Warp, mask: int) -> None:
            halves = np.ascontiguousarray(compute(warp)).view(np.uint32).reshape(-1, 2).T
            if uniform:
                warp.uniforms[row : row + 2] = halves[:, :1]
            else:
                np.copyto(warp.registers[row : row + 2], halves, where=lanes_of(mask))

        return run

    def writer(self) -> Write | None:
        """Closure that writes the destination's masked lanes; None for RZ, URZ or no destination."""
        if self.dest is None or self.dest.is_zero:
            return None
        row = self.dest.number
        if self.dest.file is File.UNIFORM:

            def write_uniform(warp: Warp, mask: int, value: np.ndarray) -> None:
                warp.uniforms[row] = value[:1]

            return write_uniform

        def write(warp: Warp, mask: int, value: np.ndarray) -> None:
            np.copyto(warp.registers[row], value, where=lanes_of(mask))

        return write

    def predicate_writer(self, position: int) -> WriteBits | None:
        """Closure that writes a predicate destination's masked lanes; None for PT or none."""
        self.written_predicates.add(position)
        if position >= len(self.predicate_dests) or self.predicate_dests[position].is_true:
            return None
        number = self.predicate_dests[position].number
        if self.predicate_dests[position].uniform:

            def write_uniform(warp: Warp, mask: int, bits: int) -> None:
                warp.uniform_predicates[number] = ALL if bits & 1 else 0

            return write_uniform

        def write(warp: Warp, mask: int, bits: int) -> None:
            warp.predicates[number] = warp.predicates[number] & ~mask | bits & mask

        return write


def _nothing(warp: Warp, mask: int) -> None:
    return None
