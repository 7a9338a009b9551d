"""What is declared once of the baseline scheme: its probes (docs/machine.md, section 8) and its SRAM module."""

from __future__ import annotations

from warpfile.spec.config import Config
from warpfile.spec.probe import Fields, Probe

#: Verilog module of a bank's SRAM, the one that a user replaces by a foundry macro and synthesis leaves out.
BANK_RAM = "register_bank_ram"


def frame_probes(cfg: Config) -> tuple[Probe, ...]:
    """Observation of the frame and of the ports, which every scheme has, least significant field first."""
    fields = [
        Probe("launch", 1, "the offered warp is launched"),
        Probe("resident", cfg.warps, "warp slots that hold a warp"),
        Probe("buffered", cfg.warps, "warps with a beat in their instruction buffer"),
        Probe("clear", cfg.warps, "warps whose head beat has no hazard"),
        Probe("waiting", cfg.warps, "warps waiting at a barrier"),
        Probe("room", cfg.warps, "warps whose head beat the operand stage could take"),
        Probe("issue", 1, "a beat issues"),
        Probe("issue_warp", cfg.warp_bits, "warp of the issuing beat"),
        Probe("exit", 1, "the issuing beat ends its warp"),
        Probe("write", cfg.ports, "write-back ports whose result is accepted"),
        Probe("write_wait", cfg.ports, "write-back ports whose result is held back"),
        Probe("offer", cfg.ports, "execution ports to which a collector unit is presented"),
        Probe("dispatch", cfg.ports, "execution ports that take the presented beat"),
    ]
    if cfg.scheduler == "two_level":
        fields += _place_probes(cfg)
    for port in range(cfg.ports):
        fields.append(Probe(f"dispatch_unit{port}", cfg.unit_bits, "presented collector unit, zero if none"))
        fields.append(Probe(f"dispatch_payload{port}", cfg.payload_bits, "payload of the presented beat, zero if none"))
    return tuple(fields)


def _place_probes(cfg: Config) -> tuple[Probe, ...]:
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
        Probe("released", places, "places that the operand stage lets go of"),
        Probe("activate", cfg.warps, "warp that gets a place, one-hot"),
    )


def stage_probes(cfg: Config) -> tuple[Probe, ...]:
    """Observation of the baseline's operand stage."""
    slots = cfg.collectors * cfg.source_slots
    return (
        Probe("occupied", cfg.collectors, "occupied collector units"),
        Probe("allocate", cfg.collectors, "collector unit that takes the issuing beat, one-hot"),
        Probe("request", slots, "source slots that ask their bank, bit unit * source_slots + slot"),
        Probe("grant", slots, "source slots whose bank serves them"),
    )


def baseline_probes(cfg: Config) -> tuple[Probe, ...]:
    """All probes of the baseline."""
    return (*frame_probes(cfg), *stage_probes(cfg))


def frame_events(fields: Fields) -> dict[str, int]:
    """Counters that every scheme has, summed over observed cycles (docs/machine.md, section 10)."""
    idle = ~fields["issue"][:, 0]
    buffered, waiting = fields["buffered"], fields["waiting"]
    running = (buffered & ~waiting).any(axis=1)
    could = (fields["clear"] & ~waiting).any(axis=1)
    sums = {
        "cycles": len(idle),
        "beats": fields["issue"].sum(),
        "issue_idle": (~buffered.any(axis=1)).sum(),
        "issue_barrier": (idle & buffered.any(axis=1) & ~running).sum(),
        "issue_hazard": (idle & running & ~could).sum(),
        "issue_room": (idle & could).sum(),
        "write_waits": fields["write_wait"].sum(),
        "dispatches": fields["dispatch"].sum(),
        "dispatch_waits": (fields["offer"] & ~fields["dispatch"]).sum(),
        "resident_cycles": fields["resident"].sum(),
    }
    if "placed" in fields:
        sums |= {
            "suspends_long": fields["suspend_long"].sum(),
            "suspends_barrier": fields["suspend_barrier"].sum(),
            "activations": fields["activate"].sum(),
            "active_cycles": (fields["placed"] & ~fields["draining"] & ~fields["releasing"]).sum(),
            "ready_waits": (fields["ready"] & ~fields["activate"]).sum(),
            "releasing_cycles": fields["releasing"].sum(),
        }
    return {name: int(value) for name, value in sums.items()}


def baseline_events(fields: Fields) -> dict[str, int]:
    """Counters of the baseline's own probes."""
    sums = {
        "bank_reads": fields["grant"].sum(),
        "bank_conflicts": (fields["request"] & ~fields["grant"]).sum(),
        "unit_cycles": fields["occupied"].sum(),
    }
    return {name: int(value) for name, value in sums.items()}
