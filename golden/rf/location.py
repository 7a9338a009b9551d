"""Where a register lives (docs/machine.md, section 5, "Location")."""

from __future__ import annotations

from typing import Protocol

from mypy_extensions import mypyc_attr

from warpfile.spec.config import Config


@mypyc_attr(allow_interpreted_subclasses=True)
class Located(Protocol):
    """Where registers live: a function of warp, register and a little state, known at any time."""

    def launched(self, warp: int, base: int) -> None:
        """The warp in this slot has its register 0 at place ``base``."""

    def place(self, warp: int, register: int) -> tuple[int, int]:
        """Bank and row of a register of the warp in slot ``warp``; see ``golden.rf.contract.Place``."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Location(Located):
    """Base and offset: a warp's registers are consecutive places, and places are counted along the rows."""

    def __init__(self, cfg: Config) -> None:
        self._banks = cfg.banks
        self._places = cfg.banks * cfg.rows
        self._base = [0] * cfg.warps
        self._by_warp = cfg.bank_skew == "warp"
        self._by_row = cfg.bank_skew == "row"

    def launched(self, warp: int, base: int) -> None:
        """The warp in this slot has its register 0 at place ``base``."""
        self._base[warp] = base

    def place(self, warp: int, register: int) -> tuple[int, int]:
        """Bank and row of a register of the warp in slot ``warp``."""
        place = self._base[warp] + register
        assert place < self._places, f"place {place} of warp {warp}, R{register} is beyond the banks"
        row = place // self._banks
        if self._by_warp:
            return (place + warp) % self._banks, row
        return (place + row if self._by_row else place) % self._banks, row
