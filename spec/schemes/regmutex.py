"""Declared once of ``regmutex``: parameters, descriptor, probes, counters (docs/schemes/regmutex.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from warpfile.spec.config import Config, choice_field, index_bits, number_field
from warpfile.spec.contract import Gives
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import Structure

_NOTHING: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class RegMutexConfig(Config):
    """A domain whose warps borrow the registers behind their base sets from a pool, or from what two of them share."""

    sharing: str = choice_field(("pool", "pairs"), "who shares sections: all warps, or each two neighbours", "pool")
    fair: int = number_field(0, 1, "only the warp that waits longest may take a section", 0)
    pair_state: str = choice_field(
        ("warp", "pair"), "bits of paired mode: one per warp, or one per pair, which wants proven code", "warp"
    )
    es_rule: str = choice_field(
        ("min_pass", "max_pass", "off"),
        "extended set: the smallest or largest with sections for more than half of the warps, or none",
        "min_pass",
    )
    es_override: int = number_field(0, 63, "registers of the extended set, 0: by es_rule", 0)
    auto_off: int = number_field(0, 1, "no extended set where it does not make more warps resident", 0)
    merge_gap: int = number_field(0, 63, "two stretches with a section become one if fewer instructions part them", 0)
    hoist: int = number_field(0, 1, "take and give a section back outside of innermost loops", 0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.must_have({"bank_skew": ("none", "base sets are counted through, so that skew would let warps collide")})
        self.must_be_power("banks", "without a section a register is at a place modulo their number")
        if self.sharing == "pairs" and self.fair:
            raise ValueError("fair must be 0, not 1, if sharing is pairs: only the partner waits")
        if self.sharing == "pool" and self.pair_state != "warp":
            raise ValueError(f"pair_state must be warp, not {self.pair_state}, if sharing is pool")

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values without skew."""
        return super().adapted(values | {"bank_skew": "none"})

    @property
    def gives(self) -> Gives:
        """It takes the kernel, holds and refuses head beats, and registers without a section have no place."""
        return Gives(cycles=self.bank_cycles, kernel=True, gates=True, absent=True)

    @property
    def operand_bits(self) -> int:
        """1: ACQ, 0: REL."""
        return 1

    @property
    def descriptor(self) -> tuple[tuple[str, int], ...]:
        """Sizes of both sets, first place behind the base sets, number of sections."""
        # A kernel that names every register may be given more, since they are allocated in units.
        count_bits = index_bits(self.allocated(self.register_names) + 1)
        return (
            *super().descriptor,
            ("base_registers", count_bits),
            ("extended_registers", count_bits),
            ("pool", index_bits(self.banks * self.rows + 1)),
            ("sections", index_bits(self.warps + 1)),
        )

    @property
    def paired(self) -> bool:
        """Whether each two warps share a section."""
        return self.sharing == "pairs"

    def places_per_warp(self, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Places of a base set. Raises ``ValueError`` for a descriptor that is not one of such a kernel."""
        base = descriptor.get("base_registers", self.allocated(registers))
        extended = descriptor.get("extended_registers", 0)
        if base + extended < registers:
            raise ValueError(
                f"base and extended registers must be at least {registers} together, not {base}, {extended}"
            )
        if extended and not self.paired:
            self._check_pool(base, extended, descriptor)
        return max(1, base)

    def _check_pool(self, base: int, extended: int, descriptor: Mapping[str, int]) -> None:
        pool, sections = (descriptor.get(name, 0) for name in ("pool", "sections"))
        places = self.banks * self.rows
        if not base or not 1 <= sections <= self.warps or pool % base or pool + sections * extended > places:
            raise ValueError(
                f"the pool must have 1 to {self.warps} sections of {extended} registers behind base sets of {base} in"
                f" {places} places, not {sections} from place {pool} on"
            )

    def resident_warps(self, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Warps for which there are base sets, in paired mode with their section."""
        base = self.places_per_warp(registers, descriptor)
        extended = descriptor.get("extended_registers", 0)
        if not extended:
            return super().resident_warps(registers, descriptor)
        if self.paired:
            return min(self.warps, 2 * (self.banks * self.rows // (2 * base + extended)))
        return min(self.warps, descriptor["pool"] // base)

    def base_place(self, slot: int, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """First place of a base set; in paired mode the section of a pair stands behind its second one."""
        extended = descriptor.get("extended_registers", 0) if self.paired else 0
        return super().base_place(slot, registers, descriptor) + slot // 2 * extended


def regmutex_probes(cfg: RegMutexConfig) -> tuple[Probe, ...]:
    """Observation of sections, which warps have them and which wait for them."""
    warps, ports, slots = cfg.warps, cfg.write_ports, cfg.source_slots
    return (
        Probe("acquired", warps, "warps that have a section; pairs whose section is held with one bit per pair"),
        Probe("section_waiting", warps, "warps whose ACQ was refused"),
        Probe("pool_taken", warps, "sections in use or not existing; none in paired mode"),
        Probe("sections_held", warps * cfg.warp_bits, "section of each warp, zero without one"),
        Probe("stray", 1, "an access or an operand was wrong"),
        Probe("section_draining", warps, "warps whose REL waits for pending registers"),
        Probe("acquire_ok", 1, "an ACQ issues that takes a section"),
        Probe("acquire_again", 1, "an ACQ issues that has no effect"),
        Probe("acquire_refused", warps, "the warp whose ACQ is refused"),
        Probe("release_ok", 1, "a REL issues that gives a section back"),
        Probe("release_again", 1, "a REL issues that has no effect"),
        Probe("extended_source", slots, "sources of the issuing beat in the extended set, if it executes"),
        Probe("base_source", slots, "sources of the issuing beat in the base set, if it executes"),
        Probe("extended_write", ports, "results stored in the extended set"),
        Probe("base_write", ports, "results stored in the base set"),
    )


def regmutex_events(fields: Fields) -> dict[str, int]:
    """Counters of the pool (docs/schemes/regmutex.md, section 9)."""
    ok, again, failed = (int(fields[name].sum()) for name in ("acquire_ok", "acquire_again", "acquire_refused"))
    return {
        "acq_ok": ok,
        "acq_nop": again,
        "acq_fail": failed,
        "acq_try": ok + again + failed,
        "rel_ok": int(fields["release_ok"].sum()),
        "rel_nop": int(fields["release_again"].sum()),
        "acq_wait_cycles": int(fields["section_waiting"].sum()),
        "sections_in_use": int(fields["acquired"].sum()),
        "rel_drain_stall": int(fields["section_draining"].sum()),
        "extended_accesses": int(fields["extended_source"].sum() + fields["extended_write"].sum()),
        "base_accesses": int(fields["base_source"].sum() + fields["base_write"].sum()),
        "stray_cycles": int(fields["stray"].sum()),
    }


_FILE = r"warpfile\.register_file\."

#: Storage beside the reference design, one issue slot. Names of registers in the RTL: see the regular expressions.
STRUCTURES = (
    Structure(
        "status mask",
        "flip-flops",
        _FILE + r"sections\.held",
        lambda cfg: 0 if cfg.pair_state == "pair" else cfg.warps,
    ),
    Structure(
        "pair mask",
        "flip-flops",
        _FILE + r"sections\.pairs",
        lambda cfg: (cfg.warps + 1) // 2 if cfg.pair_state == "pair" else 0,
    ),
    Structure("pool mask", "flip-flops", _FILE + r"sections\.taken", lambda cfg: 0 if cfg.paired else cfg.warps),
    Structure(
        "section table",
        "flip-flops",
        _FILE + r"sections\.section",
        lambda cfg: 0 if cfg.paired else cfg.warps * cfg.warp_bits,
    ),
    Structure("waiting warps", "flip-flops", _FILE + r"sections\.waiting", lambda cfg: cfg.warps),
    Structure(
        "waiters in order",
        "flip-flops",
        _FILE + r"sections\.waiters\.entry",
        lambda cfg: cfg.warps * cfg.warp_bits if cfg.fair else 0,
    ),
    Structure("how many wait", "flip-flops", _FILE + r"sections\.waiters\.count"),
    Structure(
        "extended bases of the warps",
        "flip-flops",
        _FILE + r"location\.extended",
        None,
        "section number times section size, multiplied once at the ACQ and not at every access",
    ),
    Structure(
        "kernel's sets",
        "flip-flops",
        _FILE + r"kernel_state\.(base_registers|extended_registers|pool)",
        lambda cfg: 30,
        "wider names; the mode is built in, the number of sections is in the pool mask",
    ),
    Structure(
        "mask of the extended set",
        "flip-flops",
        _FILE + r"kernel_state\.extended",
        None,
        "made once at the start of a kernel, because it decides which warps may issue",
    ),
    Structure("resident warps, first kernel taken", "flip-flops", _FILE + r"kernel_state\."),
    Structure("error flag, expected operand", "flip-flops", _FILE + r"(stray|acquires)"),
)
