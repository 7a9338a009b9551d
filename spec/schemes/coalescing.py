"""Declared once of ``coalescing``: parameters, hint, probes, counters (docs/schemes/corf.md, sections 9 and 11)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from warpfile.spec.config import Config, choice_field
from warpfile.spec.contract import JOINS, Asks, Hint
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import Structure


@dataclass(frozen=True, kw_only=True)
class CoalescingConfig(Config):
    """Collector units over a register file with a renaming table."""

    beat_flags: ClassVar[tuple[str, ...]] = ("full", "converged")

    coalescing: str = choice_field(
        JOINS, "sources that come with one access: one, two of a row, two of a bank in other slices", "none"
    )

    @property
    def asks(self) -> Asks:
        """Units that have their sources looked up, and may ask for two at once."""
        return dataclasses.replace(super().asks, joins=self.coalescing)

    def hints(self) -> tuple[Hint, ...]:
        """Per source slot, whether its register is dead behind the instruction."""
        meaning = "registers that are dead behind the instruction, which counts if the beat is converged"
        own = (Hint("kill", self.source_slots, False, meaning, "bit s: source slot s"),)
        return (*super().hints(), *(own if self.gives.deaths else ()))


def coalescing_probes(cfg: CoalescingConfig) -> tuple[Probe, ...]:
    """Observation of the units."""
    slots = cfg.collectors * cfg.source_slots
    joined = (
        (Probe("joined", slots, "source slots granted with a lower slot of their unit"),)
        if cfg.coalescing != "none"
        else ()
    )
    deaths = (
        (
            Probe("kills", slots, "source slots whose register is dead and still has its slices"),
            Probe(
                "kill_refused",
                cfg.source_slots,
                "source slots of the allocated beat whose kill is refused: not all live lanes execute it",
            ),
            Probe("unit_drains", cfg.collectors, "units whose beat has left and that still have a dead register"),
        )
        if cfg.gives.deaths
        else ()
    )
    return (
        Probe("occupied", cfg.collectors, "occupied collector units"),
        Probe("lacking", cfg.collectors, "occupied units with a source slot that is not filled"),
        Probe("allocate", cfg.collectors, "collector unit that takes the issuing beat, one-hot"),
        Probe("request", slots, "source slots that ask their bank, bit unit * source_slots + slot"),
        Probe("grant", slots, "source slots whose bank serves them"),
        Probe("look_up", slots, "source slots that the renaming table serves"),
        Probe("look_up_wait", slots, "source slots that request the renaming table and are not served"),
        Probe("zero", slots, "source slots whose register is unmapped"),
        *joined,
        *deaths,
    )


def coalescing_events(fields: Fields) -> dict[str, int]:
    """Counters of the units' own probes."""
    sums = {
        "bank_reads": fields["grant"].sum(),
        "bank_conflicts": (fields["request"] & ~fields["grant"]).sum(),
        "unit_cycles": fields["occupied"].sum(),
        "operand_waits": fields["lacking"].sum(),
        "look_ups": fields["look_up"].sum(),
        "look_up_waits": fields["look_up_wait"].sum(),
        "unmapped_reads": fields["zero"].sum(),
    }
    counted = {"coalesced": "joined", "kills_refused": "kill_refused", "kill_wait_cycles": "kills"}
    counted |= {"draining_cycles": "unit_drains"}
    sums |= {name: fields[probe].sum() for name, probe in counted.items() if probe in fields}
    return {name: int(value) for name, value in sums.items()}


STRUCTURES = (
    Structure(
        "operand buffers",
        "flip-flops",
        r"coalescing_lane\.",
        lambda cfg: cfg.collectors * cfg.source_slots * cfg.lanes * 32,
    ),
    Structure(
        "collector units",
        "flip-flops",
        r"coalescing_unit\.",
        lambda cfg: cfg.collectors * cfg.source_slots * 22,
        "the reference design counts register, place, mask and two bits of progress of every slot, not the beat",
    ),
)
