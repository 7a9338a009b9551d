"""Declared once of ``scalar``: the field, probes, counters, storage (docs/schemes/scalar.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from warpfile.spec.config import Config, choice_field
from warpfile.spec.contract import Engine, Gives
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import SCALAR_RAM, WORD_BITS, Ram, Structure

#: Phases of the expansion.
IDLE, READS, WAITS, WRITES = range(4)
EXPANSION = "expansion"


@dataclass(frozen=True, kw_only=True)
class ScalarConfig(Config):
    """A domain with a bank of words beside every bank, for registers that have one word in all live lanes."""

    beat_flags: ClassVar[tuple[str, ...]] = ("full",)
    result_flags: ClassVar[tuple[str, ...]] = ("full",)
    values: ClassVar[bool] = True

    scalar_values: str = choice_field(("uniform", "none"), "results that are kept as one word", "uniform")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.has_scalar_banks and (self.asks.keeps or self.asks.joins != "none"):
            raise ValueError(
                "collectors must store every result by its port and bring one source with an access, because over"
                " scalar registers they would have to know which these are"
            )

    @property
    def has_scalar_banks(self) -> bool:
        """Whether results can be scalar at all."""
        return self.scalar_values != "none"

    @property
    def decides_by_values(self) -> bool:
        """Which results are scalar, if any can be."""
        return self.has_scalar_banks

    @property
    def gives(self) -> Gives:
        """Two banks for every register, and a client of its own for expansions. It sees head beats, and holds none."""
        if not self.has_scalar_banks:
            return Gives(cycles=self.bank_cycles)
        engines = (Engine(EXPANSION, 1, before="results", reads=True),)
        return Gives(cycles=self.bank_cycles, engines=engines, gates=True, twins=True)

    @property
    def rams(self) -> dict[str, Ram]:
        """The banks, and beside each one of words."""
        if not self.has_scalar_banks:
            return super().rams
        return {**super().rams, SCALAR_RAM: Ram(self.rows, WORD_BITS, self.bank_ports, self.banks)}


def scalar_probes(cfg: ScalarConfig) -> tuple[Probe, ...]:
    """Observation of results by their kind, of the banks that serve sources, and of the expansion."""
    if not cfg.has_scalar_banks:
        return ()
    ports, banks = cfg.write_ports, cfg.banks
    return (
        Probe("scalar_result", ports, "results to be stored that have one word in all live lanes"),
        Probe("needs_expansion", ports, "results of some lanes that are held, because their register is scalar"),
        Probe("scalar_write", ports, "results stored in a scalar bank"),
        Probe("vector_write", ports, "results with a register that are stored in another bank"),
        Probe("expansion", 2, "phase of the expansion: 0 idle, 1 reads, 2 waits, 3 writes"),
        Probe("expansion_read", 1, "the expansion is granted its read"),
        Probe("expansion_write", 1, "the expansion is granted its write"),
        Probe("scalar_read", banks, "scalar banks that serve a source"),
        Probe("vector_read", banks, "other banks that serve a source"),
        Probe("scalar_registers", (cfg.warps * cfg.register_names).bit_length(), "registers that are scalar"),
    )


def scalar_events(fields: Fields) -> Mapping[str, int]:
    """Counters of accesses by kind, and of expansions (docs/schemes/scalar.md, section 9)."""
    if "expansion" not in fields:
        return {}
    registers = fields["scalar_registers"]
    sums = {
        "scalar_reads": fields["scalar_read"].sum(),
        "vector_reads": fields["vector_read"].sum(),
        "scalar_writes": fields["scalar_write"].sum(),
        "vector_writes": fields["vector_write"].sum(),
        "expansions": fields["expansion_write"].sum(),
        "expansion_wait_cycles": fields["needs_expansion"].sum(),
        "scalar_register_cycles": (registers * (1 << np.arange(registers.shape[1]))).sum(),
    }
    return {name: int(value) for name, value in sums.items()}


_FILE = r"warpfile\.register_file\."

#: Storage beside the reference design, one issue slot. Names of registers in the RTL: see the regular expressions.
STRUCTURES = (
    Structure("scalar banks", "memory", SCALAR_RAM),
    Structure("ports and arbiters of the scalar banks", "flip-flops", r"scalar_bank\."),
    Structure("registers that are scalar", "flip-flops", r"warp_scalars\."),
    Structure("counts of them, for observation", "flip-flops", _FILE + r"observed\."),
    Structure("expansion", "flip-flops", _FILE + r"expander\."),
)
