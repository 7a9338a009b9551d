"""Declared once of the frame, which every machine has: probes and counters (docs/machine.md, sections 8 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from warpfile.spec.config import Config
from warpfile.spec.probe import Fields, Probe


def frame_probes(cfg: Config) -> tuple[Probe, ...]:
    """Observation of the frame and of the ports, which every scheme has, least significant field first."""
    fields = [
        Probe("started", 1, "the start after reset is over"),
        Probe("launch", 1, "the offered warp is launched"),
        Probe("resident", cfg.warps, "warp slots that hold a warp"),
        Probe("buffered", cfg.warps, "warps with a beat in their instruction buffer"),
        Probe("decode_ready", cfg.warps, "warps whose instruction buffer has room for a beat"),
        Probe("clear", cfg.warps, "warps whose head beat has no hazard"),
        Probe("waiting", cfg.warps, "warps waiting at a barrier"),
        Probe("room", cfg.warps, "warps whose head beat the operand stage could take"),
        Probe("issue", 1, "a beat issues"),
        Probe("issue_warp", cfg.warp_bits, "warp of the issuing beat"),
        Probe("exit", 1, "the issuing beat ends its warp"),
        Probe("write", cfg.write_ports, "write-back ports whose result is accepted"),
        Probe("write_wait", cfg.write_ports, "write-back ports whose result is held back"),
        Probe("offer", cfg.ports, "execution ports to which a collector unit is presented"),
        Probe("dispatch", cfg.ports, "execution ports that take the presented beat"),
    ]
    if cfg.gives.kernel:
        fields += [
            Probe("kernel", 1, "the offered kernel is taken"),
            Probe("quiet", 1, "the register file has nothing under way"),
        ]
    if cfg.gives.sweeps:
        fields.append(Probe("retired", cfg.warps, "warps whose slot and places are free from the next cycle"))
    for port in range(cfg.ports):
        fields.append(Probe(f"dispatch_unit{port}", cfg.unit_bits, "presented collector unit, zero if none"))
        fields.append(Probe(f"dispatch_payload{port}", cfg.payload_bits, "payload of the presented beat, zero if none"))
    return tuple(fields)


def count(fields: Fields, events: Iterable[Callable[[Fields], Mapping[str, int]]]) -> dict[str, int]:
    """All counters of observed cycles: those of the frame, and those that ``events`` of the parts sum over fields.

    They see the cycles in which the machine has started, and are not asked where there is none; ``start_cycles`` are
    the others.
    """
    started = fields["started"][:, 0]
    counted = fields if started.all() else {name: bits[started] for name, bits in fields.items()}
    sums = {"start_cycles": len(started) - int(started.sum())} | frame_events(counted)
    for of_part in events if started.any() else ():
        sums |= of_part(counted)
    return sums


def frame_events(fields: Fields) -> dict[str, int]:
    """Counters that every scheme has, summed over observed cycles (docs/machine.md, section 10)."""
    idle = ~fields["issue"][:, 0]
    buffered, waiting = fields["buffered"], fields["waiting"]
    running = (buffered & ~waiting).any(axis=1)
    clear = fields["clear"] & ~waiting
    could, fits = clear.any(axis=1), (clear & fields["room"]).any(axis=1)
    sums = {
        "cycles": len(idle),
        "beats": fields["issue"].sum(),
        "issue_idle": (~buffered.any(axis=1)).sum(),
        "issue_barrier": (idle & buffered.any(axis=1) & ~running).sum(),
        "issue_hazard": (idle & running & ~could).sum(),
        "issue_room": (idle & could).sum(),
        "issue_full": (idle & could & ~fits).sum(),
        "write_waits": fields["write_wait"].sum(),
        "dispatches": fields["dispatch"].sum(),
        "dispatch_waits": (fields["offer"] & ~fields["dispatch"]).sum(),
        "resident_cycles": fields["resident"].sum(),
    }
    return {name: int(value) for name, value in sums.items()}
