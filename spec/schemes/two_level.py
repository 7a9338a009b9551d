"""Declared once of the two-level scheduler: probes and counters (docs/machine.md, section 4)."""

from __future__ import annotations

from warpfile.spec.config import Config
from warpfile.spec.probe import Fields, Probe


def place_probes(cfg: Config) -> tuple[Probe, ...]:
    """Observation of the places, and of the warps that wait for one."""
    places = cfg.active_warps
    return (
        Probe("placed", places, "places of the two-level scheduler that hold a warp"),
        Probe("place_warp", places * cfg.warp_bits, "warp of each place, zero if none"),
        Probe("draining", places, "places whose warp lets its short operations end"),
        Probe("releasing", places, "places that wait for the operand stage to let go"),
        Probe("current", cfg.place_count_bits, "place that issued last"),
        Probe("ready", cfg.warps, "warps that wait for a place"),
        Probe("suspend_long", places, "places that start to drain because of a load that is out"),
        Probe("suspend_barrier", places, "places that start to drain because of a barrier"),
        Probe("suspend_starved", places, "places that start to drain because their warps get no beats"),
        Probe("released", places, "places that the operand stage lets go of"),
        Probe("activate", cfg.warps, "warp that gets a place, one-hot"),
    )


def place_events(fields: Fields) -> dict[str, int]:
    """Counters of the places."""
    sums = {
        "suspends_long": fields["suspend_long"].sum(),
        "suspends_barrier": fields["suspend_barrier"].sum(),
        "suspends_starved": fields["suspend_starved"].sum(),
        "activations": fields["activate"].sum(),
        "active_cycles": (fields["placed"] & ~fields["draining"] & ~fields["releasing"]).sum(),
        "ready_waits": (fields["ready"] & ~fields["activate"]).sum(),
        "releasing_cycles": fields["releasing"].sum(),
    }
    return {name: int(value) for name, value in sums.items()}
