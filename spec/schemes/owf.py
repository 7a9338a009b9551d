"""Declared once of ``owf``: parameters, descriptor, home slots, probes, counters (docs/schemes/owf.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from warpfile.spec.config import Config, index_bits, number_field
from warpfile.spec.contract import Gives
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import Structure

_NOTHING: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class OwfConfig(Config):
    """A domain in which two CTAs share a part of their registers; a warp owns what it shares with its partner."""

    private_percent: int = number_field(1, 100, "of a warp's registers, the share that is private", 10)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.must_have({"bank_skew": ("none", "partners share places, which skew would part")})
        self.must_be_power("banks", "a shared register is at a place modulo their number")

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values without skew."""
        return super().adapted(values | {"bank_skew": "none"})

    @property
    def gives(self) -> Gives:
        """It takes the kernel, holds head beats, and tells a scheduler that asks who is an owner."""
        return Gives(cycles=self.bank_cycles, kernel=True, gates=True, ranks=self.scheduler == "owners_first")

    @property
    def descriptor(self) -> tuple[tuple[str, int], ...]:
        """Private and shared registers of a warp, warps of a CTA, slots whose warps have partners."""
        # A kernel that names every register may be given more, since they are allocated in units.
        registers = index_bits(self.allocated(self.register_names) + 1)
        warps = index_bits(self.warps + 1)
        return (
            *super().descriptor,
            ("private_registers", registers),
            ("shared_registers", registers),
            ("cta_warps", warps),
            ("paired_warps", warps),
        )

    def _sets(self, registers: int, descriptor: Mapping[str, int]) -> tuple[int, int, int, int]:
        """P, S, m, n (docs/schemes/owf.md, section 2). Raises ``ValueError`` for a descriptor that is not one."""
        allocated = max(1, self.allocated(registers))
        private = descriptor.get("private_registers", allocated)
        shared = descriptor.get("shared_registers", 0)
        members, paired = descriptor.get("cta_warps", 1), descriptor.get("paired_warps", 0)
        if private < 1 or private + shared != allocated:
            raise ValueError(
                f"private and shared registers must be {allocated} together, 1 of them private, not {private}, {shared}"
            )
        if members < 1 or paired % (2 * members):
            raise ValueError(f"paired_warps must be a multiple of twice cta_warps, {members}, not {paired}")
        places = self.banks * self.rows
        if paired > self.warps or paired // 2 * (2 * private + shared) > places:
            raise ValueError(f"paired_warps must fit {self.warps} warps and {places} places, not {paired}")
        return private, shared, members, paired

    def places_per_warp(self, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Places of a warp without a partner. Raises ``ValueError`` for a descriptor that is not one of the kernel."""
        private, shared, _, _ = self._sets(registers, descriptor)
        return private + shared

    def resident_warps(self, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Warp slots for which there are places, with pairs whole CTAs of them."""
        private, shared, members, paired = self._sets(registers, descriptor)
        left = self.banks * self.rows - paired // 2 * (2 * private + shared)
        slots = min(self.warps, paired + left // (private + shared))
        return slots // members * members if paired else slots

    def base_place(self, slot: int, registers: int, descriptor: Mapping[str, int] = _NOTHING) -> int:
        """Place of the warp's register 0: partners have both private sets, and what they share behind them."""
        private, shared, _, paired = self._sets(registers, descriptor)
        two = 2 * private + shared
        if slot < paired:
            return slot // 2 * two + slot % 2 * private
        return paired // 2 * two + (slot - paired) * (private + shared)

    def home_slots(self, cta: int, descriptor: Mapping[str, int] = _NOTHING) -> tuple[int, ...]:
        """Warp slots of a CTA slot's warps; without pairs none, so that its warps take the lowest free ones."""
        members, paired = descriptor.get("cta_warps", 1), descriptor.get("paired_warps", 0)
        if not paired:
            return super().home_slots(cta, descriptor)
        first = cta * members
        if first < paired:
            return tuple(cta // 2 * 2 * members + 2 * number + cta % 2 for number in range(members))
        return tuple(range(first, first + members))


def owner_probes(cfg: Config) -> tuple[Probe, ...]:
    """Observation of the owners and of the warps that wait for one to end."""
    warps, ports, slots = cfg.warps, cfg.write_ports, cfg.source_slots
    return (
        Probe("owns", warps, "warps that own what they share with their partner"),
        Probe("owner_waiting", warps, "warps whose head beat waits because the partner's CTA has an owner"),
        Probe("paired", warps, "resident warps with a partner slot"),
        Probe("stray", 1, "two partners were owners at a time"),
        Probe("owner_taken", 1, "the issuing beat makes its warp an owner"),
        Probe("shared_source", slots, "shared registers among the sources of the issuing beat, if it executes"),
        Probe("private_source", slots, "private registers among them"),
        Probe("shared_write", ports, "results stored in a shared register"),
        Probe("private_write", ports, "results stored in a private register"),
    )


def owner_events(fields: Fields) -> dict[str, int]:
    """Counters of owners and accesses (docs/schemes/owf.md, section 9)."""
    sums = {
        "owners_taken": fields["owner_taken"].sum(),
        "owner_cycles": fields["owns"].sum(),
        "owner_wait_cycles": fields["owner_waiting"].sum(),
        "paired_cycles": fields["paired"].sum(),
        "shared_accesses": fields["shared_source"].sum() + fields["shared_write"].sum(),
        "private_accesses": fields["private_source"].sum() + fields["private_write"].sum(),
        "stray_cycles": fields["stray"].sum(),
    }
    return {name: int(value) for name, value in sums.items()}


_FILE = r"warpfile\.register_file\."

#: Storage beside the reference design, one issue slot. Names of registers in the RTL: see the regular expressions.
STRUCTURES = (
    Structure("owners", "flip-flops", _FILE + r"ownership\.owner"),
    Structure("paired warps", "flip-flops", _FILE + r"ownership\.paired"),
    Structure("CTA slots of the warps", "flip-flops", _FILE + r"ownership\.cta"),
    Structure("shared bases of the warps", "flip-flops", _FILE + r"location\.shared"),
    Structure("kernel's sets", "flip-flops", _FILE + r"kernel_state\.(private_registers|paired_warps)"),
    Structure("resident warps, first kernel taken", "flip-flops", _FILE + r"kernel_state\."),
    Structure("error flag", "flip-flops", _FILE + r"ownership\.stray"),
)
