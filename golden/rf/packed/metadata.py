"""What the kernel's metadata give of registers (docs/schemes/corf.md, section 6)."""

from __future__ import annotations

from warpfile.spec.schemes.packed import CHUNK, PAIRS, PackedConfig


class Metadata:
    """Of every register its ``partner`` (-1: none) and its ``side`` (``RIGHT``, ``LEFT``, anything else: none).

    Both change at the ``edge``.
    """

    def __init__(self, cfg: PackedConfig) -> None:
        self._registers, self._bits = cfg.register_names, cfg.register_bits
        self._pairs = cfg.allocation == "pairs"
        self._operand = -1
        self.clear()

    def clear(self) -> None:
        """Nothing is known of any register."""
        self.partner = [-1] * self._registers
        self.side = [0] * self._registers

    def tell(self, operand: int) -> None:
        """An operand is there in this cycle."""
        self._operand = operand

    def edge(self) -> bool:
        """Take the operand; returns whether there was one."""
        operand, self._operand = self._operand, -1
        if operand < 0:
            return False
        if self._pairs:
            self._take_pairs(operand)
        else:
            self._take_sides(operand)
        return True

    def _take_pairs(self, operand: int) -> None:
        mask = (1 << self._bits) - 1
        for pair in range(PAIRS):
            low = operand >> 2 * pair * self._bits
            one, other = low & mask, low >> self._bits & mask
            if one != other:
                self.partner[one], self.partner[other] = other, one

    def _take_sides(self, operand: int) -> None:
        first = (operand >> 2 * CHUNK) * CHUNK
        for register in range(first, min(first + CHUNK, self._registers)):
            self.side[register] = operand >> 2 * (register - first) & 3
