"""Declared once of ``pilot``: parameters, descriptor, probes, counters (docs/schemes/pilot.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import MappingProxyType

import numpy as np

from warpfile.spec.config import Config, choice_field, index_bits, number_field
from warpfile.spec.contract import Engine, Gives
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import Structure

COUNT_BITS = 16  #: of a counter of accesses; it stops at its largest value
#: Counters of moves.
MOVES = ("migrated_pairs", "migrate_stall", "moves_fast_high", "moves_fast_low", "moves_slow")
_NOTHING: Mapping[str, int] = MappingProxyType({})


class State(IntEnum):
    """What the file is doing about the kernel."""

    IDLE = 0
    LOAD = 1
    PROFILE = 2
    SORT = 3
    REMAP = 4
    RUN = 5
    DRAIN = 6
    MOVE = 7


@dataclass(frozen=True, kw_only=True)
class PilotConfig(Config):
    """A domain whose banks have a fast part for the registers that are used most, and a slow one for the others."""

    fast_registers: int = number_field(1, 8, "registers of every warp that have their home in the fast part", 4)
    slow_cycles: int = number_field(1, 8, "as bank_cycles, which is that of the fast part, in the slow part", 3)
    low_cycles: int = number_field(1, 8, "as bank_cycles, in the fast part in low mode", 2)
    epoch: int = number_field(1, 1024, "cycles after which the mode of the fast part is decided anew", 50)
    # The paper's 85 beats of an SM in 50 cycles, divided among the four schedulers that issue them.
    epoch_threshold: int = number_field(0, 1024, "beats issued in an epoch from which on the next one is high", 21)
    profile: str = choice_field(
        ("none", "compiler", "oracle", "pilot", "hybrid"),
        "what selects the registers that are used most: none, code, trace, a pilot warp, or code and then pilot",
        "hybrid",
    )
    pilot_map: str = choice_field(
        ("checked", "always"),
        "when the pilot's map is taken: only if the pilot accessed every register of the kernel's list, or always",
        "checked",
    )
    weight: str = choice_field(
        ("code", "loop10"),
        "what an occurrence in the code counts: one, or ten times more for every loop around it",
        "code",
    )
    remap: str = choice_field(
        ("versioned", "migrate", "instant"),
        "what resident warps do when the pilot's map comes: keep theirs, move their registers, or that at no cost",
        "versioned",
    )
    rename_latency: int = number_field(0, 1, "cycles by which sources are renamed later than their beat issues", 0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.must_have({"bank_skew": ("none", "a place alone says whether it is in the fast part")})
        if self.fast_rows >= self.rows:
            raise ValueError(
                f"fast_registers must leave slow rows: {self.fast_registers} of {self.warps} warps take"
                f" {self.fast_rows} rows of every bank, which has {self.rows}"
            )
        if self.remap != "versioned":
            self._check_remap()

    def _check_remap(self) -> None:
        only = f"remap must be versioned, not {self.remap}"
        if not self.piloted:
            raise ValueError(f"{only}: with profile {self.profile} there is no other map")
        if self.asks.keeps or not self.asks.sources:
            raise ValueError(f"{only}: the collectors keep results, or take places in any cycle")
        if self.remap == "instant" and self.collect == "lowest":
            raise ValueError("collect must be one or all, not lowest, if registers move in an instant")

    def must_be_hardware(self) -> None:
        """What moves in an instant does not exist in RTL."""
        super().must_be_hardware()
        if self.remap == "instant":
            raise ValueError("remap must be versioned or migrate for RTL, not instant: only the golden model has it")

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values without skew."""
        return super().adapted(values | {"bank_skew": "none"})

    @property
    def gives(self) -> Gives:
        """Accesses of three lengths; it takes the kernel and waits with launches."""
        moves = (Engine("moves", 1, "last", reads=True),) if self.migrates else ()
        cycles = max(self.bank_cycles, self.low_cycles, self.slow_cycles)
        return Gives(later=bool(self.rename_latency), cycles=cycles, kernel=True, engines=moves)

    @property
    def migrates(self) -> bool:
        """Whether the file moves registers of resident warps."""
        return self.remap == "migrate"

    @property
    def sees_sources(self) -> bool:
        """Whether every source is renamed once, at the issue or in the look-up of its unit."""
        return self.asks.sources or bool(self.rename_latency)

    @property
    def listed(self) -> bool:
        """Whether the kernel comes with a list of its hot registers."""
        return self.profile in ("compiler", "oracle", "hybrid")

    @property
    def piloted(self) -> bool:
        """Whether a warp is profiled."""
        return self.profile in ("pilot", "hybrid")

    @property
    def checks_map(self) -> bool:
        """Whether the pilot's map is checked against the kernel's list, which may then be kept."""
        return self.listed and self.piloted and self.pilot_map == "checked"

    @property
    def descriptor(self) -> tuple[tuple[str, int], ...]:
        """The hot registers, most used first; the marker where there are fewer."""
        names = range(self.fast_registers if self.listed else 0)
        return (*super().descriptor, *((f"hot{k}", self.register_bits) for k in names))

    @property
    def marker(self) -> int:
        """The register name that stands for none."""
        return self.register_names - 1

    @property
    def fast_rows(self) -> int:
        """Rows of every bank that are fast."""
        return -(-self.warps * self.fast_registers // self.banks)

    def places_per_warp(self, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Slow places of a warp. Raises ``ValueError`` for a hot list that is not one of such a kernel."""
        hot = [descriptor[name] for name, _ in self.descriptor if name in descriptor]
        used = [register for register in hot if register != self.marker]
        if len(set(used)) < len(used) or any(register >= registers for register in used):
            raise ValueError(
                f"hot registers must be distinct and below {registers}, the kernel's registers,"
                f" not {', '.join(f'R{register}' for register in used)}"
            )
        return max(1, self.allocated(registers) - self.fast_registers)

    def resident_warps(self, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Warps for which there are slow places; all have fast ones."""
        slow = (self.rows - self.fast_rows) * self.banks // self.places_per_warp(registers, descriptor)
        return min(self.warps, slow) if self.allocated(registers) > self.fast_registers else self.warps


def pilot_probes(cfg: PilotConfig) -> tuple[Probe, ...]:
    """Observation of tables, pilot, sorter and epochs."""
    slots, ports, name, count = cfg.source_slots, cfg.write_ports, cfg.register_bits, cfg.fast_registers
    sources = (
        Probe("source_lookup", slots, "sources of the issuing beat, if it executes"),
        Probe("source_hit", slots, "sources of the issuing beat that the warp's table has"),
        Probe("source_home", slots * name, "homes of these sources, in the order of source_hit, zero for others"),
    )
    return (
        Probe("pilot_state", 3, "IDLE, LOAD, PROFILE, SORT, REMAP, RUN"),
        Probe("profiling", 1, "the state is PROFILE: the pilot's accesses are counted"),
        Probe("pilot_warp", cfg.warp_bits, "slot of the latest pilot"),
        Probe("versions", cfg.warps, "warps with the pilot's map"),
        Probe("current_version", 1, "version bit of a warp that is launched now"),
        Probe("swap_table", 2 * 2 * count * (1 + 2 * name), "entries of both tables: valid, register, home"),
        Probe("counted", (slots + 4).bit_length(), "accesses of the pilot that are counted in this cycle"),
        Probe("scanned", COUNT_BITS, "count that goes to the sorter"),
        Probe("sorted", count * (1 + name + COUNT_BITS), "slots of the sorter: valid, register, count"),
        Probe("high_mode", 1, "the fast part is in high mode"),
        Probe("epoch_end", 1, "last cycle of an epoch"),
        Probe("epoch_cycle", index_bits(cfg.epoch), "cycles since the epoch began"),
        Probe("epoch_issued", index_bits(cfg.epoch + 1), "beats issued since the epoch began"),
        *(sources if cfg.sees_sources else ()),
        Probe("result_lookup", ports, "results that a bank takes"),
        Probe("result_hit", ports, "results taken by a bank that the warp's table has"),
        Probe("fast_grant", cfg.asks.units * cfg.asks.slots, "slots that the fast part of their bank serves"),
        Probe("fast_write", ports, "results that the fast part of a bank takes"),
        Probe("slow_write", ports, "results that the slow part of a bank takes"),
        Probe(
            "bank_busy",
            cfg.asks.units * cfg.asks.slots,
            "source slots that request a bank which an earlier access occupies",
        ),
        *((Probe("list_kept", 1, "SORT ends, and the kernel's list is kept"),) if cfg.checks_map else ()),
        *(_move_probes(cfg) if cfg.migrates else ()),
    )


def awaited_bits(cfg: PilotConfig) -> int:
    """Width of the number of registers to be written: each is pending once at most."""
    return (cfg.warps * cfg.register_names).bit_length()


def _move_probes(cfg: PilotConfig) -> tuple[Probe, ...]:
    return (
        Probe("move_warp", cfg.warp_bits, "slot whose registers move"),
        Probe("move_pair", cfg.fast_registers.bit_length(), "pair of the table that changes places"),
        Probe("move_access", 2, "fast read, slow read, slow write, fast write"),
        Probe("move_grant", 1, "the access of the move is served"),
        Probe("awaited", awaited_bits(cfg), "registers that issued beats have yet to write"),
    )


def pilot_events(fields: Fields) -> dict[str, int]:
    """Counters of the partitioned file (docs/schemes/pilot.md, section 9)."""
    high = fields["high_mode"][:, 0]
    reads, writes = fields["fast_grant"].sum(axis=1), fields["fast_write"].sum(axis=1)
    ends, new, launches = fields["epoch_end"][:, 0], fields["current_version"][:, 0], fields["launch"][:, 0]
    counted = fields["counted"]
    return {
        "fast_reads_high": int(reads[high].sum()),
        "fast_reads_low": int(reads[~high].sum()),
        "fast_writes_high": int(writes[high].sum()),
        "fast_writes_low": int(writes[~high].sum()),
        "slow_reads": int(fields["grant"].sum() - reads.sum()),
        "slow_writes": int(fields["slow_write"].sum()),
        "table_lookups": sum(int(fields[name].sum()) for name in ("source_lookup", "result_lookup") if name in fields),
        "table_hits": sum(int(fields[name].sum()) for name in ("source_hit", "result_hit") if name in fields),
        "epochs_high": int((ends & high).sum()),
        "epochs_low": int((ends & ~high).sum()),
        "pilot_cycles": int(fields["profiling"].sum()),
        "pilot_accesses": sum(int(counted[:, bit].sum()) << bit for bit in range(counted.shape[1])),
        "warps_old_map": int((launches & ~new).sum()),
        "warps_new_map": int((launches & new).sum()),
        "low_mode_cycles": int((~high).sum()),
        "bank_busy_stall": int(fields["bank_busy"].sum()),
        "lists_kept": int(fields["list_kept"].sum()) if "list_kept" in fields else 0,
        **_move_events(fields, high),
    }


def _move_events(fields: Fields, high: np.ndarray) -> dict[str, int]:
    if "move_grant" not in fields:
        return dict.fromkeys(MOVES, 0)
    first, second, third = fields["pilot_state"].T
    grant, write, slow = fields["move_grant"][:, 0], fields["move_access"][:, 1], fields["move_access"].sum(axis=1) == 1
    return {
        "migrated_pairs": int((grant & write & ~slow).sum()),
        "migrate_stall": int((third & (second | ~first)).sum()),
        "moves_fast_high": int((grant & ~slow & high).sum()),
        "moves_fast_low": int((grant & ~slow & ~high).sum()),
        "moves_slow": int((grant & slow).sum()),
    }


_FILE = r"warpfile\.register_file\."


def _table_bits(cfg: PilotConfig) -> int:
    return 2 * cfg.fast_registers * (1 + 2 * cfg.register_bits)


def _versions(cfg: PilotConfig) -> bool:
    """Whether warps have one of two maps."""
    return cfg.piloted and not cfg.migrates


#: Storage beside the reference design, one issue slot.
STRUCTURES = (
    Structure("swapping table", "cam", _FILE + r"location\.table0\.", _table_bits),
    Structure(
        "swapping table, second version",
        "cam",
        _FILE + r"location\.table1\.",
        lambda cfg: _versions(cfg) * _table_bits(cfg),
    ),
    Structure(
        "versions of the warps", "flip-flops", _FILE + r"location\.version", lambda cfg: _versions(cfg) * cfg.warps
    ),
    Structure("migrate staging", "flip-flops", r"staging_lane\.", lambda cfg: cfg.migrates * 2 * 32 * cfg.lanes),
    Structure(
        "where MOVE is",
        "flip-flops",
        _FILE + r"location\.mover\.",
        lambda cfg: cfg.migrates * 12,
        "slots of the domain; the pair behind the last one too",
    ),
    Structure(
        "results awaited",
        "flip-flops",
        _FILE + r"awaited_results\.",
        None,
        "the reference design does not say how it drains",
    ),
    Structure(
        "access counters", "flip-flops", _FILE + r"counters\.count", lambda cfg: (cfg.register_names - 1) * COUNT_BITS
    ),
    Structure(
        "beat to be counted", "flip-flops", _FILE + r"counters\.", None, "the adders work a cycle after the issue"
    ),
    Structure(
        "pilot", "flip-flops", _FILE + r"kernel_state\.pilot", lambda cfg: 9, "slots of the domain; state is the mask"
    ),
    Structure(
        "top-n sorter",
        "flip-flops",
        _FILE + r"(sorter\.|kernel_state\.(state|step))",
        lambda cfg: cfg.fast_registers * (1 + COUNT_BITS + cfg.register_bits) + cfg.register_bits + 3,
    ),
    Structure(
        "list kept", "flip-flops", _FILE + r"kernel_state\.missed", None, "the paper always takes the pilot's map"
    ),
    Structure(
        "hot list", "flip-flops", _FILE + r"kernel_state\.hot", lambda cfg: cfg.fast_registers * cfg.register_bits
    ),
    Structure(
        "epoch unit", "flip-flops", _FILE + r"epoch_unit\.", lambda cfg: 16, "one issue per cycle: fewer beats to count"
    ),
    Structure(
        "kernel's registers, resident warps, current version",
        "flip-flops",
        _FILE + r"kernel_state\.",
        lambda cfg: 1,
        "the reference design has the version only; the others mark the end of a scan and of a kernel",
    ),
)
