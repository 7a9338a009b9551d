"""Declared once of ``ported``: banks whose reads are planned ahead by the reader (docs/schemes/modern.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from warpfile.spec.config import Config, number_field
from warpfile.spec.structure import BANK_RAM, Ram

_NOTHING: Mapping[str, int] = MappingProxyType({})
BANKS = 2


@dataclass(frozen=True, kw_only=True)
class PortedConfig(Config):
    """Two banks by the parity of a register's number, each with a write port and some read ports."""

    read_ports: int = number_field(1, 3, "read ports of a bank", 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.must_have(
            {
                "banks": (BANKS, "a register's bank is the parity of its number"),
                "bank_ports": ("1R1W", "writes take no read port"),
                "bank_cycles": (1, "reads are planned for single cycles"),
                "bank_skew": ("none", "a register's bank is the parity of its number"),
                "collect": ("all", "every port has a path of its own to its reader"),
            }
        )

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values with two banks of the same capacity, a write port each, and no skew."""
        capacity = values["banks"] * values["rows"]  # type: ignore[operator]
        needed = {"banks": BANKS, "rows": max(2, capacity // BANKS), "bank_ports": "1R1W", "bank_cycles": 1}
        return super().adapted(values | needed | {"bank_skew": "none", "collect": "all"})

    @property
    def rams(self) -> dict[str, Ram]:
        """The banks with their read ports."""
        return {**super().rams, BANK_RAM: Ram(self.rows, self.data_bits, f"{self.read_ports}R1W", self.banks)}

    def places_per_warp(self, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Whole rows, so that register 0 of every warp is in bank 0."""
        return -(-super().places_per_warp(registers, descriptor) // BANKS) * BANKS
