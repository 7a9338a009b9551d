"""What every register file behind a renaming table has in common (docs/schemes/corf.md, docs/schemes/larf.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from warpfile.spec.config import Config
from warpfile.spec.probe import Probe
from warpfile.spec.structure import RENAMING_RAM, Ram, Structure

_NOTHING: Mapping[str, int] = MappingProxyType({})
_NEEDED = {"bank_ports": "1RW", "bank_cycles": 1, "bank_skew": "warp", "collect": "lowest"}
_CYCLES = {1: "a cycle", 2: "two cycles"}
_WITH_REGISTER = ("alu", "fma", "double", "tensor", "sfu", "shared", "hit", "miss", "texture")


@dataclass(frozen=True, kw_only=True)
class RenamedConfig(Config):
    """A domain whose registers are where a table says, and whose results are shown ``lead`` cycles early."""

    lead: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        lead, early = self.lead, f"results are shown {_CYCLES[self.lead]} early"
        self.must_have(
            {
                "bank_ports": ("1RW", "a bank behind a table has one port"),
                "bank_cycles": (1, "a bank behind a table takes one cycle"),
                "bank_skew": ("warp", "the table has as many memories as there are banks, and takes them in turn"),
                "collect": ("lowest", "a unit has one input"),
            }
        )
        self.must_be_power("banks", "memory and row of the renaming table are bits of warp and register")
        for name in _WITH_REGISTER:
            if (latency := getattr(self, f"{name}_latency")) <= lead:
                raise ValueError(f"{name}_latency must be at least {lead + 1}, not {latency}: {early}")
        hit, texture = self.hit_latency, self.texture_latency
        if self.sees_misses and self.notice_latency > min(hit, texture) - lead:
            raise ValueError(
                f"notice_latency must be at most hit_latency, {hit}, and texture_latency, {texture}, less {lead},"
                f" not {self.notice_latency}: {early}"
            )

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values with one port per bank, accesses of a cycle, skew by warp, one request per unit.

        Results take at least one cycle more than ``lead``.
        """
        names = (f"{name}_latency" for name in _WITH_REGISTER)
        late = {name: cls.lead + 1 for name in names if values.get(name) in range(cls.lead + 1)}
        return super().adapted(values | _NEEDED | late)

    @property
    def one_bank(self) -> bool:
        """Whether all registers of a warp are in one bank."""
        return False

    @property
    def table_rows(self) -> int:
        """Entries of one memory of the table."""
        return max(2, self.warps * max(1, self.register_names // self.banks))

    @property
    def mapping_bits(self) -> int:
        """An entry of the table: bank, row, and whether it is mapped."""
        return self.bank_bits + self.row_bits + 1

    @property
    def rams(self) -> dict[str, Ram]:
        """The banks, and the memories of the table."""
        return {**super().rams, RENAMING_RAM: Ram(self.table_rows, self.mapping_bits, "2RW", self.banks)}

    def resident_warps(self, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Warps with which there are no more registers than rows, in every bank."""
        return min(self.warps, self.banks * (self.rows // self.places_per_warp(registers, descriptor)))


def sweep_probes(cfg: RenamedConfig) -> tuple[Probe, ...]:
    """Registered state of the sweep (docs/schemes/corf.md, section 7)."""
    return (
        Probe("swept", cfg.warps, "warps that wait for their sweep or are swept"),
        Probe("sweep_register", cfg.register_bits, "register that the sweep reads next, zero without"),
        Probe("sweep_held", 1, "the sweep holds a mapping that it has read"),
    )


def sweep_events() -> tuple[Probe, ...]:
    """What the sweep does in a cycle."""
    return (
        Probe("sweep_read", 1, "the sweep reads an entry"),
        Probe("sweep_free", 1, "the sweep frees the mapping that it holds"),
    )


SWEPT = "swept_registers"  #: counter of ``sweep_free``
MAPPED_BITS = Structure("mapped bits", "flip-flops", r"mapped_bits\.")
