"""Which registers are in scalar banks (docs/schemes/scalar.md, section 3)."""

from __future__ import annotations


class ScalarRegisters:
    """``bits``: by warp slot, a mask of the registers that are scalar; ``count``: of all warps. Both change at the
    ``edge`` only; the other methods note what happens in a cycle.
    """

    def __init__(self, warps: int) -> None:
        self.bits = [0] * warps
        self.count = 0
        self._changes: list[tuple[int, int, bool]] = []
        self._launched = -1

    def scalar(self, warp: int, register: int) -> bool:
        """Whether a register is in its scalar bank."""
        return bool(self.bits[warp] >> register & 1)

    def next(self, warp: int, register: int) -> bool:
        """Whether it is there from the next cycle on, as far as results have been accepted."""
        for changed, other, scalar in self._changes:
            if changed == warp and other == register:
                return scalar
        return self.scalar(warp, register)

    def becomes(self, warp: int, register: int, scalar: bool) -> None:
        """All lanes of a register are written, to its scalar bank or to the other one."""
        self._changes.append((warp, register, scalar))

    def launched(self, warp: int) -> None:
        """No register of the warp is scalar."""
        self._launched = warp

    def edge(self) -> None:
        """The state as the next cycle sees it."""
        for warp, register, scalar in self._changes:
            if self.scalar(warp, register) != scalar:
                self.bits[warp] ^= 1 << register
                self.count += 1 if scalar else -1
        self._changes.clear()
        if self._launched >= 0:
            self.count -= self.bits[self._launched].bit_count()
            self.bits[self._launched] = 0
            self._launched = -1
