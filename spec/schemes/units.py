"""Declared once of the collector units: probes, counters, storage (docs/machine.md, sections 5, 8 and 10)."""

from __future__ import annotations

from warpfile.spec.config import Config
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import Structure


def stage_probes(cfg: Config) -> tuple[Probe, ...]:
    """Observation of the units; over a register file that looks sources up later, of the look-ups too."""
    slots = cfg.collectors * cfg.source_slots
    common = (
        Probe("occupied", cfg.collectors, "occupied collector units"),
        Probe("lacking", cfg.collectors, "occupied units with a source slot that is not filled"),
        Probe("allocate", cfg.collectors, "collector unit that takes the issuing beat, one-hot"),
        Probe("request", slots, "source slots that request their bank, bit unit * source_slots + slot"),
        Probe("grant", slots, "source slots whose bank serves them"),
    )
    near = Probe("near_read", cfg.collectors, "unit that reads its near sources, one-hot")
    if not cfg.gives.later:
        return (*common, near) if cfg.gives.near_bits else common
    return (
        *common,
        Probe("check", cfg.collectors, "unit whose sources the register file looks up, one-hot"),
        Probe("hit", cfg.source_slots, "looked-up sources that the register file has near"),
        Probe("miss", cfg.source_slots, "looked-up sources that must be read from their bank"),
        near,
        Probe("interlock", slots, "source slots that do not request because their row is not written yet"),
    )


def stage_events(fields: Fields) -> dict[str, int]:
    """Counters of the units' own probes."""
    sums = {
        "bank_reads": fields["grant"].sum(),
        "bank_conflicts": (fields["request"] & ~fields["grant"]).sum(),
        "unit_cycles": fields["occupied"].sum(),
        "operand_waits": fields["lacking"].sum(),
    }
    if "check" in fields:
        sums |= {
            "cache_hits": fields["hit"].sum(),
            "cache_misses": fields["miss"].sum(),
            "interlocks": fields["interlock"].sum(),
        }
    return {name: int(value) for name, value in sums.items()}


#: Storage of the units.
STRUCTURES = (
    Structure(
        "operand buffers",
        "flip-flops",
        r"(collector|checked)_lane\.",
        lambda cfg: cfg.collectors * cfg.source_slots * cfg.lanes * 32,
    ),
    Structure("collector units", "flip-flops", r"(collector|checked)_unit\."),
)
