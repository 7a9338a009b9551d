"""Where a register lives (docs/machine.md, section 5, "Location")."""

from __future__ import annotations

from spec.config import Config


class Location:
    """Base and offset: a warp's rows are consecutive, its registers go round the banks."""

    def __init__(self, cfg: Config) -> None:
        self._banks = cfg.banks
        self._rows = cfg.rows
        self._base = [0] * cfg.warps
        self._by_warp = cfg.bank_skew == "warp"
        self._by_row = cfg.bank_skew == "row"

    def launched(self, warp: int, base_row: int) -> None:
        """The warp in this slot starts at ``base_row`` of every bank."""
        self._base[warp] = base_row

    def place(self, warp: int, register: int) -> tuple[int, int]:
        """Bank and row of a register of the warp in slot ``warp``."""
        banks = self._banks
        row = self._base[warp] + register // banks
        assert row < self._rows, f"row {row} of warp {warp}, R{register} is beyond the bank"
        if self._by_warp:
            return (register + warp) % banks, row
        return (register + row if self._by_row else register) % banks, row
