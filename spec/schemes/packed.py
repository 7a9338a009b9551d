"""Declared once of ``packed``: parameters, probes, counters (docs/schemes/corf.md)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from warpfile.spec.config import choice_field, index_bits, number_field
from warpfile.spec.contract import SLICES, Gives
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.schemes.renamed import MAPPED_BITS, SWEPT, RenamedConfig, sweep_events, sweep_probes
from warpfile.spec.structure import BANK_RAM, RENAMING_RAM, Ram, Structure

PAIRS = 4  #: that one operand tells
CHUNK = 26  #: registers whose sides one operand tells
RIGHT, LEFT = 1, 2  #: sides of a register
IN_PLACE, SHRINK, RESIZE, ALLOCATE = range(1, 5)  #: decisions


@dataclass(frozen=True, kw_only=True)
class PackedConfig(RenamedConfig):
    """A domain whose registers are where a renaming table says, and take as many bytes as their values need."""

    beat_flags: ClassVar[tuple[str, ...]] = ("full", "converged")
    result_flags: ClassVar[tuple[str, ...]] = ("full",)
    values: ClassVar[bool] = True
    lead: ClassVar[int] = 2

    packing: int = number_field(0, 1, "a value takes only the bytes that it needs", 1)
    virtualization: int = number_field(0, 1, "a register that is dead takes none", 0)
    allocation: str = choice_field(
        ("first_fit", "pairs", "sides"),
        "where a value goes: to the first place that fits, to its partner's row, to its side of a row",
        "first_fit",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.packing and (self.allocation != "first_fit" or self.asks.joins != "none"):
            raise ValueError("packing must be 1, not 0, for pairs, sides and two sources with one access")

    @property
    def gives(self) -> Gives:
        """It takes the kernel, and sweeps after every warp."""
        return Gives(
            kernel=True,
            sweeps=True,
            renamed=True,
            slices=bool(self.packing),
            deaths=bool(self.virtualization),
            lead=self.lead,
        )

    @property
    def decides_by_values(self) -> bool:
        """How many bytes a value takes, if it is packed."""
        return bool(self.packing)

    @property
    def operand_bits(self) -> int:
        """Metadata: four pairs of registers, or the sides of 26 and which these are."""
        if self.allocation == "pairs":
            return 2 * PAIRS * self.register_bits
        return 2 * CHUNK + index_bits(self.chunks) if self.allocation == "sides" else 0

    @property
    def chunks(self) -> int:
        """Operands that tell the sides of all registers."""
        return -(-self.register_names // CHUNK)

    @property
    def one_bank(self) -> bool:
        """Whether all registers of a warp are in one bank."""
        return self.allocation == "sides"

    @property
    def rams(self) -> dict[str, Ram]:
        """The same; a bank whose slices have an address each is an array per slice."""
        rams = super().rams
        if self.joins_planes:
            bank = rams[BANK_RAM]
            rams[BANK_RAM] = replace(bank, width=bank.width // SLICES, arrays=SLICES)
        return rams

    @property
    def mapping_bits(self) -> int:
        """Bank, row and mask."""
        return self.bank_bits + self.row_bits + SLICES


def packed_probes(cfg: PackedConfig) -> tuple[Probe, ...]:
    """Observation of table, free slices and what becomes of results."""
    ports, banks = cfg.write_ports, cfg.banks
    rows = index_bits(banks * cfg.rows + 1)
    reserved = (Probe("reserved_rows", rows, "rows that are reserved"),) if cfg.allocation == "pairs" else ()
    partner = (
        (
            Probe("with_partner", ports, "results that move on into the row of their partner"),
            Probe("without_partner", ports, "results with a mapped partner that move on into another row"),
        )
        if cfg.allocation == "pairs"
        else ()
    )
    told = (Probe("told", 1, "metadata are available"),) if cfg.operand_bits else ()
    killed = (Probe("killed", 1, "a dead register loses its slices"),) if cfg.virtualization else ()
    return (
        Probe("reading", ports, "write-back ports whose T is occupied"),
        Probe("deciding", ports, "write-back ports whose W0 is occupied"),
        Probe("storing", ports, "write-back ports whose W1 is occupied"),
        *sweep_probes(cfg),
        Probe("used_rows", rows, "rows that are not wholly free"),
        *reserved,
        Probe("error", 1, "a result found no slices"),
        Probe("size", ports * 3, "bytes of results that leave X, zero for none"),
        Probe(
            "decision",
            ports * 3,
            "decision about each result that leaves W0: 1 in place, 2 shrink, 3 resize, 4 allocate",
        ),
        Probe("target", ports * cfg.mapping_bits, "bank, row and mask of each result that leaves W0"),
        Probe("search", ports, "result that changes its place"),
        Probe(
            "search_wait",
            ports,
            "results that need a change, could move to W1, and wait for another result that changes",
        ),
        Probe("merge", ports, "M0 is served"),
        Probe("stored", ports, "W1 is served"),
        *partner,
        Probe("table_reads", 2 * banks, "entries read in each memory of the table"),
        Probe("table_writes", 2 * banks, "entries written"),
        Probe("table_wait", ports, "results in X whose reads are not served"),
        *killed,
        *sweep_events(),
        *told,
        *_eviction_probes(cfg),
    )


def _eviction_probes(cfg: PackedConfig) -> tuple[Probe, ...]:
    """Registers that the collectors give back, between the table and their bank (section 17)."""
    if not cfg.asks.evicts:
        return ()
    waiting = cfg.write_ports + cfg.asks.units + 1
    return (
        Probe("underway", 3, "T, W0, W1 of port 0 hold an eviction"),
        Probe(
            "underway_wait",
            waiting,
            "results by port, look-ups by window, the next eviction: waiting for an eviction in flight",
        ),
    )


def packed_events(fields: Fields) -> dict[str, int]:
    """Counters of the file (docs/schemes/corf.md, section 11)."""
    sizes, decisions = _codes(fields["size"]), _codes(fields["decision"])
    sums = {f"size_{size}": (sizes == size).sum() for size in range(1, SLICES + 1)}
    for name, code in {"in_place": IN_PLACE, "shrinks": SHRINK, "resizes": RESIZE, "allocations": ALLOCATE}.items():
        sums[name] = (decisions == code).sum()
    counted = {"merges": "merge", "packed_writes": "stored", "search_waits": "search_wait", "table_waits": "table_wait"}
    counted |= {"pair_packed": "with_partner", "pair_failed": "without_partner"}
    counted |= {"kills_done": "killed", "metadata": "told", "error_cycles": "error"}
    sums |= {name: fields[probe].sum() for name, probe in counted.items() if probe in fields}
    for name in ("table_reads", "table_writes"):
        sums[name] = (fields[name] * _weights(fields[name].shape[1], 2)).sum()
    sums[SWEPT] = fields["sweep_free"].sum()
    sums["used_row_cycles"] = (fields["used_rows"] * _weights(fields["used_rows"].shape[1])).sum()
    sums["bank_writes"] = fields["stored"].sum()
    return {name: int(value) for name, value in sums.items()}


def _codes(bits: np.ndarray) -> np.ndarray:
    """Numbers of three bits, by cycle and port."""
    split = bits.reshape(len(bits), -1, 3)
    return np.asarray((split * _weights(3)).sum(axis=2))


def _weights(width: int, field: int = 0) -> np.ndarray:
    """What the bits of a number stand for, or of numbers of ``field`` bits side by side."""
    return 1 << (np.arange(width, dtype=np.int64) % (field or width))


_FILE = r"warpfile\.register_file\."
STRUCTURES = (
    Structure(
        "renaming table",
        "memory",
        RENAMING_RAM,
        lambda cfg: cfg.warps * 63 * cfg.mapping_bits,
        "registers are addressed by the bits of their numbers, RZ among them, and a preset may have 128 names",
    ),
    MAPPED_BITS,
    Structure("free slices", "flip-flops", r"free_bank\.used", lambda cfg: cfg.banks * cfg.rows * SLICES),
    Structure("reserved rows", "flip-flops", r"free_bank\.reserved", lambda cfg: _if_pairs(cfg, cfg.banks * cfg.rows)),
    Structure(
        "pair table",
        "flip-flops",
        rf"{_FILE}metadata\.pa",
        lambda cfg: _if_pairs(cfg, 8 * 64 * 7),
        "one kernel is resident at a time, not eight",
    ),
    Structure(
        "sides",
        "flip-flops",
        rf"{_FILE}metadata\.side",
        lambda cfg: 8 * 64 * 2 if cfg.one_bank else 0,
        "one kernel is resident at a time, not eight",
    ),
    Structure("data of T, W0 and W1", "flip-flops", r"result_lane\."),
    Structure("T, W0 and W1", "flip-flops", rf"result_port\.|{_FILE}banks\.merging"),
    Structure("results without a register", "flip-flops", r"completions\."),
    Structure("answers of the renaming table", "flip-flops", rf"{_FILE}table\."),
    Structure("evictions under way", "flip-flops", rf"{_FILE}evictions\."),
    Structure("sweep", "flip-flops", rf"{_FILE}sweep\."),
    Structure("kernel and residents", "flip-flops", rf"{_FILE}kernel_state\."),
    Structure("error", "flip-flops", rf"{_FILE}error"),
)


def _if_pairs(cfg: PackedConfig, bits: int) -> int:
    return bits if cfg.allocation == "pairs" else 0
