"""Declared once of ``sticky``: fields, probes, counters, storage (docs/schemes/sticky.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from warpfile.spec.config import Config, choice_field
from warpfile.spec.contract import Asks, Gives
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.schemes.units import STRUCTURES as UNIT_STRUCTURES
from warpfile.spec.schemes.units import stage_events, stage_probes
from warpfile.spec.structure import Structure
from warpfile.spec.trace import Port

NEAR_SLOTS = 3  #: at most; source slots that wait for results and keep operands
_FAST = (Port.ALU, Port.FMA)
_SLOW = (Port.SFU, Port.LSU)


@dataclass(frozen=True, kw_only=True)
class StickyConfig(Config):
    """A domain whose units take results that are under way, and keep operands in their slots."""

    beat_flags: ClassVar[tuple[str, ...]] = ("full",)

    forward_results: str = choice_field(
        ("fixed", "none"), "results that source slots wait for: of fixed latency, none", "fixed"
    )
    keep_operands: str = choice_field(
        ("slot", "none"), "operands that a source slot keeps after the dispatch: its own, none", "slot"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self._takes_places():
            raise ValueError(
                "the register file must be banked or scalar, because a beat may issue while its source is pending"
            )
        if not self.forwards:
            return
        if not any(self.forwarding_ports):
            raise ValueError(
                f"ports must be at least 3, not {self.ports}, with forward_results=fixed: no port has results of fixed"
                " latency alone"
            )
        if self.pending_entries:
            raise ValueError(
                f"pending_entries must be 0, not {self.pending_entries}, with forward_results=fixed: a register that is"
                " coming needs a pending bit by name"
            )

    def _takes_places(self) -> bool:
        """Whether the file is a plain one, or one with twins, which knows where a late source is."""
        gives = self.gives
        plain = replace(gives, twins=False, gates=False, engines=()) if gives.twins else gives
        return plain == Gives(cycles=gives.cycles)

    @property
    def near_slots(self) -> int:
        """Source slots that wait for results and keep operands: the lowest ones."""
        return min(NEAR_SLOTS, self.source_slots)

    @property
    def forwards(self) -> bool:
        """Whether slots wait for results."""
        return self.forward_results != "none"

    @property
    def keeps_operands(self) -> bool:
        """Whether slots keep operands."""
        return self.keep_operands != "none"

    @property
    def forwarding_ports(self) -> tuple[bool, ...]:
        """By execution port, whether its results are waited for (docs/schemes/sticky.md, section 4)."""
        fast, slow = ({self.port_of[unit] for unit in units} for units in (_FAST, _SLOW))
        returns = self.write_port_of
        return tuple(port in fast and port not in slow and returns[port] == 0 for port in range(self.ports))

    @property
    def asks(self) -> Asks:
        """The frame lets beats issue whose near sources are coming."""
        return replace(super().asks, forwards=self.near_slots if self.forwards else 0)


def sticky_probes(cfg: StickyConfig) -> tuple[Probe, ...]:
    """Observation of the units, and of what their near slots keep and wait for."""
    near, slots = cfg.near_slots, cfg.collectors * cfg.near_slots
    probes = [*stage_probes(cfg), Probe("taken", cfg.source_slots, "sources of the beat that takes a unit")]
    if cfg.keeps_operands:
        probes += [
            Probe("kept", slots, "near slots that keep a register, bit unit * near slots + slot"),
            Probe("kept_name", slots * cfg.register_bits, "which one; zero where none is kept"),
            Probe("kept_warp", slots * cfg.warp_bits, "of which warp; zero where none is kept"),
            Probe("hit", near, "sources of the beat that takes a unit that are kept in their slot"),
            Probe("overwritten", slots, "kept slots whose register the issuing beat writes"),
        ]
    if cfg.forwards:
        probes += [
            Probe("coming", cfg.warps, "warps with a register that is coming"),
            Probe("awaiting", slots, "near slots that wait for a result"),
            Probe("expects", near, "sources of the beat that takes a unit that will wait for a result"),
            Probe("late", near, "sources of the beat that takes a unit whose result is accepted in this cycle"),
            Probe("forward", slots, "near slots that take a result"),
            Probe("marks", cfg.ports, "execution ports whose beat leaves and makes its destinations coming"),
        ]
    return tuple(probes)


#: Counters that are the sum of a probe.
SUMS = {
    "sources": "taken",
    "source_hits": "hit",
    "overwrites": "overwritten",
    "source_awaits": "expects",
    "source_lates": "late",
    "forwards": "forward",
    "await_cycles": "awaiting",
}


def sticky_events(fields: Fields) -> Mapping[str, int]:
    """Counters of the units, and of sources by what serves them (docs/schemes/sticky.md, section 7)."""
    sums = {counter: int(fields[probe].sum()) if probe in fields else 0 for counter, probe in SUMS.items()}
    hits = int(fields["hit"].any(axis=1).sum()) if "hit" in fields else 0
    return stage_events(fields) | sums | {"hit_beats": hits}


_COLLECTORS = r"warpfile\.collectors\."

#: Storage of the units with what they keep, and of the registers that are coming.
STRUCTURES = (
    Structure("operand buffers", "flip-flops", r"sticky_lane\.", UNIT_STRUCTURES[0].published),
    Structure("collector units", "flip-flops", r"sticky_unit\."),
    Structure("tags of near slots", "flip-flops", r"kept_slot\."),
    Structure("registers that are coming", "flip-flops", r"coming_bits\."),
    Structure("order of all units", "flip-flops", _COLLECTORS + r"ages\."),
)
